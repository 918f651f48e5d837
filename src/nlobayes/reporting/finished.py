"""Finished runs: their scores, diagnostics and surrogates, their verdicts in words, next steps."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from nlobayes.artifacts.files import read_as
from nlobayes.artifacts.netcdf import read_attrs
from nlobayes.checks import APPROXIMATE, failed, untested
from nlobayes.diagnostics.run_diagnostics import Diagnostics
from nlobayes.errors import InputError
from nlobayes.evaluation import run_in_words
from nlobayes.evaluation.run_evaluation import Evaluation
from nlobayes.evaluation.run_in_words import FailedRun
from nlobayes.reporting.columns import cost_of
from nlobayes.surrogate.identity import in_words, origin

SURROGATES, OVERVIEW = "surrogates", "figures/{run}/overview.svg"


class FinishedRun(NamedTuple):
    """A finished run with its scores and diagnostics; `surrogate` is None if none was written.

    `cost_of_rivals` has the CPU seconds and the memory of each rival, as far as they are known.
    `overview` is its figure for the first page, if it was drawn.
    """

    label: str
    surrogate: Path | None
    evaluation: Evaluation
    diagnostics: Diagnostics
    cost_of_rivals: Mapping[str, Mapping[str, float]] = {}
    overview: Path | None = None

    @property
    def unconverged(self) -> list[str]:
        """Names of the convergence checks that failed."""
        return failed(self.diagnostics["checks"])

    @property
    def uncalibrated(self) -> list[str]:
        """Names of the calibration checks that failed."""
        return failed(self.evaluation["calibration_checks"])

    @property
    def untested(self) -> bool:
        """Whether its error bars passed, but would also pass if they were twice too wide."""
        return untested(self.evaluation["calibration_checks"]) is not None

    @property
    def approximate(self) -> bool:
        """Whether its method is approximate, so that convergence does not apply."""
        return self.diagnostics.get("converged", False) is None

    @property
    def failure(self) -> FailedRun | None:
        """Its failed checks and the next steps; None if no check failed."""
        return run_in_words.describe_failed(self.diagnostics, self.evaluation)

    @property
    def passed(self) -> bool:
        """Whether it passed every check, and none was too weak to fail."""
        return self.failure is None and not self.approximate and not self.untested

    @property
    def effective_draws(self) -> float | None:
        """Smallest effective number, over reference points, of the draws that were scored."""
        return self.evaluation.get("scored_draws", {}).get("ess_scored_min")

    @property
    def of(self) -> str:
        """The process stated by its surrogate; empty if that is missing or cannot be read."""
        if self.surrogate is None:
            return ""
        try:
            return in_words(origin(read_attrs(self.surrogate)))
        except InputError:
            return ""

    @property
    def is_of_classes(self) -> bool:
        """Whether it predicts probabilities of classes."""
        return "accuracy" in self.evaluation["test"]


def read_finished(metrics: Path, runs: Mapping[str, str]) -> list[FinishedRun]:
    """Read the scores and the diagnostics of runs, given their labels by path.

    Raises InputError if a file is missing or is not what the workflow writes.
    """
    return [_read(metrics, path, label) for path, label in runs.items()]


def failures(runs: Iterable[FinishedRun]) -> dict[str, FailedRun]:
    """Return a description of each run that failed a check, by its label."""
    return {run.label: failure for run in runs if (failure := run.failure)}


def steps_of(runs: Iterable[FinishedRun]) -> list[str]:
    """Return each next step once, with its runs unless it applies to all failed runs."""
    described, whose = failures(runs), dict[str, list[str]]()
    for label, failure in described.items():
        for step in failure.steps:
            whose.setdefault(step, []).append(label)
    return [
        f"next: {step}" if len(names) == len(described) else f"next ({', '.join(names)}): {step}"
        for step, names in whose.items()
    ]


def count_passed(runs: Sequence[FinishedRun]) -> str:
    """Count the runs that passed every check, and name them."""
    passed = [run.label for run in runs if run.passed]
    counted = f"{len(passed)} of {len(runs)} runs converged and are calibrated"
    approximate = [run.label for run in runs if run.approximate]
    weak = [run.label for run in runs if run.untested]
    others = [f"{APPROXIMATE}: {', '.join(approximate)}"] if approximate else []
    others += [f"too few held-out rows for calibration: {', '.join(weak)}"] if weak else []
    return "; ".join([": ".join(filter(None, [counted, ", ".join(passed)])), *others])


def stackings(runs: Iterable[FinishedRun]) -> list[str]:
    """Describe the weights and scores of stacking, for each run that has them."""
    return [
        f"{run.label}: chains by stacking {_weights(found['weights'])}, log score of test rows"
        f" {found['lppd_test']['stacking']:.3f} ({found['lppd_test']['equal']:.3f} with equal"
        " weights); it is no verdict on convergence"
        for run in runs
        if (found := run.evaluation.get("stacking"))
    ]


def _weights(weights: Sequence[float]) -> str:
    return ", ".join(f"{weight:.2f}" for weight in weights)


def identities(runs: Iterable[FinishedRun]) -> dict[str, list[str]]:
    """Return the labels of the runs by the process of their surrogate."""
    found: dict[str, list[str]] = {}
    for run in runs:
        if run.of:
            found.setdefault(run.of, []).append(run.label)
    return found


def example(runs: Iterable[FinishedRun]) -> FinishedRun | None:
    """Choose a run for examples: the last that passed every check, else the last."""
    known = [*runs]
    passed = [run for run in known if run.passed]
    return next(reversed(passed or known), None)


def program() -> str:
    """Return the command that calls this program from here, even if it is not on the PATH."""
    called = Path(sys.argv[0]).absolute()
    inside = called.name == "nlobayes" and called.is_relative_to(Path.cwd())
    return called.relative_to(Path.cwd()).as_posix() if inside else "nlobayes"


def _read(metrics: Path, path: str, label: str) -> FinishedRun:
    folder, surrogate = metrics / path, metrics.parent / SURROGATES / f"{path}.nc"
    overview = metrics.parent / OVERVIEW.format(run=path)
    needed = ("test", "baseline", "calibration_checks")
    evaluation = read_as(Evaluation, folder / "evaluation.json", *needed)
    rivals = evaluation.get("rivals", {})
    return FinishedRun(
        label,
        surrogate if surrogate.is_file() else None,
        evaluation,
        read_as(Diagnostics, folder / "diagnostics.json", "checks", "tightness"),
        {name: cost_of(metrics.parent, path, name) for name in rivals},
        overview if overview.is_file() else None,
    )
