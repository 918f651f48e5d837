"""Scores of rivals beside those of their run, for the summary and the landing page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from nlobayes.commands.shared.centre_scores import percent
from nlobayes.commands.shared.group_scores import ERRORS, score_cells
from nlobayes.commands.shared.plain_table import plain_table
from nlobayes.commands.shared.rivals import COSTS, cost_cells, shown_name
from nlobayes.commands.shared.summary_table import score_columns
from nlobayes.commands.shared.verdicts import Finished
from nlobayes.metrics.shown import shown

TITLE = "Rivals on the same rows, with error bars fitted alike (test rows; CPU time)"
THIS_RUN = "this run"


def header() -> list[str]:
    """Name the columns of `rival_rows`."""
    scores = [column.title for column in score_columns(of_classes=False)]
    return ["run", "regressor", *COSTS, *ERRORS, "CRPS", *scores]


def rival_rows(runs: Sequence[Finished]) -> list[list[str]]:
    """Return the cells of each run that has rivals, and those of each of its rivals."""
    return [row for run in runs if "rivals" in run.evaluation for row in _rows(run)]


def rival_table(runs: Sequence[Finished]) -> Table | None:
    """Make a table of runs and their rivals; None if there are no rivals."""
    return plain_table(TITLE, header(), rival_rows(runs))


def _rows(run: Finished) -> list[list[str]]:
    own = [run.label, THIS_RUN, *[""] * len(COSTS), *_scores(run.evaluation["test"])]
    return [own, *(_rival(run, name, found) for name, found in run.evaluation["rivals"].items())]


def _rival(run: Finished, name: str, found: Mapping[str, Any]) -> list[str]:
    if "missing" in found:
        return [run.label, shown_name(name, found), *[""] * (len(header()) - 2)]
    taken = cost_cells(run.cost_of_rivals.get(name, {}))
    return [run.label, shown_name(name, found), *taken, *_scores(found["test"])]


def _scores(test: Mapping[str, Any]) -> list[str]:
    errors = [percent(test, key) for key in ERRORS.values()]
    crps = shown(test, "crps", ".2g", missing="")
    return [*errors, crps, *score_cells(test, of_classes=False)]
