"""The verdict on a posterior: its convergence in numbers, and the results of its checks."""

from typing import NamedTuple, cast

import numpy as np

from nlobayes.checks import ConvergenceCheck, failed
from nlobayes.diagnostics import convergence
from nlobayes.diagnostics.autocorrelation import integrated_time
from nlobayes.diagnostics.convergence import ess_bulk, ess_tail, rhat
from nlobayes.diagnostics.draws import (
    ChainDraws,
    SampleStats,
    check_distinct,
    check_fit,
    located,
    still_chains,
)
from nlobayes.diagnostics.limits import Thresholds, check_agreement, check_all
from nlobayes.diagnostics.run_diagnostics import (
    Agreement,
    Diagnostics,
    DivergencesAt,
    FunctionNumbers,
    OfChains,
    SamplerNumbers,
)
from nlobayes.diagnostics.thinning import choose_step


def diagnose(
    draws: ChainDraws,
    stats: SampleStats,
    *,
    thresholds: Thresholds,
    tightness: float | None,
    gradients_warmup: int | None,
    thin: int,
    thinning_loss: float,
    exact: bool,
    superchains: int | None = None,
) -> Diagnostics:
    """Assemble the verdict on a posterior.

    Raises InputError if arrays do not fit together, are too short, or are not finite, or if chains
    are copies.

    Parameters
    ----------
    draws
        Stored draws of function, log density, noise and weights.
    stats
        Sample statistics.
    thresholds
        Limits of the checks.
    tightness
        As `tightness` computes it; None where there is no single sigma.
    gradients_warmup
        Gradient evaluations of all chains before the first draw; None where not known.
    thin
        Storage stride of `draws.weights`: every n-th draw was stored.
    thinning_loss
        Share of the effective sample size that thinning may give up.
    exact
        Whether the sampler targets the exact posterior.
    superchains
        Number of equal groups of consecutive chains that share a start, if they do.

    Returns
    -------
    A check exists if its value does. None marks values that do not exist (fixed noise, trees of
    HMC, groups of chains, R-hat of fewer than 8 stored draws of the weights) or are infinite (R-hat
    of chains that never moved, which fails its check).
    """
    check_fit(draws, stats, thin)
    check_distinct(draws.function)
    chains, drawn, _ = draws.function.shape
    stored, still = draws.weights.shape[1], still_chains(draws.function)
    agreements = _agreements(draws)
    worst = _worst(agreements)
    sampler = _sampler_metrics(stats, gradients_warmup, chains * drawn)
    checks = check_all(worst, sampler, len(still), thresholds, stats.energy_variance_aim)
    return _finite_only(
        {
            "converged": not failed(checks),
            **_function_metrics(draws.function, agreements["f"]),
            **worst,
            "rhat_f_nested_p99": None
            if superchains is None
            else _percentile_99(convergence.nested_rhat(draws.function, superchains)),
            "thinning_step": choose_step(draws.function, thin=thin, loss=thinning_loss),
            "rhat_weights_median": None
            if stored < convergence.FEWEST_DRAWS
            else float(np.median(rhat(draws.weights))),
            "more_draws": _more_draws(agreements, (chains, drawn), thresholds),
            "log_density_spread_over_sd": convergence.log_density_spread_over_sd(draws.log_density),
            **sampler,
            "tightness": tightness,
            "chains": chains,
            "draws_per_chain": drawn,
            "exact": exact,
            "still_chains": len(still),
            "divergences_at": _divergences_at(draws.function, stats.diverging),
            "still_chains_at": still,
            "checks": checks,
        }
    )


def diagnose_approximation(draws: int, *, tightness: float | None) -> Diagnostics:
    """Return the verdict on draws that are not chains.

    `converged` is None because convergence does not apply; there are no checks, and every draw is
    kept.
    """
    nothing = cast(OfChains, dict.fromkeys(OfChains.__annotations__))
    return {
        "converged": None,
        **nothing,
        "thinning_step": 1,
        "tightness": tightness,
        "chains": 1,
        "draws_per_chain": draws,
        "exact": False,
        "checks": {},
    }


def check_convergence(
    draws: ChainDraws, *, rhat_max: float, ess_min: float
) -> dict[str, ConvergenceCheck]:
    """Check the R-hat and the effective draws of every quantity so far.

    Errors as for `rhat`, or if chains are copies.
    """
    check_distinct(draws.function)
    return check_agreement(_worst(_agreements(draws)), rhat_max, ess_min)


class _OfQuantity(NamedTuple):
    """R-hat and effective draws of each part of a quantity, axes (part)."""

    rhat: np.ndarray
    bulk: np.ndarray
    tail: np.ndarray
    within: np.ndarray


def _agreements(draws: ChainDraws) -> dict[str, _OfQuantity]:
    """Compute the agreement about every quantity that exists and is long enough."""
    every = {
        "f": [draws.function],
        "log_density": [draws.log_density[..., np.newaxis]],
        "noise": [] if draws.noise is None else [draws.noise[..., np.newaxis]],
        "hyperparameters": [
            each[..., np.newaxis] for each in (draws.hyperparameters or {}).values()
        ],
    }
    measures = (rhat, ess_bulk, ess_tail, convergence.ess_within)
    found = {}
    for name, parts in every.items():
        enough = [part for part in parts if part.shape[1] >= convergence.FEWEST_DRAWS]
        if enough:
            found[name] = _OfQuantity(
                *(np.concatenate([measure(part) for part in enough]) for measure in measures)
            )
    return found


def _worst(agreements: dict[str, _OfQuantity]) -> Agreement:
    """Return the largest R-hat and the smallest ESS, in bulk and tails, of every quantity."""

    def largest_rhat(quantity: str) -> float | None:
        found = agreements.get(quantity)
        return None if found is None else float(found.rhat.max())

    def smallest_ess(quantity: str) -> float | None:
        found = agreements.get(quantity)
        return None if found is None else float(min(found.bulk.min(), found.tail.min()))

    return {
        "rhat_f": largest_rhat("f"),
        "rhat_log_density": largest_rhat("log_density"),
        "rhat_noise": largest_rhat("noise"),
        "rhat_hyperparameters": largest_rhat("hyperparameters"),
        "ess_f": smallest_ess("f"),
        "ess_log_density": smallest_ess("log_density"),
        "ess_noise": smallest_ess("noise"),
        "ess_hyperparameters": smallest_ess("hyperparameters"),
    }


def _more_draws(
    agreements: dict[str, _OfQuantity], shape: tuple[int, int], thresholds: Thresholds
) -> float | None:
    """Return how many times as many draws these chains need, if they are only too short.

    None if they pass, or if an R-hat is larger than chance makes it in converged chains.
    """
    factors = [1.0]
    for found in agreements.values():
        smallest = min(found.bulk.min(), found.tail.min())
        failed = found.rhat > thresholds.rhat_max
        chance = convergence.rhat_by_chance(found.within[failed], *shape)
        if smallest == 0 or np.any(found.rhat[failed] > chance):
            return None
        factors += [thresholds.ess_min / smallest]
        factors += [*(np.square(chance) - 1) / (thresholds.rhat_max**2 - 1)]
    return None if max(factors) == 1 else float(max(factors))


def _function_metrics(function: np.ndarray, found: _OfQuantity) -> FunctionNumbers:
    moves = found.within > 0
    shared = np.divide(found.bulk, found.within, out=np.zeros_like(found.bulk), where=moves)
    return {
        "rhat_f_median": float(np.median(found.rhat)),
        "rhat_f_share_below_1_01": float(np.mean(found.rhat < 1.01)),
        "rhat_f_gelman_rubin_p99": _percentile_99(convergence.gelman_rubin(function)),
        "ess_f_bulk_median": float(np.median(found.bulk)),
        "ess_f_bulk_min": float(found.bulk.min()),
        "ess_f_tail_min": float(found.tail.min()),
        "mcse_f_mean_over_sd_max": _error_over_sd(function, convergence.mcse_mean(function)),
        "mcse_f_q2_5_over_sd_max": _error_over_sd(
            function, convergence.mcse_quantile(function, 0.025)
        ),
        "mcse_f_q97_5_over_sd_max": _error_over_sd(
            function, convergence.mcse_quantile(function, 0.975)
        ),
        "ess_pooled_over_within": float(np.median(shared)),
        "between_chain_variance_share": convergence.between_chain_variance_share(function),
        "autocorrelation_time_f_median": float(np.median(integrated_time(function))),
    }


def _percentile_99(values: np.ndarray) -> float:
    """Return the 99th percentile, infinite between two infinite values."""
    with np.errstate(invalid="ignore"):
        found = float(np.percentile(values, 99))
    return np.inf if np.isnan(found) else found


def _error_over_sd(function: np.ndarray, error: np.ndarray) -> float:
    """Return the largest of the errors (point,) over the reference points, in posterior sd."""
    sd = function.std(axis=(0, 1), ddof=1)
    infinite = np.full(sd.shape, np.inf)
    return float(np.divide(error, sd, out=infinite, where=np.isfinite(error)).max())


def _divergences_at(function: np.ndarray, diverging: np.ndarray) -> DivergencesAt | None:
    deviation = located(function, diverging).deviation
    if deviation is None:
        return None
    point = int(np.argmax(deviation))
    return {"reference_point": point, "deviation": float(deviation[point])}


def _sampler_metrics(
    stats: SampleStats, gradients_warmup: int | None, drawn: int
) -> SamplerNumbers:
    gradients = int(np.sum(stats.n_steps))
    return {
        "divergences": int(np.sum(stats.diverging)),
        "acceptance_rate": float(np.mean(stats.acceptance_rate)),
        "max_depth_share": None
        if stats.tree_depth is None
        else float(np.mean(stats.tree_depth >= stats.max_tree_depth)),
        "ebfmi_min": None
        if np.isnan(stats.energy).all()
        else float(convergence.ebfmi(stats.energy).min()),
        "energy_variance": None
        if stats.energy_variance is None
        else float(np.mean(stats.energy_variance)),
        "gradients_total": None if gradients_warmup is None else gradients + gradients_warmup,
        "gradients_per_draw": gradients / drawn,
    }


def _finite_only(found: Diagnostics) -> Diagnostics:
    """Replace numbers that are not finite, which JSON cannot hold, by None."""
    finite = {
        name: None if isinstance(value, float) and not np.isfinite(value) else value
        for name, value in found.items()
    }
    return cast(Diagnostics, finite)
