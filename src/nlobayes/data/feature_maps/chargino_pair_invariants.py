"""Products of the mixings of two unlike charginos, invariant under the signs of either."""

from __future__ import annotations

import numpy as np

from nlobayes.data.feature_maps._electroweakinos import (
    INTERFERENCE_SCALE,
    THRESHOLD_GEV,
    allowed,
    mass_features,
    relative_sign,
    with_squark,
)

COLUMNS: tuple[str, ...] | None = (
    *("mci", "Ui1", "Ui2", "Vi1", "Vi2"),
    *("mcj", "Uj1", "Uj2", "Vj1", "Vj2"),
)
FEATURES: tuple[str, ...] | None = (
    f"ln(|mci|+|mcj|-{2 * THRESHOLD_GEV:g})",
    "4*|mci*mcj|/(|mci|+|mcj|)^2",
    "asinh((A/0.02)^2)",
    "asinh((B/0.02)^2)",
    "s*A*B/(A^2+B^2)",
)
"""A = Ui1 Uj1 and B = Vi1 Vj1, which also give the couplings to the Z, since rows of U and of V are
orthogonal; s is the sign of mci mcj."""
ALLOWED = allowed(f"|mci| + |mcj| above {2 * THRESHOLD_GEV:g} GeV, charginos that are mixed")
SIGNS: tuple[tuple[int, ...], ...] = ((0, 1, 2), (0, 3, 4), (5, 6, 7), (5, 8, 9), (0, 5))


@with_squark(10)
def apply(inputs: np.ndarray) -> np.ndarray:
    """Map masses and mixings."""
    xp = inputs.__array_namespace__()
    first, second = inputs[:, 0], inputs[:, 5]
    of_u, of_v = inputs[:, 1] * inputs[:, 6], inputs[:, 3] * inputs[:, 8]
    squares = xp.stack([of_u, of_v]) ** 2
    interference = relative_sign(first, second) * of_u * of_v / squares.sum(axis=0)
    features: np.ndarray = xp.column_stack(
        [
            *mass_features(first, second),
            *xp.arcsinh(squares / INTERFERENCE_SCALE**2),
            interference,
        ]
    )
    return features
