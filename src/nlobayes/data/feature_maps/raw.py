"""The columns without any map; chains do not converge on them."""

from __future__ import annotations

import numpy as np

COLUMNS: tuple[str, ...] | None = None
FEATURES: tuple[str, ...] | None = None
ALLOWED = "finite inputs"
SIGNS: tuple[tuple[int, ...], ...] = ()


def apply(inputs: np.ndarray) -> np.ndarray:
    """Return the inputs."""
    return inputs
