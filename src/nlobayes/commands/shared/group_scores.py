"""Scores of groups of test rows, for the summary and the landing page of the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.table import Table

from nlobayes.commands.shared.summary_table import filled_by, score_columns
from nlobayes.commands.shared.verdicts import Finished
from nlobayes.metrics.shown import shown

ERRORS = {"error": "relative_error_p50", "error, 95 %": "relative_error_p95"}
"""Relative errors of the target, median and 95 % quantile."""
TITLE = "Test rows in groups"


def header(of_classes: bool) -> list[str]:
    """Name the columns of `group_rows`."""
    scores = [column.title for column in score_columns(of_classes)]
    return ["run", "group", "rows", *([] if of_classes else ERRORS), *scores]


def group_rows(runs: Sequence[Finished], of_classes: bool) -> list[list[str]]:
    """Return the cells of each scored group of test rows, run by run."""
    return [
        [
            run.label,
            label,
            f"{scores['points']:.0f}",
            *_errors(scores, of_classes),
            *score_cells(scores, of_classes),
        ]
        for run in runs
        if run.is_of_classes == of_classes
        for label, scores in run.evaluation["test"].get("groups", {}).items()
        if isinstance(scores, Mapping)
    ]


def group_table(runs: Sequence[Finished], of_classes: bool) -> Table | None:
    """Make a table of the groups of all runs; None if there are none."""
    rows = group_rows(runs, of_classes)
    if not rows:
        return None
    table = Table(
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        title=TITLE,
        title_justify="left",
    )
    for name in header(of_classes):
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def _errors(scores: Mapping[str, Any], of_classes: bool) -> list[str]:
    return [] if of_classes else [shown(scores, key, ".2%") for key in ERRORS.values()]


def score_cells(scores: Mapping[str, Any], of_classes: bool) -> list[str]:
    """Return the cells of the score columns of the summary."""
    columns = score_columns(of_classes).items()
    return [shown(scores, filled_by(keys, scores), column.form) for column, keys in columns]
