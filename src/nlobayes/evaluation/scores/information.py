"""Estimates of out-of-sample predictive density from the log likelihood at train rows.

PSIS-LOO weights the draws as if one row had been left out; WAIC corrects by the variance of the
log likelihood. Both estimate elpd, the expected log predictive density summed over rows.

A. Vehtari, A. Gelman, J. Gabry, Statistics and Computing 27 (2017) 1413, arXiv:1507.04544.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from nlobayes.diagnostics import estimators as _arviz
from nlobayes.distributions.log_sums import log_sum_exp
from nlobayes.errors import InputError
from nlobayes.evaluation.reweighting.importance import FEWEST_DRAWS, importance_weights, threshold

_LARGEST_VARIANCE = 0.4
"""Variance of a point's log likelihood above which WAIC is unreliable (Vehtari et al. 2017)."""
_CHUNK_ELEMENTS = 1_000_000
_EFFICIENCY_POINTS = 100
_FEWEST_OF_A_CHAIN = 4


class Information(NamedTuple):
    """Estimates of each point, axis (point)."""

    loo: np.ndarray
    """Log predictive density of the point when it is left out."""
    loo_p: np.ndarray
    """Effective number of parameters: the log density with the point minus that without it."""
    pareto_k: np.ndarray
    """Shape of the tail of the point's weights, as in `Weights`."""
    waic: np.ndarray
    """The same log density by WAIC."""
    waic_p: np.ndarray
    """Effective number of parameters: the variance of its log likelihood."""
    k_limit: float
    """Pareto k above which this number of draws does not determine the LOO of a point."""


class Difference(NamedTuple):
    """Difference of the elpd of two models, and its standard error."""

    elpd: float
    se: float


def information(log_likelihood: np.ndarray) -> Information:
    """Estimate PSIS-LOO and WAIC of each point.

    Raises InputError if there are no points, fewer than 25 draws or 4 of a chain, or a log
    likelihood is not finite.

    Parameters
    ----------
    log_likelihood
        Log likelihood of each point at each draw, axes (chain, draw, point).

    Returns
    -------
    No warnings are printed; `pareto_k` and `waic_p` contain the same information.
    """
    log_likelihood = _checked(log_likelihood)
    efficiency = _relative_efficiency(log_likelihood)
    points = range(log_likelihood.shape[2])
    loo, pareto_k = np.transpose([_left_out(log_likelihood[:, :, i], efficiency) for i in points])
    waic, waic_p = np.concatenate([_waic(chunk) for chunk in _chunks(log_likelihood)], axis=1)
    k_limit = threshold(log_likelihood.shape[0] * log_likelihood.shape[1])
    return Information(loo, waic + waic_p - loo, pareto_k, waic, waic_p, k_limit)


def summary(estimates: Information) -> dict[str, dict[str, float]]:
    """Sum over points.

    Returns `loo` {`elpd`, `se`, `p`, `k_max`, `k_limit`, `k_above`, `k_above_share`, `points`} and
    `waic` {`elpd`, `se`, `p`, `p_above_share`}: number and share of the points with k not below its
    limit, and the share with a variance above 0.4, at which the estimate may fail. A single point
    has no `se`.
    """
    points = len(estimates.loo)
    return {
        "loo": {
            "elpd": float(estimates.loo.sum()),
            "se": _standard_error(estimates.loo),
            "p": float(estimates.loo_p.sum()),
            "k_max": float(estimates.pareto_k.max()),
            "k_limit": estimates.k_limit,
            "k_above": float(np.sum(estimates.pareto_k >= estimates.k_limit)),
            "k_above_share": float(np.mean(estimates.pareto_k >= estimates.k_limit)),
            "points": points,
        },
        "waic": {
            "elpd": float(estimates.waic.sum()),
            "se": _standard_error(estimates.waic),
            "p": float(estimates.waic_p.sum()),
            "p_above_share": float(np.mean(estimates.waic_p > _LARGEST_VARIANCE)),
        },
    }


def elpd_difference(first: np.ndarray, second: np.ndarray) -> Difference:
    """Compare two models by their elpd at the same points, both axis (point), in one order.

    The standard error is that of paired differences, eq. 24 of the source: the common difficulty of
    points cancels.

    Raises InputError if the points are not equally many.
    """
    if first.ndim != 1 or first.shape != second.shape:
        raise InputError("evaluation.elpd_shapes", first=first.shape, second=second.shape)
    return Difference(float((first - second).sum()), _standard_error(first - second))


def _left_out(log_likelihood: np.ndarray, efficiency: float) -> tuple[float, float]:
    """Estimate elpd and Pareto k of one point (chain, draw), weighted as if it were left out."""
    values = log_likelihood.reshape(-1).astype(np.float64)
    weights = importance_weights(-values, relative_efficiency=efficiency)
    return float(log_sum_exp(weights.log_weights + values)), weights.pareto_k


def _waic(log_likelihood: np.ndarray) -> np.ndarray:
    """Estimate WAIC and its penalty (2, point): log mean density minus penalty, and the penalty."""
    penalty = log_likelihood.var(axis=(0, 1))
    draws = log_likelihood.shape[0] * log_likelihood.shape[1]
    return np.stack([log_sum_exp(log_likelihood, axis=(0, 1)) - math.log(draws) - penalty, penalty])


def _checked(log_likelihood: np.ndarray) -> np.ndarray:
    log_likelihood = np.asarray(log_likelihood)
    if log_likelihood.ndim != 3 or log_likelihood.shape[2] == 0:
        raise InputError("evaluation.likelihood_shape", shape=log_likelihood.shape)
    chains, draws, _ = log_likelihood.shape
    if chains * draws < FEWEST_DRAWS or draws < _FEWEST_OF_A_CHAIN:
        raise InputError(
            "evaluation.few_draws_for_loo",
            fewest=FEWEST_DRAWS,
            fewest_of_chain=_FEWEST_OF_A_CHAIN,
            chains=chains,
            draws=draws,
        )
    finite = np.isfinite(log_likelihood)
    if not finite.all():
        raise InputError(
            "evaluation.likelihood_not_finite",
            not_finite=int(np.sum(~finite)),
            size=finite.size,
            point=int(np.argwhere(~finite)[0, 2]),
        )
    return log_likelihood


def _chunks(log_likelihood: np.ndarray) -> Iterator[np.ndarray]:
    chains, draws, points = log_likelihood.shape
    width = max(1, _CHUNK_ELEMENTS // (chains * draws))
    for start in range(0, points, width):
        yield log_likelihood[:, :, start : start + width].astype(np.float64)


def _relative_efficiency(log_likelihood: np.ndarray) -> float:
    """Average effective draws per draw of the likelihood over at most 100 points."""
    chains, draws, points = log_likelihood.shape
    chosen = np.unique(np.linspace(0, points - 1, _EFFICIENCY_POINTS).astype(int))
    likelihood = log_likelihood[:, :, chosen].astype(np.float64)
    likelihood = np.exp(likelihood - likelihood.max(axis=(0, 1)))
    sizes = [_arviz.ess_mean(likelihood[:, :, i]) for i in range(len(chosen))]
    return float(min(np.mean(sizes) / (chains * draws), 1.0))


def _standard_error(values: np.ndarray) -> float:
    """Estimate the standard error of a sum over points from their scatter, as ArviZ does."""
    points = len(values)
    return math.sqrt(points) * float(values.std(ddof=1)) if points > 1 else math.nan
