"""The one door to ArviZ, whose import announces its next major version as a warning.

Each function takes the draws of one quantity, axes (chain, draw), and returns one number.
"""

import warnings
from functools import partial

import numpy as np

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", category=FutureWarning)
    from arviz import ess, mcse, rhat
    from arviz.stats.ecdf_utils import ecdf_confidence_band as ecdf_confidence_band

__all__ = ["ess_bulk", "ess_tail", "mcse_mean", "mcse_quantile", "mcse_sd", "rhat"]

ess_bulk = partial(ess, method="bulk")
ess_tail = partial(ess, method="tail")


# Written out because arviz.mcse 0.23 returns an array for the mean and raises for the standard
# deviation where numba is installed beside numpy 2.4.
def mcse_mean(draws: np.ndarray) -> float:
    """Estimate the Monte-Carlo standard error of the mean."""
    sd = draws.std(ddof=1)
    standardised = (draws - draws.mean()) / sd  # ArviZ takes a range below 1e-15 for a constant
    return float(sd / np.sqrt(ess(standardised, method="mean")))


def mcse_sd(draws: np.ndarray) -> float:
    """Estimate the Monte-Carlo standard error of the standard deviation, by the delta method."""
    squared = np.square(draws - draws.mean())
    return mcse_mean(squared) / (2 * float(np.sqrt(squared.mean())))


def mcse_quantile(draws: np.ndarray, probability: float) -> float:
    """Estimate the Monte-Carlo standard error of a quantile."""
    return float(mcse(draws, method="quantile", prob=probability))
