"""Mean class probabilities of draws on a grid over two inputs."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.special import entr

from nlobayes.types import Plane

ROWS_OF_GRID = 61
"""Points along each side of the grid."""
MARGIN = 0.1
"""Margin of the grid beyond the rows on every side, as a share of their range."""


def grid_over(inputs: np.ndarray) -> np.ndarray:
    """Make a grid (grid_point, 2) over rows of two inputs (row, 2); the second varies fastest."""
    low, high = inputs.min(axis=0), inputs.max(axis=0)
    margin = MARGIN * (high - low)
    axes = np.linspace(low - margin, high + margin, ROWS_OF_GRID).T
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)


def plane_of(grid: np.ndarray, parts: Iterable[np.ndarray]) -> Plane:
    """Average the probabilities (draw, point, class) over the draws for each part of the grid."""
    means, entropies = [], []
    for part in parts:
        each = part.astype(np.float64)
        means.append(each.mean(axis=0))
        entropies.append(entr(each).sum(axis=2).mean(axis=0))
    return Plane(grid, np.concatenate(means), np.concatenate(entropies))
