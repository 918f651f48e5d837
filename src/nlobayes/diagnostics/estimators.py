"""The only module that imports ArviZ: estimators of one quantity, on plain arrays.

ArviZ is imported with the first number, because its import takes a second, more than the help of
a command. Unless its docstring states otherwise, a function takes the draws of one quantity, axes
(chain, draw), and returns one number.
"""

from typing import Any

import numpy as np


def rhat(draws: np.ndarray) -> float:
    """Compute the rank-normalised split R-hat."""
    return float(_arrays().rhat(draws))


def nested_rhat(draws: np.ndarray, superchains: np.ndarray) -> float:
    """Compute nested R-hat of whole chains; `superchains` numbers the group of each chain."""
    return float(_arrays().rhat_nested(draws, superchains, method="identity"))


def ess_bulk(draws: np.ndarray) -> float:
    """Estimate the effective sample size of the bulk."""
    return float(_arrays().ess(draws, method="bulk"))


def ess_mean(draws: np.ndarray) -> float:
    """Estimate the effective sample size of the mean."""
    return float(_arrays().ess(draws, method="mean"))


def ess_tail(draws: np.ndarray) -> float:
    """Estimate the smaller effective sample size of the 5 % and the 95 % quantile."""
    return float(_arrays().ess(draws, method="tail", prob=(0.05, 0.95)))


def mcse_mean(draws: np.ndarray) -> float:
    """Estimate the Monte-Carlo standard error of the mean."""
    sd = draws.std()
    return float(sd * _arrays().mcse(_standardised(draws), method="mean"))


def mcse_sd(draws: np.ndarray) -> float:
    """Estimate the Monte-Carlo standard error of the standard deviation, by the delta method."""
    return float(draws.std() * _arrays().mcse(_standardised(draws), method="sd"))


def mcse_quantile(draws: np.ndarray, probability: float) -> float:
    """Estimate the Monte-Carlo standard error of a quantile."""
    return float(_arrays().mcse(draws, method="quantile", prob=probability))


def bfmi(energy: np.ndarray) -> np.ndarray:
    """Estimate the energy Bayesian fraction of missing information of each chain (chain,)."""
    return np.asarray(_arrays().bfmi(energy))


def psis(log_ratios: np.ndarray, relative_efficiency: float) -> tuple[np.ndarray, float]:
    """Smooth log ratios (draw,): normalised log weights and Pareto k, infinite without a fit."""
    with np.errstate(all="ignore"):
        log_weights, pareto_k = _arrays().psislw(-log_ratios, r_eff=relative_efficiency)
    return log_weights, float(np.nan_to_num(pareto_k, nan=np.inf, posinf=np.inf, neginf=-np.inf))


def _arrays() -> Any:
    from arviz_stats.base import array_stats

    return array_stats


def _standardised(draws: np.ndarray) -> np.ndarray:
    """Scale draws to unit variance, because ArviZ takes a range below 1e-15 for a constant."""
    return (draws - draws.mean()) / draws.std()
