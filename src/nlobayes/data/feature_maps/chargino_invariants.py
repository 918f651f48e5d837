"""Features of a chargino and its antiparticle: mass, and wino share of each chirality."""

from __future__ import annotations

import numpy as np

from nlobayes.data.feature_maps._electroweakinos import (
    ABOVE_THRESHOLD,
    THRESHOLD_GEV,
    allowed,
    with_squark,
)

COLUMNS: tuple[str, ...] | None = ("mc", "U1", "U2", "V1", "V2")
FEATURES: tuple[str, ...] | None = (f"ln(|mc|-{THRESHOLD_GEV})", "U1^2", "V1^2")
"""Rows of U and V have length 1, so these two numbers determine both rows."""
ALLOWED = allowed(ABOVE_THRESHOLD)
SIGNS: tuple[tuple[int, ...], ...] = ((0,), (1, 2), (3, 4))


@with_squark(5)
def apply(inputs: np.ndarray) -> np.ndarray:
    """Map mass and mixings."""
    xp = inputs.__array_namespace__()
    above = xp.abs(inputs[:, 0]) - THRESHOLD_GEV
    features: np.ndarray = xp.column_stack([xp.log(above), inputs[:, 1] ** 2, inputs[:, 3] ** 2])
    return features
