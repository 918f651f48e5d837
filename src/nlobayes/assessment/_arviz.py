"""The one door to ArviZ, whose import announces its next major version as a warning.

Unless it says otherwise, a function takes the draws of one quantity, axes (chain, draw), and
returns one number.
"""

import warnings
from functools import partial

import numpy as np

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", category=FutureWarning)
    from arviz import ELPDData, ess, from_dict, mcse, psislw, rhat
    from arviz import waic as arviz_waic
    from arviz.stats.ecdf_utils import ecdf_confidence_band as ecdf_confidence_band

__all__ = [
    "ess_bulk",
    "ess_mean",
    "ess_tail",
    "mcse_mean",
    "mcse_quantile",
    "mcse_sd",
    "psis",
    "rhat",
    "waic",
]

ess_bulk = partial(ess, method="bulk")
ess_mean = partial(ess, method="mean")
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


def psis(log_ratios: np.ndarray, relative_efficiency: float) -> tuple[np.ndarray, float]:
    """Smooth log ratios (draw,): normalised log weights and Pareto k, infinite without a fit."""
    with np.errstate(all="ignore"):
        log_weights, pareto_k = psislw(log_ratios, reff=relative_efficiency)
    return log_weights, float(np.nan_to_num(pareto_k, nan=np.inf, posinf=np.inf, neginf=-np.inf))


def waic(log_likelihood: np.ndarray) -> ELPDData:
    """Estimate WAIC by point from axes (chain, draw, point), without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = from_dict(log_likelihood={"target": log_likelihood})
        return arviz_waic(data, pointwise=True, scale="log")
