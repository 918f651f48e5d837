"""The landing page of the report: answers to the first questions, tables and verdicts."""

from __future__ import annotations

from base64 import encodebytes
from collections.abc import Sequence
from textwrap import indent

from nlobayes.metrics import metric_of
from nlobayes.metrics.metric import HIGHER
from nlobayes.metrics.shown import BRACKETS
from nlobayes.reporting.columns import first_known, score_columns
from nlobayes.reporting.finished import (
    FinishedRun,
    count_passed,
    example,
    failures,
    identities,
    program,
    stackings,
    steps_of,
)
from nlobayes.reporting.renderers import escaped, in_rst
from nlobayes.reporting.run_tables import first_table, further_tables

NOTHING_TO_COMPARE = "No score of test rows can be compared."
MAPS, LINEAR = "the ensemble of MAPs", "least squares on the features"


def landing_page(runs: Sequence[FinishedRun]) -> str:
    """Write the answers and the figure of a run, then tables, failed checks and surrogates."""
    if not runs:
        return "No run is finished.\n"
    kinds = [(of, [run for run in runs if run.is_of_classes == of]) for of in (False, True)]
    first, *others = (f"**{question}** {escaped(of)}" for question, of in answers(runs).items())
    return "\n\n".join(
        [
            first,
            *_overview(runs),
            *others,
            *(in_rst(first_table(alike, of)) for of, alike in kinds if alike),
            BRACKETS,
            *map(in_rst, further_tables(runs)),
            *(
                f"**{failure.headline}:** {escaped(label)}\n\n{_listed(failure.failed)}"
                for label, failure in failures(runs).items()
            ),
            *map(escaped, steps_of(runs)),
            *map(escaped, stackings(runs)),
            *_surrogates(runs),
        ]
    )


def _overview(runs: Sequence[FinishedRun]) -> list[str]:
    """Show the overview of the run of the examples, inside the page.

    Its bytes take many lines, since docutils refuses long ones; browsers skip their ends.
    """
    shown = example(run for run in runs if run.overview)
    if shown is None or shown.overview is None:
        return []
    image = indent(encodebytes(shown.overview.read_bytes()).decode(), "   ").strip()
    alt = f"Errors, checks, coverage and rivals of run {shown.label}"
    source = f"data:image/svg+xml;base64,{image}"
    return [f'.. raw:: html\n\n   <img class="overview" alt="{alt}" src="{source}">']


def _surrogates(runs: Sequence[FinishedRun]) -> list[str]:
    written = [run for run in runs if run.surrogate]
    if not written:
        return []
    files = _listed([f"{run.label}: {run.surrogate}" for run in written])
    predict = f"``{program()} predict FILE points.csv -o out.csv``"
    lines = [f"{', '.join(names)}: {of}" for of, names in identities(runs).items()]
    what = ["Processes:", _listed(lines)] if lines else []
    return ["Surrogates, one file each:", files, *what, f"Predict with {predict}."]


def _listed(lines: Sequence[str]) -> str:
    return "\n".join(f"- {escaped(line)}" for line in lines)


def answers(runs: Sequence[FinishedRun]) -> dict[str, str]:
    """Return the answer to each question, over all runs."""
    return {
        "In short:": f"{count_passed(runs)}.",
        "Converged?": _converged(runs),
        "Calibrated?": _calibrated(runs),
        "How accurate?": _accurate(runs),
        "Against which rivals?": _against(runs),
    }


def _converged(runs: Sequence[FinishedRun]) -> str:
    """Count the runs whose chains agree; approximations have no chains."""
    chains = [run for run in runs if not run.approximate]
    if not chains:
        return "Convergence does not apply: all runs are approximate."
    return _counted("runs of chains", chains, [run.label for run in chains if run.unconverged])


def _calibrated(runs: Sequence[FinishedRun]) -> str:
    """Count the runs whose error bars passed, and name those with too few held-out rows to test."""
    untested = [run.label for run in runs if run.untested]
    tested = [run for run in runs if not run.untested]
    counted = _counted("runs", tested, [run.label for run in tested if run.uncalibrated])
    if not untested:
        return counted
    few = f"Not tested, for there are too few held-out rows: {', '.join(untested)}."
    return f"{counted} {few}" if tested else few


def _counted(kind: str, runs: Sequence[FinishedRun], failed: Sequence[str]) -> str:
    """Describe how many runs passed, and name the others."""
    counts = f"{len(runs) - len(failed)} of {len(runs)} {kind}"
    return f"No: {counts}. Failed: {', '.join(failed)}." if failed else f"Yes: {counts}."


def _first_score(run: FinishedRun) -> tuple[str, str]:
    """Choose the first score of a run on test rows: its key and its format."""
    column, keys = next(iter(score_columns(run.is_of_classes).items()))
    return first_known(keys, run.evaluation["test"]), column.form


def _accurate(runs: Sequence[FinishedRun]) -> str:
    """Describe the range of the first score of test rows, for each kind of score."""
    ranges = []
    for key, form in dict.fromkeys(map(_first_score, runs)):
        alike = [run for run in runs if _first_score(run)[0] == key]
        values = [(run.evaluation["test"].get(key), run.label) for run in alike]
        known = sorted((value, label) for value, label in values if value is not None)
        unit = " dex" if metric_of(key).unit == "dex" else ""
        ends = [f"{value:{form}}{unit} ({label})" for value, label in (*known[:1], *known[1:][-1:])]
        ranges.append(f"{metric_of(key).label} of test rows {' to '.join(ends) or 'none'}.")
    return " ".join(ranges)


def _against(runs: Sequence[FinishedRun]) -> str:
    """Count for each baseline and rival the runs that predict test rows better."""
    wins: dict[str, list[bool]] = {}
    for run in runs:
        found, (key, _) = run.evaluation, _first_score(run)
        others = {MAPS: found["baseline"], LINEAR: found.get("linear", {})}
        for name, other in {**others, **found.get("rivals", {})}.items():
            own, value = found["test"].get(key), other.get("test", {}).get(key)
            if own is not None and value is not None:
                higher = metric_of(key).better == HIGHER
                wins.setdefault(name, []).append(own > value if higher else own < value)
    counts = ", ".join(f"{name} in {sum(won)} of {len(won)}" for name, won in wins.items())
    measures = " and ".join({metric_of(_first_score(run)[0]).label: None for run in runs})
    better = f"By {measures} of test rows, runs are better than {counts}."
    better = better if counts else NOTHING_TO_COMPARE
    has_rivals = any(run.evaluation.get("rivals") for run in runs)
    return better if has_rivals else f"{better} No other regressor was requested (grids.*.rivals)."
