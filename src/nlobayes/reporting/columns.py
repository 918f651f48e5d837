"""Columns of tables of runs: their titles, what fills a cell, and how it is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.text import Text

from nlobayes import metrics
from nlobayes.artifacts.files import read_json, read_timing
from nlobayes.extras import needed
from nlobayes.metrics.shown import rows_learned, shown
from nlobayes.untyped import Facts

Cell = str | Text
RED = "bold red"


class Row(NamedTuple):
    """A run, or a part of it, such as a group of test rows or a rival.

    `scores` are those of its test rows, beside their Monte-Carlo errors; `facts` are other numbers
    and texts. The cell of a key that is missing is empty.
    """

    run: str
    name: Cell
    scores: Facts
    facts: Facts = {}


class Column(NamedTuple):
    """A column. Rank 0 is always shown; the highest rank is left out first."""

    title: str
    cell: Callable[[Any], Cell]
    rank: int = 0


class Table(NamedTuple):
    """A table: what fills its columns, and a note that belongs below it."""

    title: Cell
    columns: Sequence[Column]
    rows: Sequence[Any]
    note: str = ""

    @property
    def cells(self) -> list[list[Cell]]:
        """The cells, row by row."""
        return [[column.cell(row) for column in self.columns] for row in self.rows]


def score(
    title: str, form: str, *keys: str, rank: int = 0, missing: str = "", with_unit: bool = False
) -> Column:
    """Show the first of some scores that a row has, with its Monte-Carlo error."""

    def cell(row: Row) -> str:
        key = first_known(keys, row.scores)
        unit = " dex" if with_unit and metrics.metric_of(key).unit == "dex" else ""
        none = missing or "none"
        return shown(row.scores, key, form, missing=none) + unit if key in row.scores else missing

    return Column(title, cell, rank)


def fact(title: str, key: str, form: str = "", rank: int = 0) -> Column:
    """Show a number or a text; a number that does not exist is `none`."""

    def cell(row: Row) -> Cell:
        value = row.facts.get(key, "")
        if isinstance(value, str | Text):
            return value
        return "none" if value is None else format(value, form)

    return Column(title, cell, rank)


def first_known(keys: Sequence[str], scores: Facts) -> str:
    """Choose the first of some keys that there is, else the last."""
    return next((key for key in keys if key in scores), keys[-1])


def score_columns(of_classes: bool) -> dict[metrics.Column, tuple[str, ...]]:
    """Return the columns of scores of numbers or of classes with their keys."""
    kinds = metrics.MetricKind
    return metrics.by_column(kinds.CLASSES if of_classes else kinds.NUMBERS)


def scores_of(of_classes: bool, *, first: bool = False) -> list[Column]:
    """Return the columns of scores of test rows, or those of the first page, which have units."""
    return [
        score(column.title, column.form, *keys, rank=column.rank, with_unit=first)
        for column, keys in score_columns(of_classes).items()
        if column.first or not first
    ]


RUN = Column("run", lambda row: row.run)
RHAT = fact("R-hat", "rhat", ".3f")
EFFECTIVE = fact("ESS scored", "ess", ".0f")
CONVERGED, CALIBRATED = fact("converged", "convergence"), fact("calibrated", "calibration")
SAMPLING = (
    *(RHAT, EFFECTIVE, fact("diverg.", "divergences", "d", 5), fact("tau", "tau", rank=6)),
    *(CONVERGED, CALIBRATED),
)
ERRORS = (
    score("median error", ".2g %", "relative_error_p50"),
    score("error, 95 %", ".2g %", "relative_error_p95"),
)
"""Relative errors of the target."""
SIZES = (
    *(fact("mode", "mode", "g"), fact("90 %", "interval"), fact("R-hat", "rhat", ".3f")),
    *(fact("ESS", "ess_bulk", ".0f"), fact("jumps accepted", "accepted", ".2%")),
)
COSTS = (
    *(fact("fit, s", "fit", ".3g"), fact("1 point, ms", "predict_1", ".3g", 1)),
    *(fact("4096 points, s", "predict_4096", ".3g", 3), fact("peak, MiB", "peak", ".0f", 3)),
)
"""CPU time of the fit and of predictions, and memory of the whole process."""


def named(title: str) -> Column:
    """Show the names of the rows."""
    return Column(title, lambda row: row.name)


def verdict(approximate: bool, failed: Sequence[str], exact: bool, details: str = "") -> Text:
    """Write whether chains have converged, and whether their sampler is exact."""
    if approximate:
        return Text("approximate")
    note = "" if exact else " (not exact)"
    return Text(f"NO{details}{note}", RED) if failed else Text(f"yes{note}")


TIMINGS, JOBS = "timings/rivals", "timings/rival"
"""Folders: CPU seconds of fit and predictions, and Snakemake's benchmark of the whole job."""


def cost_of(results: Path, run: str, rival: str) -> dict[str, float]:
    """Read the cost of a rival of a run or of a dataset, as far as it is known.

    Returns CPU time of the `fit` in s, of one prediction in ms (`predict_1`), of 4096 in s
    (`predict_4096`), and the `peak` of the memory in MiB.
    """
    place = f"{run.split('/')[0]}/{rival}"
    path = results.parent / TIMINGS / f"{place}.json"
    found: dict[str, float | None] = dict(read_json(path)) if path.is_file() else {}
    found["peak"] = read_timing(results.parent / JOBS / f"{place}.tsv", "max_rss")
    known = {name: value for name, value in found.items() if value is not None}
    return known | ({"predict_1": 1e3 * known["predict_1"]} if "predict_1" in known else {})


def shown_name(name: str, found: Facts) -> str:
    """Return the name of a rival, with the package it needs or the part of the rows it learned."""
    if "missing" in found:
        return f"{name} {needed(found['missing'], 'rivals')}"
    part = rows_learned(found.get("facts", {}))
    return f"{name}, {part}" if part else name
