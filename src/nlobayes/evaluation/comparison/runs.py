"""Comparison of runs: one row per run, and differences between settings with their error bars.

A difference is always paired: over the replicates (seeds, splits) that two settings share, or over
the test points of two runs. One replicate gives a difference without an error bar, which does not
rank settings.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain, product
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from nlobayes.checks import failed
from nlobayes.diagnostics.run_diagnostics import Diagnostics
from nlobayes.errors import InputError
from nlobayes.evaluation.run_evaluation import Rival, ScoredDraws
from nlobayes.metrics import ComparisonPlace, shown_in
from nlobayes.metrics.shown import MONTE_CARLO
from nlobayes.types import Columns
from nlobayes.untyped import Facts

SAMPLING = (
    "chains",
    "draws_per_chain",
    "rhat_f_median",
    "rhat_f",
    "ess_f",
    "draws_scored",
    "ess_scored_median",
    "ess_scored_min",
    "acceptance_rate",
    "divergences",
    "gradients_total",
    "gradients_per_draw",
    "between_chain_variance_share",
)
"""Keys of the diagnostics that the table of runs shows besides the scores."""

FITTED = ("r2_log10", "r2_target_mean")
"""Scores of the train rows that the table of runs shows, with prefix `train_`."""

METRICS = shown_in(ComparisonPlace.PAIRED)
"""Metrics that compare settings, if they exist: test scores, scores of the likelihood, and mixing
of chains."""

INTERVAL = ("difference", "standard_error", "low", "high")
"""Columns of a difference."""

LEVEL = 0.95
"""Probability of the intervals of differences."""


class LearnedData(NamedTuple):
    """The data of a run: names, unit and scale of its targets, and the digest of its train rows.

    `declared` is the fixed noise of its likelihood; None if the noise is learned.
    """

    target: tuple[str, ...]
    unit: str
    scale: str
    train: str
    declared: float | None = None

    def __str__(self) -> str:
        """Name the targets, their unit if they have one, and their scale."""
        unit = f" in {self.unit}" if self.unit else ""
        return f"{', '.join(self.target)}{unit} on scale {self.scale}"


class RunMetrics(NamedTuple):
    """The facts of one run.

    `values` are the settings that differ between runs; `diagnostics` needs `converged` and
    `checks`; `scored_draws` are those of the evaluation; `test` and `baseline` are the `numbers`
    among the scores of the test split, of the posterior and of the ensemble of its MAPs, `train`
    those of the train split. `loo` (row,) is the elpd of every train row left out, if it was
    estimated; `learned` is None in scores that do not state it. `rivals` are those of the
    evaluation. `compared` names the custom scores that runs are compared by. `pulls` counts those
    of the test rows in bins, of kind `total` and `epistemic`, if there are any. `errors` are the
    Monte-Carlo errors of the scores in `test`, as far as they are known.
    """

    run: str
    setting: str
    replicate: str
    values: Mapping[str, float | str]
    diagnostics: Diagnostics
    test: Mapping[str, float | None]
    baseline: Mapping[str, float | None]
    loo: np.ndarray | None = None
    learned: LearnedData | None = None
    rivals: Mapping[str, Rival] = {}
    compared: tuple[str, ...] = ()
    train: Mapping[str, float | None] = {}
    pulls: Mapping[str, Sequence[float] | None] = {}
    errors: Mapping[str, float | None] = {}
    scored_draws: ScoredDraws | None = None

    @property
    def numbers(self) -> Facts:
        """Diagnostics, and the draws that were scored."""
        return {**self.diagnostics, **(self.scored_draws or {})}

    @property
    def failed_checks(self) -> tuple[str, ...]:
        """Names of the convergence checks that failed."""
        return tuple(failed(self.diagnostics["checks"]))

    @property
    def approximate(self) -> bool:
        """Whether its draws are not chains, so that convergence does not apply."""
        return self.diagnostics["converged"] is None

    @property
    def converged(self) -> bool:
        """Whether `converged` is true and no check has failed."""
        return bool(self.diagnostics["converged"]) and not self.failed_checks


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


def numbers(scores: Facts) -> dict[str, float | None]:
    """Keep the scores that are numbers, or None where the number does not exist."""
    kept = {key: value for key, value in scores.items() if key != MONTE_CARLO}
    return {key: value for key, value in kept.items() if isinstance(value, int | float | None)}


def runs_table(runs: Sequence[RunMetrics]) -> Columns:
    """Tabulate the runs, one row each.

    Returns
    -------
    dict
        `run`, `setting`, `replicate`, the settings that differ, `converged` (true, false, or
        `approximate` where convergence does not apply), `failed_checks`, the
        keys of `SAMPLING`, every score of the test split, those of `FITTED` of the train split
        with prefix `train_`, every score of the test split of the baseline with prefix
        `baseline_`, and the Monte-Carlo errors of the scores of `METRICS` with suffix
        `_monte_carlo_error`. A missing value is NaN in a column of numbers, empty in one of texts.
    """
    columns: Columns = {}
    for section in zip(*(_sections(run) for run in runs), strict=True):
        for name in dict.fromkeys(chain.from_iterable(section)):
            columns[name] = _column([row.get(name) for row in section])
    return columns


def differences_table(runs: Sequence[RunMetrics]) -> Columns:
    """Tabulate how settings differ from the first one, paired over the replicates they share.

    Returns
    -------
    dict
        `setting`, `reference`, `metric` (of `METRICS` and custom scores, if any run has it),
        `replicates` (shared pairs), `difference` (setting minus reference, mean over pairs),
        `standard_error`, and `low`, `high` of the 95 % t interval; these three are NaN for one
        replicate, these four for none. `monte_carlo_error` is that of the difference, NaN where it
        is not known; it is a part of the standard error.

    Raises
    ------
    InputError
        If a setting has a replicate twice.
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


def compared_by(runs: Sequence[RunMetrics]) -> tuple[str, ...]:
    """Name the custom scores that any of the runs is compared by."""
    return tuple(dict.fromkeys(chain.from_iterable(run.compared for run in runs)))


def check_one_target(runs: Sequence[RunMetrics]) -> None:
    """Refuse runs whose scores are of different targets.

    Raises
    ------
    InputError
        If two runs learned other targets, in other units or on other scales.
    """
    known = [(run.run, run.learned) for run in runs if run.learned is not None]
    for name, learned in known[1:]:
        first_name, first = known[0]
        if learned[:3] != first[:3]:
            raise InputError(
                "evaluation.other_targets",
                first_run=first_name,
                first=first,
                second_run=name,
                second=learned,
            )


def why_not_by_loo(runs: Sequence[RunMetrics]) -> str | None:
    """Return the reason why LOO cannot rank these models; None if it can.

    LOO compares densities of one set of targets. The density of a declared tolerance is a choice,
    so that LOO would rank the choices.
    """
    estimated = [run for run in runs if run.loo is not None]
    if len(estimated) < min(2, len(runs)):
        return "not estimated for two of the runs"
    trained = {(run.replicate, run.learned.train if run.learned else run.run) for run in estimated}
    if len(trained) > len({run.replicate for run in estimated}):
        return "the runs were trained on different rows or targets"
    if len({run.learned.declared if run.learned else None for run in estimated}) > 1:
        return (
            "a declared tolerance is no noise that was found, and LOO would rank the declarations; "
            "test scores show which surrogate is better"
        )
    return None


def without_loo(run: RunMetrics) -> RunMetrics:
    """Remove LOO and WAIC from a run."""
    test = {key: value for key, value in run.test.items() if not key.startswith(("loo", "waic"))}
    return run._replace(test=test, loo=None)


def point_differences(first: PointPredictions, second: PointPredictions) -> Columns:
    """Tabulate how two runs differ on the same test points, paired over points.

    The error bars cover the choice of test points, not that of seeds.

    Returns
    -------
    dict
        `metric` (`squared_error`, `absolute_error`, and `nll_gaussian`, minus the log density of
        the Gaussian with the predictive moments; NaN where a total sd is zero), `points`,
        `difference` (second minus first), `standard_error`, `low`, `high` of the 95 % t interval.

    Raises
    ------
    InputError
        If the test points are not the same.
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


def by_setting(runs: Sequence[RunMetrics]) -> dict[str, dict[str, RunMetrics]]:
    """Group runs by setting, then by replicate, in the order given.

    Raises
    ------
    InputError
        If a setting has a replicate twice.
    """
    settings: dict[str, dict[str, RunMetrics]] = {}
    for run in runs:
        twin = settings.setdefault(run.setting, {}).setdefault(run.replicate, run)
        if twin is not run:
            raise InputError(
                "evaluation.replicate_twice",
                setting=run.setting,
                replicate=run.replicate,
                first_run=twin.run,
                second_run=run.run,
            )
    return settings


def _sections(run: RunMetrics) -> tuple[Facts, ...]:
    identity = {"run": run.run, "setting": run.setting, "replicate": run.replicate}
    converged = "approximate" if run.approximate else run.converged
    verdict = {"converged": converged, "failed_checks": " ".join(run.failed_checks)}
    sampling = {key: run.numbers.get(key) for key in SAMPLING}
    baseline = {f"baseline_{key}": value for key, value in run.baseline.items()}
    train = {f"train_{key}": run.train[key] for key in FITTED if key in run.train}
    errors = {f"{key}_{MONTE_CARLO}": run.errors[key] for key in METRICS if key in run.errors}
    return identity, run.values, verdict | sampling, run.test, train, baseline, errors


def _column(values: Sequence[Any]) -> np.ndarray:
    if any(isinstance(value, str) for value in values):
        return np.array(["" if value is None else str(value) for value in values])
    return np.array([math.nan if value is None else value for value in values])


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


def _point_scores(points: PointPredictions) -> dict[str, np.ndarray]:
    error = points.truth - points.mean
    sd = np.where(points.total_sd > 0, points.total_sd, math.nan)
    return {
        "squared_error": np.square(error),
        "absolute_error": np.abs(error),
        "nll_gaussian": 0.5 * np.square(error / sd) + np.log(sd * math.sqrt(2 * math.pi)),
    }
