"""The verdict on a posterior: its convergence in numbers, and the checks that it passes."""

import operator
from typing import Any, NamedTuple

import numpy as np

from nlobayes.assessment.autocorrelation import integrated_time, thinning_step
from nlobayes.assessment.convergence import (
    between_chain_variance_share,
    checked,
    ebfmi,
    ess_bulk,
    ess_pooled_over_within,
    ess_tail,
    log_density_spread_over_sd,
    rhat,
)
from nlobayes.errors import InputError

AT_LEAST = ("ess_f_bulk_min", "ebfmi_min")
TOLERATED_EXCESS = 2.0
"""An unadjusted kernel fails beyond this multiple of the energy variance that it aims at."""


class PosteriorDraws(NamedTuple):
    """What is judged.

    `function` (chain, draw, reference point), `log_density` and `noise` (chain, draw), None where
    it is fixed, at every draw; `weights` (chain, stored draw, weight) at the stored ones.
    """

    function: np.ndarray
    log_density: np.ndarray
    noise: np.ndarray | None
    weights: np.ndarray


class SampleStats(NamedTuple):
    """How it was sampled, axes (chain, draw).

    One value per transition. `energy` is the Hamiltonian of the state each transition returned,
    not of a rejected proposal; NaN throughout for kernels without a Gaussian momentum.
    `tree_depth` and its limit are None for fixed-length HMC; `energy_variance` (per dimension and
    integrator step) and what warm-up aimed at are None for kernels that reject.
    """

    energy: np.ndarray
    acceptance_rate: np.ndarray
    diverging: np.ndarray
    n_steps: np.ndarray
    tree_depth: np.ndarray | None
    max_tree_depth: int | None
    energy_variance: np.ndarray | None = None
    energy_variance_aim: float | None = None


class Thresholds(NamedTuple):
    """Limits that a converged posterior respects."""

    rhat_f_median: float
    rhat_f_p99: float
    ess_f_bulk_min: float
    ebfmi_min: float
    max_divergences: int


def diagnose(
    draws: PosteriorDraws,
    stats: SampleStats,
    *,
    thresholds: Thresholds,
    tightness: float,
    gradients_warmup: int,
    keep_every: int,
    exact: bool,
) -> dict[str, Any]:
    """Assemble the verdict on a posterior: every key of `diagnostics.json`.

    Parameters
    ----------
    draws
        Stored draws of function, log density, noise and weights.
    stats
        Sample statistics.
    thresholds
        Limits of the checks.
    tightness
        As `tightness` computes it.
    gradients_warmup
        Gradient evaluations of all chains before the first draw.
    keep_every
        Storage stride of `draws.weights`: every n-th draw was stored.
    exact
        Whether the sampler targets the exact posterior.

    Returns
    -------
    dict
        Numbers, and under `checks` a name -> {value, threshold, passed}. Times and
        `draws_per_chain` count draws, stored or not; `gradients_total` includes warm-up,
        `gradients_per_draw` does not. A check exists where its value does. None stands for what
        does not exist (noise that is fixed, trees of HMC) or is not finite (R-hat of chains that
        never moved, which fails its check).

    Raises
    ------
    InputError
        If arrays do not fit together, are too short, or are not finite.
    """
    _check_shapes(draws, stats, keep_every)
    chains, drawn, _ = draws.function.shape
    metrics = {
        **_function_metrics(draws.function, keep_every),
        "rhat_weights_median": float(np.median(rhat(draws.weights))),
        "rhat_log_density": _rhat_of_one(draws.log_density),
        "rhat_noise": None if draws.noise is None else _rhat_of_one(draws.noise),
        "log_density_spread_over_sd": log_density_spread_over_sd(draws.log_density),
        **_sampler_metrics(stats, gradients_warmup, chains * drawn),
        "tightness": float(tightness),
        "chains": chains,
        "draws_per_chain": drawn,
        "exact": exact,
    }
    checks = _checks(metrics, thresholds, stats.energy_variance_aim)
    return {**{key: _finite(value) for key, value in metrics.items()}, "checks": checks}


def judge(function: np.ndarray, limits: dict[str, float]) -> dict[str, dict[str, Any]]:
    """Judge the function draws (chain, draw, reference point) so far by some of the limits.

    Returns name -> {value, threshold, passed}, as `checks` of `diagnose`; limits of the R-hat are
    the largest allowed, those of the ESS the smallest. Errors as for `rhat`.
    """
    metrics = {**_agreement(function), "ess_f_bulk_min": float(ess_bulk(function).min())}
    return {name: _check(name, metrics[name], limit) for name, limit in limits.items()}


def _function_metrics(function: np.ndarray, keep_every: int) -> dict[str, Any]:
    bulk, time = ess_bulk(function), float(np.median(integrated_time(function)))
    return {
        **_agreement(function),
        "ess_f_bulk_median": float(np.median(bulk)),
        "ess_f_bulk_min": float(bulk.min()),
        "ess_f_tail_min": float(ess_tail(function).min()),
        "ess_pooled_over_within": float(np.median(ess_pooled_over_within(function))),
        "between_chain_variance_share": between_chain_variance_share(function),
        "autocorrelation_time_f_median": time,
        "thinning_step": thinning_step(time, keep_every),
    }


def _agreement(function: np.ndarray) -> dict[str, float]:
    agreement = rhat(function)
    with np.errstate(invalid="ignore"):
        worst_percent = float(np.percentile(agreement, 99))
    return {
        "rhat_f_median": float(np.median(agreement)),
        "rhat_f_p99": worst_percent,
        "rhat_f_share_below_1_01": float(np.mean(agreement < 1.01)),
    }


def _sampler_metrics(stats: SampleStats, gradients_warmup: int, drawn: int) -> dict[str, Any]:
    gradients = int(np.sum(stats.n_steps))
    return {
        "divergences": int(np.sum(stats.diverging)),
        "acceptance_rate": float(np.mean(stats.acceptance_rate)),
        "max_depth_share": None
        if stats.tree_depth is None
        else float(np.mean(stats.tree_depth >= stats.max_tree_depth)),
        "ebfmi_min": None if np.isnan(stats.energy).all() else float(ebfmi(stats.energy).min()),
        "energy_variance": None
        if stats.energy_variance is None
        else float(np.mean(stats.energy_variance)),
        "gradients_total": gradients + int(gradients_warmup),
        "gradients_per_draw": gradients / drawn,
    }


def _checks(
    metrics: dict[str, Any], thresholds: Thresholds, energy_variance_aim: float | None
) -> dict[str, dict[str, Any]]:
    limits = thresholds._asdict()
    limits["divergences"] = limits.pop("max_divergences")
    if energy_variance_aim is not None:
        limits["energy_variance"] = TOLERATED_EXCESS * energy_variance_aim
    applicable = {name: limit for name, limit in limits.items() if metrics[name] is not None}
    return {name: _check(name, metrics[name], limit) for name, limit in applicable.items()}


def _check(name: str, value: float, limit: float) -> dict[str, Any]:
    holds = operator.ge if name in AT_LEAST else operator.le
    return {"value": _finite(value), "threshold": limit, "passed": bool(holds(value, limit))}


def _finite(value: Any) -> Any:
    return value if value is None or np.isfinite(value) else None


def _rhat_of_one(draws: np.ndarray) -> float:
    return float(rhat(draws[..., np.newaxis])[0])


def _check_shapes(draws: PosteriorDraws, stats: SampleStats, keep_every: int) -> None:
    """Check that every array has the chains of the function draws and a draw axis that fits."""
    chains, drawn, _ = checked(draws.function).shape
    arrays = {**draws._asdict(), **stats._asdict()}
    del arrays["max_tree_depth"], arrays["energy_variance_aim"]
    for name, array in arrays.items():
        expected = (chains, drawn // keep_every if name == "weights" else drawn)
        if array is not None and array.shape[:2] != expected:
            raise InputError(
                f"{name} must have axes (chain, draw) of shape {expected}, got {array.shape}; "
                "diagnose draws of one posterior only"
            )
    if (stats.tree_depth is None) != (stats.max_tree_depth is None):
        raise InputError("tree_depth and max_tree_depth must both be given, or both be None")
