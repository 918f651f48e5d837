"""The table of runs in the width of the terminal; less important columns are left out first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rich import box
from rich.table import Table
from rich.text import Text

from nlobayes import metrics
from nlobayes.commands.shared.verdicts import Finished
from nlobayes.diagnostics.tightness import TIGHT
from nlobayes.metrics.shown import BRACKETS, shown

CHAINS = (
    "R-hat (99 %) of f near 1: the chains agree. ESS scored: effective draws behind the scores, the"
    f" smallest of f.\n{BRACKETS}"
)
LEGENDS = {
    False: "RMSE in dex where log10 is learned; 68 %, 95 %: points inside these intervals.\n"
    + CHAINS,
    True: "accuracy, log score: higher is better; ece, expected calibration error: lower.\n"
    + CHAINS,
}
"""Explanations of the table of numbers (False) and of that of classes (True)."""
BETWEEN = 2


class Column(NamedTuple):
    """A column. Rank 0 is always shown; the highest rank is left out first."""

    title: str
    rank: int = 0


RUN = Column("run")
CONVERGENCE = (
    *(Column("R-hat"), Column("ESS scored"), Column("diverg.", 5), Column("tau", 6)),
    *(Column("converged"), Column("calibrated")),
)


def score_columns(of_classes: bool) -> dict[metrics.Column, tuple[str, ...]]:
    """Return the columns of scores with their keys; a run uses the first key that it has."""
    return metrics.by_column(
        metrics.MetricKind.CLASSES if of_classes else metrics.MetricKind.NUMBERS
    )


def filled_by(keys: Sequence[str], test: Mapping[str, Any]) -> str:
    """Choose the first of some keys that a run has."""
    return next((key for key in keys if key in test), keys[-1])


def summary_table(runs: Sequence[Finished], of_classes: bool, width: int) -> Table:
    """Make a table of this width: for each run a row, then one for the ensemble of its MAPs."""
    scores = (Column(column.title, column.rank) for column in score_columns(of_classes))
    columns = [RUN, *scores, *CONVERGENCE]
    rows = [row for run in runs for row in (_posterior(run, of_classes), _maps(run, of_classes))]
    kept = _that_fit(columns, rows, width)
    table = Table(
        box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, BETWEEN - 1, 0, 0)
    )
    for place in kept:
        table.add_column(columns[place].title, overflow="fold", no_wrap=place > 0)
    for row in rows:
        table.add_row(*(row[place] for place in kept))
    return table


def _that_fit(columns: Sequence[Column], rows: Sequence[Sequence[Text]], width: int) -> list[int]:
    """Choose the columns that fit the width; columns of rank 0 are kept even if they do not fit."""
    wide = [
        max(len(column.title), *(len(row[place]) for row in rows)) + BETWEEN
        for place, column in enumerate(columns)
    ]
    kept = list(range(len(columns)))
    while sum(wide[place] for place in kept) - BETWEEN > width:
        least = max(kept, key=lambda place: columns[place].rank)
        if columns[least].rank == 0:
            break
        kept.remove(least)
    return kept


def _posterior(run: Finished, of_classes: bool) -> list[Text]:
    found, tau = run.diagnostics, run.diagnostics["tightness"]
    exact = "" if found.get("exact", True) else " (not exact)"
    tight = " (tight)" if run.unconverged and (tau or 0) > TIGHT else ""
    return [
        Text(run.label),
        *_scores(run.evaluation["test"], of_classes),
        _number(found["rhat_f"], ".3f"),
        _number(run.effective_draws, ".0f"),
        _number(found["divergences"], "d"),
        Text("-" if tau is None else f"{tau:.2g}" + tight),
        Text("approximate") if run.approximate else _passed(not run.unconverged, exact),
        Text("not tested", "yellow") if run.untested else _passed(not run.uncalibrated),
    ]


def _maps(run: Finished, of_classes: bool) -> list[Text]:
    """Return the row of the ensemble of MAPs, with the range of its members' scores in brackets."""
    baseline = run.evaluation["baseline"]
    members = next(iter(baseline["members"].values()))
    name = f"  {len(members)} MAPs ({min(members):.3g}-{max(members):.3g})"
    return [
        Text(name, "dim"),
        *_scores(baseline["test"], of_classes),
        *[Text()] * len(CONVERGENCE),
    ]


def _scores(test: Mapping[str, Any], of_classes: bool) -> list[Text]:
    return [
        Text(shown(test, filled_by(keys, test), column.form))
        for column, keys in score_columns(of_classes).items()
    ]


def _passed(passed: bool, exact: str = "") -> Text:
    return Text("yes" + exact) if passed else Text("NO" + exact, "bold red")


def _number(value: float | None, form: str) -> Text:
    return Text("none" if value is None else format(value, form))
