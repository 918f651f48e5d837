"""Proper scores of the whole predictive distribution, on the model scale and in target space.

A score is a number averaged over points, or a line that states why there is none.
"""

import math

import numpy as np

from nlobayes.distributions.distribution import Law, point_chunks
from nlobayes.distributions.mixture import Mixture
from nlobayes.evaluation.predictive.predictive_density import (
    PredictiveNoise,
    checked_split,
    locate,
    predictive_moments,
)
from nlobayes.evaluation.scores.regression.accuracy import to_target
from nlobayes.evaluation.scores.split import Split

INTERVAL_LEVELS = (68, 90, 95)
"""Central probabilities of the scored intervals, in percent."""

_LN10 = math.log(10)
_NO_TARGET_MOMENTS = "a Student-t of log10 has neither mean nor variance in target space"
FEWEST_CRPS_MEMBERS, QUICK_MEMBERS = 1000, 200
"""Least numbers of noisy draws of a CRPS: a few draws (an ensemble, a single fit) get several noise
values each."""


def proper_scores(
    draws: np.ndarray,
    observed: np.ndarray,
    noise: PredictiveNoise,
    rng: np.random.Generator,
    *,
    scale: str,
    members: int = FEWEST_CRPS_MEMBERS,
) -> dict[str, float | str]:
    """Score the predictive distribution of one split, averaged over points.

    Parameters
    ----------
    draws
        Function draws on the model scale, axes (sample, point).
    observed
        Observed targets on the model scale, axis (point).
    noise
        Predictive noise.
    rng
        Source of the noise in the CRPS, the only sampled numbers.
    scale
        `log10` or `identity`.
    members
        Least number of noisy draws in the CRPS.

    Returns
    -------
    dict
        On the model scale: `crps` and `interval_score_68`, `_90`, `_95`, of the central interval
        of the mixture, lower is better; `lppd`, the log of the mixture density, higher is better;
        `nll_gaussian`, minus the log density of the Gaussian with the mixture's mean and
        variance, lower is better; `posterior_sd`, `noise_sd`, `total_sd`, root mean squares.
        The same in target space: `crps_target`, `interval_score_95_target`, `lppd_target`,
        `nll_gaussian_target`. The first and the last are undefined for a Student-t of log10.

    Raises InputError if the arrays do not fit together, a value is not finite, or the scale is
    unknown.

    References
    ----------
    T. Gneiting, A. E. Raftery, Journal of the American Statistical Association 102 (2007) 359,
    eq. 43 for the interval score.
    """
    draws, observed = checked_split(draws, observed)
    moments = predictive_moments(draws, noise)
    predictive = locate(draws, noise)
    lppd = float(predictive.logpdf(observed).mean())
    return {
        "lppd": lppd,
        "lppd_target": lppd if scale == "identity" else lppd - _log_derivative(observed),
        "nll_gaussian": _gaussian_nll(observed, moments.mean, moments.total_sd),
        "nll_gaussian_target": _gaussian_nll_target(predictive, observed, scale=scale),
        **_crps(predictive, observed, rng, scale=scale, fewest=members),
        **_interval_scores(predictive, observed, scale=scale),
        "posterior_sd": _root_mean_square(moments.posterior_sd),
        "noise_sd": _root_mean_square(noise.law.sd()),
        "total_sd": _root_mean_square(moments.total_sd),
    }


def interval_score(
    observed: np.ndarray, lower: np.ndarray, upper: np.ndarray, *, level: float
) -> np.ndarray:
    """Score central intervals of probability `level` per point: width plus penalty for a miss.

    References
    ----------
    T. Gneiting, A. E. Raftery, Journal of the American Statistical Association 102 (2007) 359,
    eq. 43, with alpha = 1 - level.
    """
    miss = np.maximum(lower - observed, 0) + np.maximum(observed - upper, 0)
    return upper - lower + 2 / (1 - level) * miss


def crps_per_point(
    draws: np.ndarray, observed: np.ndarray, noise: PredictiveNoise, rng: np.random.Generator
) -> np.ndarray:
    """Return the CRPS of each point on the model scale, from 200 noisy draws or more.

    It is unbiased (probability-weighted moments).
    """
    predictive = locate(draws, noise)
    samples = len(predictive.centres)
    repeats = math.ceil(QUICK_MEMBERS / samples)
    parts = [
        _crps_of(observed[part], _noisy(predictive.at(part), rng, repeats))
        for part in point_chunks(samples * repeats, len(observed))
    ]
    return np.concatenate(parts)


def _interval_scores(predictive: Mixture, observed: np.ndarray, *, scale: str) -> dict[str, float]:
    levels = [percent / 100 for percent in INTERVAL_LEVELS]
    tails = [(1 - level) / 2 for level in levels]
    lower = predictive.quantiles(tails)
    upper = predictive.quantiles([1 - tail for tail in tails])
    scores = {
        f"interval_score_{percent}": float(interval_score(observed, *ends, level=level).mean())
        for percent, level, *ends in zip(INTERVAL_LEVELS, levels, lower, upper, strict=True)
    }
    target = (to_target(values, scale) for values in (observed, lower[-1], upper[-1]))
    with np.errstate(over="ignore", invalid="ignore"):
        widest = float(interval_score(*target, level=levels[-1]).mean())
    return scores | {f"interval_score_{INTERVAL_LEVELS[-1]}_target": widest}


def _crps(
    predictive: Mixture, observed: np.ndarray, rng: np.random.Generator, *, scale: str, fewest: int
) -> dict[str, float | str]:
    """Compute the unbiased CRPS over noisy draws (probability-weighted moments), in both spaces."""
    samples = len(predictive.centres)
    repeats = math.ceil(fewest / samples)
    total, total_target = 0.0, 0.0
    for part in point_chunks(samples * repeats, len(observed)):
        members = _noisy(predictive.at(part), rng, repeats)
        total += _crps_of(observed[part], members).sum()
        in_target = to_target(observed[part], scale), to_target(members, scale)
        total_target += _crps_of(*in_target).sum()
    return {
        "crps": float(total) / len(observed),
        "crps_target": _NO_TARGET_MOMENTS
        if _has_no_moments(predictive.noise, scale)
        else float(total_target) / len(observed),
    }


def _noisy(predictive: Mixture, rng: np.random.Generator, repeats: int) -> np.ndarray:
    """Add noise to every centre `repeats` times; return members (point, member), sorted."""
    members = np.repeat(predictive.centres.T, repeats, axis=1)
    members += predictive.noise.sample(rng, members.shape)
    members.sort(axis=1)
    return members


def _crps_of(observed: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Return the CRPS (point,) of sorted members (point, member) by probability-weighted moments.

    Mean distance to the observed value, minus half of that between two different members: T.
    Gneiting, A. E. Raftery, Journal of the American Statistical Association 102 (2007) 359, eq. 21
    with the other sign, its pairs counted by rank. Implemented here because the library that the
    tests compare it with compiles for two seconds when it is imported.
    """
    count = members.shape[1]
    ranks = np.arange(count) / (count - 1)
    with np.errstate(over="ignore", invalid="ignore"):
        distance = np.abs(members - observed[:, np.newaxis]).mean(axis=1)
        return distance + members.mean(axis=1) - 2 * (members * ranks).mean(axis=1)


def _gaussian_nll_target(predictive: Mixture, observed: np.ndarray, *, scale: str) -> float | str:
    """Compute the Gaussian NLL of the target; log10 draws are in units of each target."""
    centres, law, _ = predictive
    if _has_no_moments(law, scale):
        return _NO_TARGET_MOMENTS
    if scale == "identity":
        return _gaussian_nll(observed, centres.mean(axis=0), predictive.sd())
    parts = [
        _lognormal_moments(centres[:, part] - observed[part], law.at(part))
        for part in point_chunks(*centres.shape)
    ]
    mean, total_sd = np.concatenate(parts, axis=1)
    return _gaussian_nll(np.ones_like(observed), mean, total_sd) + _LN10 * float(observed.mean())


def _lognormal_moments(draws: np.ndarray, law: Law) -> np.ndarray:
    """Compute mean and sd (moment, point) of 10^(draw + Gaussian noise) from draws of log10."""
    variance = (_LN10 * law.sd()) ** 2
    with np.errstate(over="ignore", invalid="ignore"):
        means = 10**draws * np.exp(variance / 2)
        within = np.square(means).mean(axis=0) * np.expm1(variance)
        return np.stack([means.mean(axis=0), np.sqrt(within + means.var(axis=0))])


def _gaussian_nll(observed: np.ndarray, mean: np.ndarray, total_sd: np.ndarray) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        squared = np.square((observed - mean) / total_sd)
        return float(np.mean(0.5 * squared + np.log(total_sd * math.sqrt(2 * math.pi))))


def _log_derivative(observed: np.ndarray) -> float:
    """Compute the mean log of d target / d log10 target, which converts the densities."""
    return _LN10 * float(observed.mean()) + math.log(_LN10)


def _has_no_moments(law: Law, scale: str) -> bool:
    return scale == "log10" and not law.exponential_is_lognormal


def _root_mean_square(values: float | np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


def score(split: Split) -> dict[str, float | str]:
    """Return log score, CRPS, interval scores and standard deviations."""
    members = QUICK_MEMBERS if split.quick else FEWEST_CRPS_MEMBERS
    return proper_scores(
        split.draws, split.observed, split.noise, split.rng, scale=split.scale, members=members
    )
