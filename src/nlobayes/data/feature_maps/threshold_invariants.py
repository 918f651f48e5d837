"""Invariants with the mass above half the Z mass."""

from __future__ import annotations

import numpy as np

from nlobayes.data.feature_maps._electroweakinos import (
    ABOVE_THRESHOLD,
    INVARIANT_NAMES,
    NEUTRALINO,
    SIGNS_OF_NEUTRALINO,
    THRESHOLD_GEV,
    allowed,
    mixing_invariants,
    with_squark,
)

COLUMNS: tuple[str, ...] | None = NEUTRALINO
FEATURES: tuple[str, ...] | None = (f"ln(|m|-{THRESHOLD_GEV})", *INVARIANT_NAMES)
ALLOWED = allowed(ABOVE_THRESHOLD)
SIGNS: tuple[tuple[int, ...], ...] = SIGNS_OF_NEUTRALINO


@with_squark(len(NEUTRALINO))
def apply(inputs: np.ndarray) -> np.ndarray:
    """Map mass and mixings."""
    xp = inputs.__array_namespace__()
    above = xp.abs(inputs[:, 0]) - THRESHOLD_GEV
    features: np.ndarray = xp.column_stack([xp.log(above), *mixing_invariants(inputs[:, 1:5])])
    return features
