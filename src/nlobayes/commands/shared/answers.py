"""The first questions of a reader of the report, each with an answer of one sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nlobayes.commands.shared.summary_table import filled_by, score_columns
from nlobayes.commands.shared.verdicts import Finished, count_passed
from nlobayes.metrics import metric_of
from nlobayes.metrics.metric import HIGHER

NOTHING_TO_COMPARE = "No score of test rows can be compared."
MAPS, LINEAR = "the ensemble of MAPs", "least squares on the features"


class Score(NamedTuple):
    """The first score of a run on test rows, whose metric states which direction is better."""

    key: str
    form: str
    value: float | None

    def is_better_than(self, other: float) -> bool | None:
        """Return whether the run is more accurate than something else; None without a score."""
        if self.value is None:
            return None
        higher = metric_of(self.key).better == HIGHER
        return self.value > other if higher else self.value < other


def answers(runs: Sequence[Finished]) -> dict[str, str]:
    """Return the answer to each question, over all runs."""
    return {
        "In short:": f"{count_passed(runs)}.",
        "Converged?": _converged(runs),
        "Calibrated?": _calibrated(runs),
        "How accurate?": _accurate(runs),
        "Against which rivals?": _against(runs),
    }


def _converged(runs: Sequence[Finished]) -> str:
    """Count the runs whose chains agree; approximations have no chains."""
    chains = [run for run in runs if not run.approximate]
    if not chains:
        return "Convergence does not apply: all runs are approximate."
    return _counted("runs of chains", chains, [run for run in chains if not run.unconverged])


def _calibrated(runs: Sequence[Finished]) -> str:
    """Count the runs whose error bars passed, and name those with too few held-out rows to test."""
    untested = [run.label for run in runs if run.untested]
    tested = [run for run in runs if not run.untested]
    if not untested:
        return _counted("runs", runs, [run for run in runs if not run.uncalibrated])
    counted = _counted("runs", tested, [run for run in tested if not run.uncalibrated])
    few = f"Not tested, for there are too few held-out rows: {', '.join(untested)}."
    return f"{counted} {few}" if tested else few


def _counted(kind: str, runs: Sequence[Finished], passed: Sequence[Finished]) -> str:
    """Describe how many runs passed, and name the others."""
    failed = [run.label for run in runs if run not in passed]
    counts = f"{len(passed)} of {len(runs)} {kind}"
    return f"No: {counts}. Failed: {', '.join(failed)}." if failed else f"Yes: {counts}."


def _accurate(runs: Sequence[Finished]) -> str:
    """Describe the range of the first score of test rows, for each kind of score."""
    return " ".join(_of_kind(key, runs) for key in dict.fromkeys(_score(run).key for run in runs))


def _of_kind(key: str, runs: Sequence[Finished]) -> str:
    metric = metric_of(key)
    scored = [(score, run.label) for run in runs if (score := _score(run)).key == key]
    known = sorted((s.value, label, s.form) for s, label in scored if s.value is not None)
    if not known:
        return f"{metric.label} of test rows: none."
    unit = f" {metric.unit}" if metric.unit == "dex" else ""
    ends = [f"{value:{form}}{unit} ({label})" for value, label, form in (known[0], known[-1])]
    return f"{metric.label} of test rows {' to '.join(ends if known[1:] else ends[:1])}."


def _against(runs: Sequence[Finished]) -> str:
    """Count for each rival the runs that predict test rows better."""
    wins: dict[str, list[bool]] = {}
    for run in runs:
        score = _score(run)
        for name, value in _rivals(run, score.key):
            won = score.is_better_than(value)
            if won is not None:
                wins.setdefault(name, []).append(won)
    counts = ", ".join(f"{name} in {sum(won)} of {len(won)}" for name, won in wins.items())
    better = f"Runs predict test rows better than {counts}." if counts else NOTHING_TO_COMPARE
    has_rivals = any(run.evaluation.get("rivals") for run in runs)
    return better if has_rivals else f"{better} No other regressor was requested (grids.*.rivals)."


def _rivals(run: Finished, key: str) -> Iterator[tuple[str, float]]:
    """Yield name and score of every baseline and rival of a run."""
    scored = run.evaluation
    others = {
        MAPS: scored["baseline"],
        LINEAR: scored.get("linear", {}),
        **scored.get("rivals", {}),
    }
    for name, found in others.items():
        value = found.get("test", {}).get(key)
        if value is not None:
            yield name, value


def _score(run: Finished) -> Score:
    test = run.evaluation["test"]
    column, keys = next(iter(score_columns(run.is_of_classes).items()))
    key = filled_by(keys, test)
    return Score(key, column.form, test.get(key))
