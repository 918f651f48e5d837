"""The first column, and the others over it: for masses whose ratio decides, as of squarks."""

from __future__ import annotations

import numpy as np

COLUMNS: tuple[str, ...] | None = None
FEATURES: tuple[str, ...] | None = None
ALLOWED = "finite inputs, the first not 0"
SIGNS: tuple[tuple[int, ...], ...] = ()


def apply(inputs: np.ndarray) -> np.ndarray:
    """Divide the columns after the first by it."""
    xp = inputs.__array_namespace__()
    features: np.ndarray = xp.column_stack([inputs[:, :1], inputs[:, 1:] / inputs[:, :1]])
    return features
