"""Products of the mixings of two neutralinos, invariant under the sign of either row."""

from __future__ import annotations

import numpy as np

from nlobayes.data.feature_maps._electroweakinos import (
    INTERFERENCE_SCALE,
    THRESHOLD_GEV,
    Z_SCALE,
    allowed,
    with_squark,
)

COLUMNS: tuple[str, ...] | None = (
    *("mi", "Ni1", "Ni2", "Ni3", "Ni4"),
    *("mj", "Nj1", "Nj2", "Nj3", "Nj4"),
)
FEATURES: tuple[str, ...] | None = (
    f"ln(|mi|+|mj|-{2 * THRESHOLD_GEV:g})",
    "4*mi*mj/(|mi|+|mj|)^2",
    *(f"asinh({what})" for what in ("(Z/0.005)^2", "(W/0.02)^2", "(B/0.02)^2", "(X/0.02)^2")),
    *(f"Z*{other}/(Z^2+W^2+B^2+X^2)" for other in "WBX"),
)
"""Z = Ni3 Nj3 - Ni4 Nj4, W = Ni2 Nj2, B = Ni1 Nj1, X = Ni1 Nj2 + Ni2 Nj1."""
ALLOWED = allowed(f"|mi| + |mj| above {2 * THRESHOLD_GEV:g} GeV, mixings that couple to quarks")
SIGNS: tuple[tuple[int, ...], ...] = ((1, 2, 3, 4), (6, 7, 8, 9), (0, 5))


@with_squark(10)
def apply(inputs: np.ndarray) -> np.ndarray:
    """Compute products of two rows of mixings, then products of these that keep their sign."""
    xp = inputs.__array_namespace__()
    first, second = inputs[:, 0], inputs[:, 5]
    total = xp.abs(first) + xp.abs(second)
    bino_i, wino_i, down_i, up_i = inputs[:, 1:5].T
    bino_j, wino_j, down_j, up_j = inputs[:, 6:10].T
    z_coupling = down_i * down_j - up_i * up_j
    gauginos = xp.stack([wino_i * wino_j, bino_i * bino_j, bino_i * wino_j + wino_i * bino_j])
    strength = z_coupling**2 + (gauginos**2).sum(axis=0)
    features = [
        xp.log(total - 2 * THRESHOLD_GEV),
        4 * first * second / total**2,
        xp.arcsinh(z_coupling**2 / Z_SCALE**2),
        *xp.arcsinh(gauginos**2 / INTERFERENCE_SCALE**2),
        *(z_coupling * gauginos / strength),
    ]
    stacked: np.ndarray = xp.column_stack(features)
    return stacked
