"""The runs of a comparison: their facts and scores, one row each, and what may be compared."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

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


def numbers(scores: Facts) -> dict[str, float | None]:
    """Keep the scores that are numbers, or None where the number does not exist."""
    kept = {key: value for key, value in scores.items() if key != MONTE_CARLO}
    return {key: value for key, value in kept.items() if isinstance(value, int | float | None)}


def runs_table(runs: Sequence[RunMetrics]) -> Columns:
    """Tabulate the runs, one row each.

    Returns `run`, `setting`, `replicate`, the settings that differ, `converged` (true, false, or
    `approximate` where convergence does not apply), `failed_checks`, the keys of `SAMPLING`, every
    score of the test split, those of `FITTED` of the train split with prefix `train_`, every score
    of the test split of the baseline with prefix `baseline_`, and the Monte-Carlo errors of the
    scores of `METRICS` with suffix `_monte_carlo_error`. A missing value is NaN in a column of
    numbers, empty in one of texts.
    """
    columns: Columns = {}
    for section in zip(*(_sections(run) for run in runs), strict=True):
        for name in dict.fromkeys(chain.from_iterable(section)):
            columns[name] = _column([row.get(name) for row in section])
    return columns


def compared_by(runs: Sequence[RunMetrics]) -> tuple[str, ...]:
    """Name the custom scores that any of the runs is compared by."""
    return tuple(dict.fromkeys(chain.from_iterable(run.compared for run in runs)))


def check_one_target(runs: Sequence[RunMetrics]) -> None:
    """Refuse runs whose scores are of different targets.

    Raises InputError if two runs learned other targets, in other units or on other scales.
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


def by_setting(runs: Sequence[RunMetrics]) -> dict[str, dict[str, RunMetrics]]:
    """Group runs by setting, then by replicate, in the order given.

    Raises InputError if a setting has a replicate twice.
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
