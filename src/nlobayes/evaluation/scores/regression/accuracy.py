"""Errors of point predictions, on the model scale and in target space.

The model scale is log10 of the target (scale `log10`) or the target itself (`identity`). A score
is a number, or a line that states why there is none.
"""

import numpy as np

from nlobayes.distributions.distribution import point_chunks
from nlobayes.errors import InputError
from nlobayes.evaluation.predictive.predictive_density import checked_split
from nlobayes.evaluation.scores.split import Split

SCALES = ("log10", "identity")
RELATIVE_ERROR_PERCENTILES = (50, 68, 90, 95, 99)
LARGEST_COUNTS = (1, 5, 10, 20)
RESAMPLES = 1000
FEWEST_RESAMPLED = 10
"""Fewer points than this give no bootstrap interval."""

_RESAMPLES_AT_ONCE = 50


def accuracy(
    draws: np.ndarray, observed: np.ndarray, rng: np.random.Generator | None, *, scale: str
) -> dict[str, float | str]:
    """Score the point predictions of one split.

    Parameters
    ----------
    draws
        Function draws on the model scale, axes (sample, point).
    observed
        Observed targets on the model scale, axis (point).
    rng
        Source of the resampled points; None for no intervals.
    scale
        `log10` or `identity`.

    Returns
    -------
    dict
        In target space: `r2_target_mean`, of the mean over draws of the target; of the target at
        the median draw: `r2_target_median` with `r2_target_median_low` and `_high`, `rmse_target`,
        `relative_error_p50` to `_p99` (percentiles over points of |predicted / target - 1|),
        `percent_error` (100 times the mean of that) and `squared_error` (mean squared
        difference); `variance_share_top1_target` to `_top20_target`, the share of that many
        largest squared deviations from the mean in the total sum of squares.
        With scale log10 also, of the mean of the draws: `r2_log10` with `_low` and `_high`,
        `rmse_log10`, `squared_error_log10`, `bias_log10` (mean of predicted - observed) and
        `variance_share_top1_log10` to `_top20_log10`.
        Intervals are 95 % percentile intervals of 1000 bootstrap resamples of the points.

    Raises InputError if the arrays do not fit together, a value is not finite, or the scale is
    unknown.

    References
    ----------
    B. S. Kronheim, M. P. Kuchera, H. B. Prosper, TensorBNN, arXiv:2009.14393, for the percent and
    the squared error.
    """
    draws, observed = checked_split(draws, observed)
    median, target = to_target(np.median(draws, axis=0), scale), to_target(observed, scale)
    scores = {} if scale == "identity" else _log10_scores(draws.mean(axis=0), observed, rng)
    with np.errstate(over="ignore", invalid="ignore"):
        squared = float(np.mean(np.square(median - target)))
        return {
            **scores,
            "r2_target_mean": r_squared(mean_target(draws, scale), target),
            **_r_squared_scores("r2_target_median", median, target, rng=rng),
            "rmse_target": float(np.sqrt(squared)),
            "squared_error": squared,
            **_relative_scores(median, target),
            **_variance_shares(target, "target"),
        }


def to_target(values: np.ndarray, scale: str) -> np.ndarray:
    """Return the target of values on the model scale, infinite where 10^value overflows.

    Raises InputError if the scale is not `log10` or `identity`.
    """
    if scale not in SCALES:
        raise InputError("evaluation.unknown_scale", scale=scale, known=SCALES)
    with np.errstate(over="ignore"):
        return 10**values if scale == "log10" else values


def mean_target(draws: np.ndarray, scale: str) -> np.ndarray:
    """Return the mean over draws (sample, point) of the target, axis (point), without noise."""
    parts = [to_target(draws[:, part], scale).mean(axis=0) for part in point_chunks(*draws.shape)]
    return np.concatenate(parts)


def r_squared(predicted: np.ndarray, observed: np.ndarray) -> float | str:
    """Return 1 - Σ(observed - predicted)^2 / Σ(observed - mean observed)^2, or why not."""
    if np.ptp(observed) == 0:
        return _no_spread(observed)
    error = np.square(observed - predicted).sum()
    return float(1 - error / np.square(observed - observed.mean()).sum())


def r_squared_interval(
    predicted: np.ndarray, observed: np.ndarray, rng: np.random.Generator
) -> tuple[float, float] | str:
    """Return the 95 % percentile interval of R² over resampled points, or why there is none.

    Resamples of equal targets, in which R² is undefined, are left out.

    References
    ----------
    B. Efron, R. J. Tibshirani, An Introduction to the Bootstrap (1993), chapter 13.
    """
    points = len(observed)
    if np.ptp(observed) == 0:
        return _no_spread(observed)
    if points < FEWEST_RESAMPLED:
        return f"a bootstrap interval needs at least {FEWEST_RESAMPLED} points, got {points}"
    centred = observed - observed.mean()
    terms = np.stack([np.square(observed - predicted), centred, np.square(centred)], axis=1)
    numbers = points * np.arange(_RESAMPLES_AT_ONCE)[:, np.newaxis]
    sums = []
    for _ in range(RESAMPLES // _RESAMPLES_AT_ONCE):  # `multinomial` takes five times as long
        drawn = numbers + rng.integers(points, size=(_RESAMPLES_AT_ONCE, points))
        counts = np.bincount(drawn.ravel(), minlength=points * _RESAMPLES_AT_ONCE)
        sums.append(counts.reshape(-1, points) @ terms)
    error, linear, square = np.concatenate(sums).T
    total = square - np.square(linear) / points
    spread = total > 1e-12 * square
    low, high = np.percentile(1 - error[spread] / total[spread], [2.5, 97.5])
    return float(low), float(high)


def variance_share(observed: np.ndarray, largest: int) -> float | str:
    """Return the share of the largest squared deviations from the mean in their sum, or why not."""
    if np.ptp(observed) == 0:
        return _no_spread(observed)
    squared = np.sort(np.square(observed - observed.mean()))[::-1]
    return float(squared[:largest].sum() / squared.sum())


def _log10_scores(
    mean: np.ndarray, observed: np.ndarray, rng: np.random.Generator | None
) -> dict[str, float | str]:
    squared = float(np.mean(np.square(observed - mean)))
    return {
        **_r_squared_scores("r2_log10", mean, observed, rng=rng),
        "rmse_log10": float(np.sqrt(squared)),
        "squared_error_log10": squared,
        "bias_log10": float(np.mean(mean - observed)),
        **_variance_shares(observed, "log10"),
    }


def _r_squared_scores(
    name: str, predicted: np.ndarray, observed: np.ndarray, *, rng: np.random.Generator | None
) -> dict[str, float | str]:
    found = {name: r_squared(predicted, observed)}
    if rng is None:
        return found
    interval = r_squared_interval(predicted, observed, rng)
    low, high = (interval, interval) if isinstance(interval, str) else interval
    return {**found, f"{name}_low": low, f"{name}_high": high}


def _relative_scores(predicted: np.ndarray, target: np.ndarray) -> dict[str, float | str]:
    names = [f"relative_error_p{p}" for p in RELATIVE_ERROR_PERCENTILES]
    if not target.all():
        reason = f"{np.sum(target == 0)} of {target.size} targets are zero"
        return dict.fromkeys([*names, "percent_error"], reason)
    relative = np.abs(predicted / target - 1)
    percentiles = np.percentile(relative, RELATIVE_ERROR_PERCENTILES)
    scores: dict[str, float | str] = dict(zip(names, percentiles.tolist(), strict=True))
    return scores | {"percent_error": 100 * float(relative.mean())}


def _variance_shares(observed: np.ndarray, space: str) -> dict[str, float | str]:
    return {
        f"variance_share_top{largest}_{space}": variance_share(observed, largest)
        for largest in LARGEST_COUNTS
    }


def _no_spread(observed: np.ndarray) -> str:
    only = "there is only one" if observed.size == 1 else f"all {observed.size} are equal"
    return f"at least two different targets are needed, {only}"


def score(split: Split) -> dict[str, float | str]:
    """Return R², errors, and the share of the largest deviations."""
    rng = None if split.quick else split.rng
    return accuracy(split.draws, split.observed, rng, scale=split.scale)
