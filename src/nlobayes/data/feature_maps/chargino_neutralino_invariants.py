"""Features of a neutralino and a chargino: products of the couplings of the Born process."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from nlobayes.data.feature_maps._electroweakinos import (
    INTERFERENCE_SCALE,
    THRESHOLD_GEV,
    allowed,
    mass_features,
    relative_sign,
    with_squark,
)
from nlobayes.physics.couplings import (
    DOWN_TYPE,
    UP_TYPE,
    left_coupling,
    left_w_coupling,
    right_w_coupling,
)

COLUMNS: tuple[str, ...] | None = (
    *("m", "N1", "N2", "N3", "N4"),
    *("mc", "U1", "U2", "V1", "V2"),
)
FEATURES: tuple[str, ...] | None = (
    f"ln(|m|+|mc|-{2 * THRESHOLD_GEV:g})",
    "4*|m*mc|/(|m|+|mc|)^2",
    *(f"asinh(({coupling}/0.02)^2)" for coupling in "LPRQ"),
    *("L*P/C^2", "s*L*R/C^2", "s*L*Q/C^2", "s*P*R/C^2", "s*P*Q/C^2", "R*Q/C^2"),
)
"""L and R are the couplings to the W. P = f_u V1 and Q = f_d U1 are the couplings to squarks, with
f_u and f_d those of the neutralino. C^2 is the sum of their squares, s the sign of m mc."""
ALLOWED = allowed(f"|m| + |mc| above {2 * THRESHOLD_GEV:g} GeV, mixings that couple to quarks")
SIGNS: tuple[tuple[int, ...], ...] = ((1, 2, 3, 4), (5, 6, 7), (5, 8, 9), (0, 5))


@with_squark(10)
def apply(inputs: np.ndarray) -> np.ndarray:
    """Compute products of couplings; only L and P contain V, only R and Q contain U."""
    xp = inputs.__array_namespace__()
    neutralino, chargino = inputs[:, 1:5].T, inputs[:, 6:10].T
    sign = relative_sign(inputs[:, 0], inputs[:, 5])
    couplings = xp.stack(
        [
            left_w_coupling(neutralino, chargino),
            left_coupling(neutralino, UP_TYPE) * chargino[2],
            right_w_coupling(neutralino, chargino) * sign,
            left_coupling(neutralino, DOWN_TYPE) * chargino[0] * sign,
        ]
    )
    squares = couplings**2
    products = [couplings[a] * couplings[b] for a, b in combinations(range(4), 2)]
    features: np.ndarray = xp.column_stack(
        [
            *mass_features(inputs[:, 0], inputs[:, 5]),
            *xp.arcsinh(squares / INTERFERENCE_SCALE**2),
            *(xp.stack(products) / squares.sum(axis=0)),
        ]
    )
    return features
