"""Chains of known autocorrelation, and ArviZ to compare with."""

import arviz_stats as arviz
import numpy as np
from scipy.signal import lfilter

__all__ = ["ar1", "arviz"]


def ar1(rho: float, shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Draw stationary AR(1) chains of unit variance along axis 1."""
    steps = np.random.default_rng(seed).standard_normal(shape)
    steps[:, 1:] *= np.sqrt(1 - rho**2)
    return np.asarray(lfilter([1.0], [1.0, -rho], steps, axis=1))
