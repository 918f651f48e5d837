"""Distance of an approximate posterior of f from the exact one of the same model, by point.

Both are draws of f at held-out points, on the model scale. Differences are given in units of the
exact posterior's sd, and in units of their Monte-Carlo error (z). The distances are Wasserstein-1
of f and the total variation of the predictions.

Total variation of predictions, and agreement with exact posteriors as a measure: P. Izmailov,
S. Vikram, M. D. Hoffman, A. G. Wilson, ICML 2021, arXiv:2104.14421.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import beta, wasserstein_distance

from nlobayes.diagnostics import estimators as _arviz
from nlobayes.distributions.mixture import Mixture
from nlobayes.errors import InputError
from nlobayes.evaluation.reweighting.importance import FEWEST_DRAWS, importance_weights

PROBABILITIES = {"q5": 0.05, "q50": 0.5, "q95": 0.95}
STATISTICS = ("mean", "sd", *PROBABILITIES)
FEWEST_FOR_ERRORS = 4
"""Draws, or draws per chain, below which no Monte-Carlo error is estimated."""
NODES = 256
"""Nodes of the total variation from each of the two predictives."""

_RATIOS = {"median": 0.5, "p5": 0.05, "p95": 0.95}
_GOLDEN = (np.sqrt(5) - 1) / 2
_ONE_SIGMA = np.array([0.15865525393145707, 0.8413447460685429])

Measures = dict[str, float | None]
"""Numbers by name; None where a number does not exist."""


def fidelity(exact: np.ndarray, approximation: np.ndarray) -> Measures:
    """Compare the posteriors of f by their draws.

    Raises InputError if the draws are not of the same points, fewer than two, or not finite.

    Parameters
    ----------
    exact
        Draws of chains (chain, draw, point).
    approximation
        Draws (draw, point), which count as independent.

    Returns
    -------
    The keys of `distances`, and `{statistic}_z_rms` of mean, sd and quantiles: root mean square
    over points of the difference in units of the Monte-Carlo errors of both, in quadrature. It is
    near 1 if the posteriors are the same, up to the correlation of the points.
    """
    exact, approximation = _checked(exact, approximation)
    z = _values(approximation) - _values(_pooled(exact))
    with np.errstate(divide="ignore", invalid="ignore"):
        z /= np.hypot(chain_errors(exact), independent_errors(approximation))
    found = zip(STATISTICS, z, strict=True)
    return distances(_pooled(exact), approximation) | {f"{n}_z_rms": _rms(one) for n, one in found}


def distances(first: np.ndarray, second: np.ndarray) -> Measures:
    """Measure the distance of the second draws (draw, point) from the first, in sds of the first.

    Points where the first have no spread are left out.

    Returns `{statistic}_difference_rms` of mean and quantiles (root mean square over points),
    `sd_ratio_median`, `sd_ratio_p5` and `sd_ratio_p95` (second over first, quantiles over points),
    `wasserstein_mean` and `wasserstein_p95` (Wasserstein-1, mean and quantile).
    """
    sd = first.std(axis=0)
    unit = np.where(sd > 0, sd, np.nan)
    off = dict(zip(STATISTICS, (_values(second) - _values(first)) / unit, strict=True))
    ratio, moved = second.std(axis=0) / unit, wasserstein(first, second) / unit
    return {
        **{f"{name}_difference_rms": _rms(off[name]) for name in STATISTICS if name != "sd"},
        **{f"sd_ratio_{name}": _quantile(ratio, p) for name, p in _RATIOS.items()},
        "wasserstein_mean": _mean(moved),
        "wasserstein_p95": _quantile(moved, 0.95),
    }


def halves(exact: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Divide the chains of exact draws (chain, draw, point) into two sets of draws (draw, point).

    Their difference is that of two exact posteriors with half as many draws, disagreement of chains
    included. A single chain is divided in its middle.
    """
    chains, draws, _ = exact.shape
    if chains == 1:
        return exact[0, : draws // 2], exact[0, draws // 2 :]
    return _pooled(exact[: chains // 2]), _pooled(exact[chains // 2 :])


def wasserstein(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the Wasserstein-1 distance (point,) of two sets of draws (draw, point), in their unit.

    It is the integral of the difference of the two distribution functions.
    """
    pairs = zip(first.T, second.T, strict=True)
    return np.array([wasserstein_distance(*pair) for pair in pairs])


def total_variation(first: Mixture, second: Mixture) -> np.ndarray:
    """Return the total variation (point,) of two predictive densities p and q, between 0 and 1.

    It is half the integral of |p - q| over the target, hence the mean of |tanh(log(p/q) / 2)| over
    the mixture (p + q) / 2. The mean is taken over 256 nodes of each: draws in even steps, about
    each a quantile of its noise. For Gaussians it errs by less than 0.005.
    """
    total = np.zeros(first.centres.shape[1])
    for value in (*_nodes(first), *_nodes(second)):
        total += np.abs(np.tanh((first.logpdf(value) - second.logpdf(value)) / 2))
    return total / (2 * NODES)


def total_variation_of_classes(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the total variation (point,) of classes, from probabilities (draw, point, class).

    It is half the summed difference of the mean probabilities (Izmailov et al. 2021).
    """
    return np.abs(first.mean(axis=0) - second.mean(axis=0)).sum(axis=-1) / 2


def summarise_total_variation(by_point: np.ndarray) -> Measures:
    """Return `total_variation_mean` and `total_variation_p95` over points."""
    return {
        "total_variation_mean": _mean(by_point),
        "total_variation_p95": _quantile(by_point, 0.95),
    }


def pareto_k(log_density: np.ndarray, log_approximation: np.ndarray) -> float | None:
    """Return the Pareto k of the importance weights from an approximation to the exact density.

    Both log densities are of the draws (draw,), up to constants. None if there are fewer than 25
    draws, too few for a tail, or k is not finite.
    """
    if log_density.size < FEWEST_DRAWS:
        return None
    ratios = np.asarray(log_density, np.float64) - np.asarray(log_approximation, np.float64)
    return _finite(importance_weights(ratios.reshape(-1)).pareto_k)


def chain_errors(draws: np.ndarray) -> np.ndarray:
    """Estimate Monte-Carlo standard errors (statistic, point) of chains (chain, draw, point).

    NaN where they are not known: chains of fewer than four draws, a point where no chain moves.
    """
    errors = np.full((len(STATISTICS), draws.shape[2]), np.nan)
    if draws.shape[1] < FEWEST_FOR_ERRORS:
        return errors
    for point in np.flatnonzero(np.ptp(draws, axis=1).any(axis=0)):
        one = draws[:, :, point]
        quantiles = [_arviz.mcse_quantile(one, p) for p in PROBABILITIES.values()]
        errors[:, point] = [_arviz.mcse_mean(one), _arviz.mcse_sd(one), *quantiles]
    return errors


def independent_errors(draws: np.ndarray) -> np.ndarray:
    """Estimate standard errors (statistic, point) of independent draws (draw, point).

    The error of the sd is by the delta method. That of a quantile is half the distance of the order
    statistics at one sigma of its beta distribution (Vehtari et al. 2021, Bayesian Analysis 16).
    NaN for fewer than four draws.
    """
    count = len(draws)
    if count < FEWEST_FOR_ERRORS:
        return np.full((len(STATISTICS), draws.shape[1]), np.nan)
    sd, squared = draws.std(axis=0, ddof=1), np.square(draws - draws.mean(axis=0))
    with np.errstate(invalid="ignore"):
        of_sd = squared.std(axis=0, ddof=1) / (2 * np.sqrt(count * squared.mean(axis=0)))
    quantiles = [
        np.ptp(np.quantile(draws, _ends(count, p), axis=0), axis=0) / 2
        for p in PROBABILITIES.values()
    ]
    return np.stack([sd / np.sqrt(count), of_sd, *quantiles])


def _ends(count: int, probability: float) -> np.ndarray:
    """Return the probabilities one sigma around that of a quantile of `count` draws."""
    ends: np.ndarray = beta.ppf(_ONE_SIGMA, count * probability + 1, count * (1 - probability) + 1)
    return ends


def _values(draws: np.ndarray) -> np.ndarray:
    """Return mean, sd and quantiles (statistic, point) of draws (draw, point)."""
    quantiles = np.quantile(draws, [*PROBABILITIES.values()], axis=0)
    return np.stack([draws.mean(axis=0), draws.std(axis=0), *quantiles])


def _nodes(predictive: Mixture) -> list[np.ndarray]:
    """Place nodes (point,) of equal weight: draws in even steps, with quantiles of their noise."""
    centres, noise = predictive.centres, predictive.noise
    rows = (np.arange(NODES) * len(centres)) // NODES
    levels = ((np.arange(NODES) + 0.5) * _GOLDEN) % 1
    return [
        centres[row] + np.broadcast_to(noise.quantile(level), centres.shape)[row]
        for row, level in zip(rows, levels, strict=True)
    ]


def _pooled(draws: np.ndarray) -> np.ndarray:
    return draws.reshape(-1, draws.shape[2])


def _checked(exact: np.ndarray, approximation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    exact, approximation = np.asarray(exact, np.float64), np.asarray(approximation, np.float64)
    fits = exact.ndim == 3 and approximation.ndim == 2 and exact.shape[2] == approximation.shape[1]
    if not fits or exact.shape[0] * exact.shape[1] < 2 or len(approximation) < 2:
        raise InputError(
            "evaluation.fidelity_shapes", exact=exact.shape, approximation=approximation.shape
        )
    for name, draws in (("exact", exact), ("approximate", approximation)):
        if not np.isfinite(draws).all():
            bad = int(np.sum(~np.isfinite(draws)))
            raise InputError("evaluation.fidelity_not_finite", of=name, bad=bad, size=draws.size)
    return exact, approximation


def _rms(values: np.ndarray) -> float | None:
    known = values[np.isfinite(values)]
    return float(np.sqrt(np.mean(np.square(known)))) if known.size else None


def _mean(values: np.ndarray) -> float | None:
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else None


def _quantile(values: np.ndarray, probability: float) -> float | None:
    known = values[np.isfinite(values)]
    return float(np.quantile(known, probability)) if known.size else None


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
