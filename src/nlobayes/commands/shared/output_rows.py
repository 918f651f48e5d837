"""Scores of every target of networks that learned several, theory errors included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from nlobayes.commands.shared.plain_table import plain_table
from nlobayes.commands.shared.summary_table import filled_by
from nlobayes.commands.shared.verdicts import Finished
from nlobayes.metrics.shown import shown

TITLE = "Targets that one network learned, each with error bars of its own (test rows)"
COLUMNS: dict[str, tuple[tuple[str, ...], str]] = {
    "RMSE": (("rmse_log10", "rmse_target"), ".3g"),
    "median error": (("relative_error_p50",), ".2%"),
    "68 %": (("coverage_68",), ".3f"),
    "95 %": (("coverage_95",), ".3f"),
}
"""Keys of the scores of each column, and the format of its numbers."""


def header() -> list[str]:
    """Name the columns of `output_rows`."""
    return ["run", "target", *COLUMNS]


def output_rows(runs: Sequence[Finished]) -> list[list[str]]:
    """Return the cells of each target, run by run; none for runs with one target."""
    return [
        [run.label, name, *_cells(scores["test"])]
        for run in runs
        for name, scores in run.evaluation.get("outputs", {}).items()
    ]


def output_table(runs: Sequence[Finished]) -> Table | None:
    """Make a table of the targets of all runs; None if no run has several."""
    return plain_table(TITLE, header(), output_rows(runs))


def _cells(test: Mapping[str, Any]) -> list[str]:
    return [shown(test, filled_by(keys, test), form) for keys, form in COLUMNS.values()]
