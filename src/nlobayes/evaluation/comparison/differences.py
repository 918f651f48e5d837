"""Differences between settings or runs, with their error bars.

A difference is always paired: over the replicates (seeds, splits) that two settings share, or over
the test points of two runs. One replicate gives a difference without an error bar, which does not
rank settings.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from nlobayes.errors import InputError
from nlobayes.evaluation.comparison.runs import METRICS, RunMetrics, by_setting, compared_by
from nlobayes.metrics.shown import MONTE_CARLO
from nlobayes.types import Columns

INTERVAL = ("difference", "standard_error", "low", "high")
"""Columns of a difference."""

LEVEL = 0.95
"""Probability of the intervals of differences."""


class PointPredictions(NamedTuple):
    """Predictions of a test split (point,): row number, and moments on the model scale."""

    point: np.ndarray
    truth: np.ndarray
    mean: np.ndarray
    total_sd: np.ndarray


class Estimate(NamedTuple):
    """Mean and number of values, standard error and 95 % t interval; NaN where undefined."""

    size: int
    mean: float
    standard_error: float
    low: float
    high: float


def differences_table(runs: Sequence[RunMetrics]) -> Columns:
    """Tabulate how settings differ from the first one, paired over the replicates they share.

    Raises InputError if a setting has a replicate twice.

    Returns `setting`, `reference`, `metric` (of `METRICS` and custom scores, if any run has it),
    `replicates` (shared pairs), `difference` (setting minus reference, mean over pairs),
    `standard_error`, and `low`, `high` of the 95 % t interval; these three are NaN for one
    replicate, these four for none. `monte_carlo_error` is that of the difference, NaN where it is
    not known; it is a part of the standard error.
    """
    settings = by_setting(runs)
    reference = next(iter(settings))
    known = (*METRICS, *compared_by(runs))
    metrics = [name for name in known if any(_metric(run, name) is not None for run in runs)]
    rows = [
        (setting, reference, metric, *_paired(of, settings[reference], metric))
        for (setting, of), metric in product([*settings.items()][1:], metrics)
    ]
    names = ("setting", "reference", "metric", "replicates", *INTERVAL, MONTE_CARLO)
    return {name: np.array([row[place] for row in rows]) for place, name in enumerate(names)}


def _paired(
    setting: Mapping[str, RunMetrics], reference: Mapping[str, RunMetrics], metric: str
) -> tuple[float, ...]:
    """Estimate the difference of two settings, and its Monte-Carlo error."""
    shared = [(run, reference[name]) for name, run in setting.items() if name in reference]
    known = [
        (a - b, run.errors.get(metric), other.errors.get(metric))
        for run, other in shared
        if (a := _metric(run, metric)) is not None and (b := _metric(other, metric)) is not None
    ]
    difference, *errors = np.array(known, dtype=np.float64).reshape(-1, 3).T
    error = float(np.linalg.norm(errors)) / len(known) if known else math.nan
    return (*estimate(difference), error)


def _metric(run: RunMetrics, name: str) -> float | None:
    if name == "ess_per_million_gradients":
        return ess_per_million_gradients(run)
    return run.test.get(name, run.numbers.get(name))


def ess_per_million_gradients(run: RunMetrics) -> float | None:
    """Return the smallest ESS of f per million gradients, warm-up included."""
    ess, gradients = run.diagnostics.get("ess_f"), run.diagnostics.get("gradients_total")
    return 1e6 * ess / gradients if ess is not None and gradients else None


def point_differences(first: PointPredictions, second: PointPredictions) -> Columns:
    """Tabulate how two runs differ on the same test points, paired over points.

    The error bars cover the choice of test points, not that of seeds.

    Raises InputError if the test points are not the same.

    Returns `metric` (`squared_error`, `absolute_error`, and `nll_gaussian`, minus the log density
    of the Gaussian with the predictive moments; NaN where a total sd is zero), `points`,
    `difference` (second minus first), `standard_error`, `low`, `high` of the 95 % t interval.
    """
    if not same_points(first, second):
        raise InputError(
            "evaluation.other_test_points", first=len(first.point), second=len(second.point)
        )
    before, after = _point_scores(first), _point_scores(second)
    rows = [(name, *estimate(after[name] - before[name])) for name in before]
    names = ("metric", "points", *INTERVAL)
    return {name: np.array([row[place] for row in rows]) for place, name in enumerate(names)}


def same_points(first: PointPredictions, second: PointPredictions) -> bool:
    """Return whether two runs predict the same rows with the same true values."""
    return np.array_equal(first.point, second.point) and np.array_equal(first.truth, second.truth)


def _point_scores(points: PointPredictions) -> dict[str, np.ndarray]:
    error = points.truth - points.mean
    sd = np.where(points.total_sd > 0, points.total_sd, math.nan)
    return {
        "squared_error": np.square(error),
        "absolute_error": np.abs(error),
        "nll_gaussian": 0.5 * np.square(error / sd) + np.log(sd * math.sqrt(2 * math.pi)),
    }


def estimate(values: np.ndarray) -> Estimate:
    """Estimate a mean from independent values (value,); one value gives no error bar."""
    size = len(values)
    if size == 0 or not np.isfinite(values).all():
        return Estimate(size, *[math.nan] * 4)
    mean = float(np.mean(values))
    if size == 1:
        return Estimate(size, mean, *[math.nan] * 3)
    error = float(np.std(values, ddof=1)) / math.sqrt(size)
    half_width = float(stdtrit(size - 1, (1 + LEVEL) / 2)) * error
    return Estimate(size, mean, error, mean - half_width, mean + half_width)
