"""Whether chains agree: R-hat, effective sample sizes, E-BFMI, and the verdict on a posterior.

Judged in function space, by the predictions at fixed reference points, because weights of a
network are not identifiable. Draws have axes (chain, draw, quantity).
"""

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from nlobayes.assessment import _arviz
from nlobayes.assessment.autocorrelation import integrated_time, thinning_step
from nlobayes.errors import InputError

_FEWEST_CHAINS = 2
_FEWEST_DRAWS = 4


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
    not of a rejected proposal. `tree_depth` and its limit are None for fixed-length HMC.
    """

    energy: np.ndarray
    acceptance_rate: np.ndarray
    diverging: np.ndarray
    n_steps: np.ndarray
    tree_depth: np.ndarray | None
    max_tree_depth: int | None


class Thresholds(NamedTuple):
    """Limits that a converged posterior respects."""

    rhat_f_median: float
    rhat_f_p99: float
    ess_f_bulk_min: float
    ebfmi_min: float
    max_divergences: int


def rhat(draws: np.ndarray) -> np.ndarray:
    """Compute rank-normalised split R-hat, the worse of bulk and folded.

    Parameters
    ----------
    draws
        Axes (chain, draw, quantity), at least 2 chains and 4 draws, all finite.

    Returns
    -------
    np.ndarray
        Axis (quantity); infinite where no chain ever moved.

    Raises
    ------
    InputError
        If there are too few chains or draws or one is not finite.

    References
    ----------
    A. Vehtari et al., Bayesian Analysis 16 (2021) 667.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return _per_quantity(_arviz.rhat, _checked(draws), unmoved=np.inf)


def ess_bulk(draws: np.ndarray) -> np.ndarray:
    """Compute the bulk effective sample size of the pooled chains.

    Parameters, errors and source as for `rhat`; zero where no chain ever moved.
    """
    return _per_quantity(_arviz.ess_bulk, _checked(draws), unmoved=0.0)


def ess_tail(draws: np.ndarray) -> np.ndarray:
    """Compute the tail effective sample size: the smaller of those of the 5 % and 95 % quantiles.

    Parameters, errors and source as for `rhat`; zero where no chain ever moved.
    """
    return _per_quantity(_arviz.ess_tail, _checked(draws), unmoved=0.0)


def ess_pooled_over_within(draws: np.ndarray) -> np.ndarray:
    """Compute the bulk ESS of the pooled chains over the sum of those of each chain alone.

    Near 1 the chains explore the same region; far below they sit in separate modes.
    Parameters and errors as for `rhat`; axis (quantity), NaN where no chain ever moved.
    """
    draws = _checked(draws)
    alone = [_per_quantity(_arviz.ess_bulk, chain[np.newaxis], unmoved=0.0) for chain in draws]
    within = np.sum(alone, axis=0)
    undefined = np.full(within.shape, np.nan)
    return np.divide(ess_bulk(draws), within, out=undefined, where=within > 0)


def ebfmi(energy: np.ndarray) -> np.ndarray:
    """Estimate the energy Bayesian fraction of missing information of each chain.

    Parameters
    ----------
    energy
        Hamiltonian of each state, axes (chain, draw). Draws far apart make it optimistic.

    Returns
    -------
    np.ndarray
        Axis (chain): mean squared energy change over the energy variance; zero for a chain
        whose energy never changed.

    Raises
    ------
    InputError
        If there are too few draws or an energy is not finite.

    References
    ----------
    M. Betancourt, arXiv:1604.00695.
    """
    energy = _checked(np.asarray(energy)[..., np.newaxis], fewest_chains=1)[..., 0]
    change = np.square(np.diff(energy, axis=1)).mean(axis=1)
    variance = energy.var(axis=1, ddof=1)
    return np.divide(change, variance, out=np.zeros_like(change), where=variance > 0)


def between_chain_variance_share(draws: np.ndarray) -> float:
    """Compute the share of the pooled variance that lies between chain means.

    Parameters and errors as for `rhat`. The pooled variance is the variance of the chain means
    plus the mean variance within chains; the share is averaged over the quantities that move.
    """
    draws = _checked(draws)
    between, pooled = draws.mean(axis=1).var(axis=0), draws.var(axis=(0, 1))
    moves = np.ptp(draws, axis=(0, 1)) > 0
    return float(np.mean(between[moves] / pooled[moves])) if moves.any() else np.nan


def log_density_spread_over_sd(log_density: np.ndarray) -> float:
    """Compute (largest - smallest chain mean) / standard deviation within chains.

    Takes axes (chain, draw); errors as for `rhat`; infinite where no chain ever moved.
    """
    log_density = _checked(np.asarray(log_density)[..., np.newaxis])[..., 0]
    within = np.sqrt(log_density.var(axis=1, ddof=1).mean())
    return float(np.ptp(log_density.mean(axis=1)) / within) if within > 0 else np.inf


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
        `gradients_per_draw` does not. None stands for what does not exist (noise that is
        fixed, trees of HMC) or is not finite (R-hat of chains that never moved, which fails
        its check).

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
    checks = _checks(metrics, thresholds)
    return {**{key: _finite(value) for key, value in metrics.items()}, "checks": checks}


def _function_metrics(function: np.ndarray, keep_every: int) -> dict[str, Any]:
    agreement, bulk = rhat(function), ess_bulk(function)
    with np.errstate(invalid="ignore"):
        worst_percent = float(np.percentile(agreement, 99))
    time = float(np.median(integrated_time(function)))
    return {
        "rhat_f_median": float(np.median(agreement)),
        "rhat_f_p99": worst_percent,
        "rhat_f_share_below_1_01": float(np.mean(agreement < 1.01)),
        "ess_f_bulk_median": float(np.median(bulk)),
        "ess_f_bulk_min": float(bulk.min()),
        "ess_f_tail_min": float(ess_tail(function).min()),
        "ess_pooled_over_within": float(np.median(ess_pooled_over_within(function))),
        "between_chain_variance_share": between_chain_variance_share(function),
        "autocorrelation_time_f_median": time,
        "thinning_step": thinning_step(time, keep_every),
    }


def _sampler_metrics(stats: SampleStats, gradients_warmup: int, drawn: int) -> dict[str, Any]:
    gradients = int(np.sum(stats.n_steps))
    return {
        "divergences": int(np.sum(stats.diverging)),
        "acceptance_rate": float(np.mean(stats.acceptance_rate)),
        "max_depth_share": None
        if stats.tree_depth is None
        else float(np.mean(stats.tree_depth >= stats.max_tree_depth)),
        "ebfmi_min": float(ebfmi(stats.energy).min()),
        "gradients_total": gradients + int(gradients_warmup),
        "gradients_per_draw": gradients / drawn,
    }


def _checks(metrics: dict[str, Any], thresholds: Thresholds) -> dict[str, dict[str, Any]]:
    demands = (
        ("rhat_f_median", operator.le, thresholds.rhat_f_median),
        ("rhat_f_p99", operator.le, thresholds.rhat_f_p99),
        ("ess_f_bulk_min", operator.ge, thresholds.ess_f_bulk_min),
        ("ebfmi_min", operator.ge, thresholds.ebfmi_min),
        ("divergences", operator.le, thresholds.max_divergences),
    )
    return {
        name: {
            "value": _finite(metrics[name]),
            "threshold": threshold,
            "passed": bool(holds(metrics[name], threshold)),
        }
        for name, holds, threshold in demands
    }


def _finite(value: Any) -> Any:
    return value if value is None or np.isfinite(value) else None


def _rhat_of_one(draws: np.ndarray) -> float:
    return float(rhat(draws[..., np.newaxis])[0])


def _per_quantity(
    statistic: Callable[[np.ndarray], float], draws: np.ndarray, *, unmoved: float
) -> np.ndarray:
    """Apply a statistic of (chain, draw) to every quantity that moves within some chain."""
    result = np.full(draws.shape[2], unmoved)
    for quantity in np.flatnonzero(np.ptp(draws, axis=1).any(axis=0)):
        result[quantity] = statistic(draws[:, :, quantity])
    return result


def _checked(draws: np.ndarray, fewest_chains: int = _FEWEST_CHAINS) -> np.ndarray:
    draws = np.asarray(draws, dtype=np.float64)
    if draws.ndim != 3 or draws.shape[0] < fewest_chains or draws.shape[1] < _FEWEST_DRAWS:
        raise InputError(
            f"convergence needs axes (chain, draw, quantity) with at least {fewest_chains} chains "
            f"and {_FEWEST_DRAWS} draws, got shape {draws.shape}; run more chains or draws"
        )
    if not np.isfinite(draws).all():
        broken = np.flatnonzero(~np.isfinite(draws).all(axis=(1, 2)))
        raise InputError(
            f"convergence needs finite values, got others in chains {broken.tolist()}; "
            f"leave out or rerun those chains"
        )
    return draws


def _check_shapes(draws: PosteriorDraws, stats: SampleStats, keep_every: int) -> None:
    """Check that every array has the chains of the function draws and a draw axis that fits."""
    chains, drawn, _ = _checked(draws.function).shape
    arrays = {**draws._asdict(), **stats._asdict()}
    del arrays["max_tree_depth"]
    for name, array in arrays.items():
        expected = (chains, drawn // keep_every if name == "weights" else drawn)
        if array is not None and array.shape[:2] != expected:
            raise InputError(
                f"{name} must have axes (chain, draw) of shape {expected}, got {array.shape}; "
                "diagnose draws of one posterior only"
            )
    if (stats.tree_depth is None) != (stats.max_tree_depth is None):
        raise InputError("tree_depth and max_tree_depth must both be given, or both be None")
