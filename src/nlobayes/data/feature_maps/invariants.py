"""The logarithm of the mass, and products of mixings that keep their signs."""

from __future__ import annotations

import numpy as np

from nlobayes.data.feature_maps._electroweakinos import (
    INVARIANT_NAMES,
    NEUTRALINO,
    SIGNS_OF_NEUTRALINO,
    allowed,
    mixing_invariants,
    with_squark,
)

COLUMNS: tuple[str, ...] | None = NEUTRALINO
FEATURES: tuple[str, ...] | None = ("ln|m|", *INVARIANT_NAMES)
ALLOWED = allowed("|m| above 0")
SIGNS: tuple[tuple[int, ...], ...] = SIGNS_OF_NEUTRALINO


@with_squark(len(NEUTRALINO))
def apply(inputs: np.ndarray) -> np.ndarray:
    """Map mass and mixings."""
    xp = inputs.__array_namespace__()
    logarithm = xp.log(xp.abs(inputs[:, 0]))
    features: np.ndarray = xp.column_stack([logarithm, *mixing_invariants(inputs[:, 1:5])])
    return features
