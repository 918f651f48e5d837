"""Quantiles of a Gaussian, which represent its draws."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

DRAWS = 32
LEVELS = (np.arange(DRAWS) + 0.5) / DRAWS
"""Probabilities of the quantiles that represent draws."""
SMALLEST_SD = 1e-3
"""Least spread of quantiles of trees, in units of the network: leaves may have equal quantiles."""


def gaussian_quantiles(count: int) -> np.ndarray:
    """Return `count` quantiles of a standard Gaussian, scaled to have variance one.

    They represent its draws without the error of a random sample.
    """
    quantiles = ndtri((np.arange(count) + 0.5) / count)
    return quantiles / np.sqrt(np.mean(np.square(quantiles)))


def gaussian_draws(mean: np.ndarray, sd: np.ndarray) -> np.ndarray:
    """Return 32 quantiles (draw, point) of the Gaussian at each point (point,)."""
    return mean + sd * gaussian_quantiles(DRAWS)[:, np.newaxis]
