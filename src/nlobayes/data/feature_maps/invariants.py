"""The logarithm of the mass, and products of mixings that keep their signs."""

from __future__ import annotations

import numpy as np

from nlobayes.data.feature_maps._electroweakinos import (
    INVARIANT_NAMES,
    NEUTRALINO,
    SIGNS_OF_NEUTRALINO,
    allowed,
    and_squark,
    mixing_invariants,
)

COLUMNS: tuple[str, ...] | None = NEUTRALINO
FEATURES: tuple[str, ...] | None = ("ln|m|", *INVARIANT_NAMES)
ALLOWED = allowed("|m| above 0")
SIGNS: tuple[tuple[int, ...], ...] = SIGNS_OF_NEUTRALINO


def apply(inputs: np.ndarray) -> np.ndarray:
    """Map mass and mixings, and a squark mass if the inputs have one."""
    return and_squark(_of_neutralinos, len(NEUTRALINO), inputs)


def _of_neutralinos(inputs: np.ndarray) -> np.ndarray:
    xp = inputs.__array_namespace__()
    logarithm = xp.log(xp.abs(inputs[:, 0]))
    features: np.ndarray = xp.column_stack([logarithm, *mixing_invariants(inputs[:, 1:])])
    return features
