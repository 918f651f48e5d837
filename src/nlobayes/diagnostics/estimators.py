"""The only module that imports ArviZ, whose import warns of its next major version.

ArviZ is imported with the first number, because the import is slower than the help of a command.
Unless its docstring states otherwise, a function takes the draws of one quantity, axes
(chain, draw), and returns one number.
"""

import warnings
from functools import cache
from types import ModuleType

import numpy as np


@cache
def _arviz() -> ModuleType:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=FutureWarning)
        import arviz
    return arviz


def rhat(draws: np.ndarray) -> float:
    """Compute the rank-normalised split R-hat."""
    return _arviz().rhat(draws)


def ess_bulk(draws: np.ndarray) -> float:
    """Estimate the effective sample size of the bulk."""
    return _arviz().ess(draws, method="bulk")


def ess_mean(draws: np.ndarray) -> float:
    """Estimate the effective sample size of the mean."""
    return _arviz().ess(draws, method="mean")


def ess_tail(draws: np.ndarray) -> float:
    """Estimate the effective sample size of the tails."""
    return _arviz().ess(draws, method="tail")


# Written out because arviz.mcse 0.23 returns an array for the mean and raises for the standard
# deviation where numba is installed beside numpy 2.4.
def mcse_mean(draws: np.ndarray) -> float:
    """Estimate the Monte-Carlo standard error of the mean."""
    sd = draws.std(ddof=1)
    standardised = (draws - draws.mean()) / sd  # ArviZ takes a range below 1e-15 for a constant
    return float(sd / np.sqrt(ess_mean(standardised)))


def mcse_sd(draws: np.ndarray) -> float:
    """Estimate the Monte-Carlo standard error of the standard deviation, by the delta method."""
    squared = np.square(draws - draws.mean())
    return mcse_mean(squared) / (2 * float(np.sqrt(squared.mean())))


def mcse_quantile(draws: np.ndarray, probability: float) -> float:
    """Estimate the Monte-Carlo standard error of a quantile."""
    return float(_arviz().mcse(draws, method="quantile", prob=probability))


def psis(log_ratios: np.ndarray, relative_efficiency: float) -> tuple[np.ndarray, float]:
    """Smooth log ratios (draw,): normalised log weights and Pareto k, infinite without a fit."""
    with np.errstate(all="ignore"):
        log_weights, pareto_k = _arviz().psislw(log_ratios, reff=relative_efficiency)
    return log_weights, float(np.nan_to_num(pareto_k, nan=np.inf, posinf=np.inf, neginf=-np.inf))


def waic(log_likelihood: np.ndarray) -> np.ndarray:
    """Estimate WAIC by point (point,) from axes (chain, draw, point), without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = _arviz().from_dict(log_likelihood={"target": log_likelihood})
        return _arviz().waic(data, pointwise=True, scale="log").waic_i
