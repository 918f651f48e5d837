"""The only module that imports ArviZ, whose import warns of its next major version.

ArviZ is imported with the first number, because the import is slower than the help of a command.
Unless its docstring states otherwise, a function takes the draws of one quantity, axes
(chain, draw), and returns one number.
"""

import warnings
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np


@cache
def _arviz() -> ModuleType:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=FutureWarning)
        import arviz
    return arviz


def _by_arviz(name: str, *given: Any, **settings: Any) -> Any:
    """Call a function of ArviZ without Numba, whose sums have other last digits.

    Jobs of the command line have no Numba, and an estimator in a notebook gives their bytes.
    """
    numba = _arviz().utils.Numba
    before, numba.numba_flag = numba.numba_flag, False
    try:
        return getattr(_arviz(), name)(*given, **settings)
    finally:
        numba.numba_flag = before


def rhat(draws: np.ndarray) -> float:
    """Compute the rank-normalised split R-hat."""
    return _by_arviz("rhat", draws)


def ess_bulk(draws: np.ndarray) -> float:
    """Estimate the effective sample size of the bulk."""
    return _by_arviz("ess", draws, method="bulk")


def ess_mean(draws: np.ndarray) -> float:
    """Estimate the effective sample size of the mean."""
    return _by_arviz("ess", draws, method="mean")


def ess_tail(draws: np.ndarray) -> float:
    """Estimate the effective sample size of the tails."""
    return _by_arviz("ess", draws, method="tail")


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
    return float(_by_arviz("mcse", draws, method="quantile", prob=probability))


def psis(log_ratios: np.ndarray, relative_efficiency: float) -> tuple[np.ndarray, float]:
    """Smooth log ratios (draw,): normalised log weights and Pareto k, infinite without a fit."""
    with np.errstate(all="ignore"):
        log_weights, pareto_k = _by_arviz("psislw", log_ratios, reff=relative_efficiency)
    return log_weights, float(np.nan_to_num(pareto_k, nan=np.inf, posinf=np.inf, neginf=-np.inf))


def waic(log_likelihood: np.ndarray) -> np.ndarray:
    """Estimate WAIC by point (point,) from axes (chain, draw, point), without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = _by_arviz("from_dict", log_likelihood={"target": log_likelihood})
        return _by_arviz("waic", data, pointwise=True, scale="log").waic_i
