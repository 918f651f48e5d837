"""Draw the figures of pages of results from the CSV files below `docs/results`.

    python -m benchmarks.result_figures

Draws each figure of `result_figures.yaml` into `docs/images/results`. A picture holds the numbers
that it shows as its description, by which a test finds one that is older than its file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.tables import CONDITION, RESULTS, Row, cell_of, holds, read_rows
from nlobayes.plots.style import (
    BLACK,
    CHAIN_COLORS,
    METADATA,
    ORANGE,
    SKY,
    house_style,
    spread_log_labels,
)

LIST = Path(__file__).with_suffix(".yaml")
PICTURES = Path("docs/images/results")
NUMBER = re.compile(r"(?<![\w.])(?<!\d\()[-−+]?(?:\d{1,3}(?: \d{3})+|\d+)(?:\.\d+)?(?:e[-+]?\d+)?")
MARKERS = "osD^vPX"
LIGHT = (SKY, ORANGE, "0.8")
"""Of stacked bars, which have their numbers in black."""

WIDTH = 4.7
"""Inches: 450 pixels, so that text is readable on a phone and on a page."""


class Point(NamedTuple):
    """A number that is shown: the name or place of its row, its value and the ends of its bar."""

    at: str
    value: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Series:
    """Numbers with one label: which of the numbers in the cells of a column, of which rows."""

    label: str
    cell: str = ""
    """Names of columns in braces; without it, the number of rows of one name is shown."""
    number: int = 0
    error: int | None = None
    """Which number of the cell is the error."""
    to: int | None = None
    """Which number of the cell ends a bar that begins at the value."""
    where: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A figure: rows of a file, by name from top to bottom, or along an axis if it has a label."""

    table: str
    rows: str
    """Names of columns in braces."""
    name: str = ""
    """What the names of rows are."""
    value: str
    """What is shown, and its unit."""
    series: Sequence[Series]
    along: str = ""
    """Label of the axis of rows that are numbers."""
    where: Sequence[str] = ()
    turned: bool = False
    """Whether the columns of the file are the rows of the figure."""
    log: Sequence[str] = ()
    """Axes with logarithms: `value`, `along`."""
    stacked: bool = False
    scatter: bool = False
    """Whether points are not joined, but compared with the line of equal values."""
    lines: dict[str, float] = field(default_factory=dict)
    """Lines that values are compared with, by their labels."""


def figures() -> dict[str, Drawn]:
    """Read the list of figures by their names."""
    listed: dict[str, dict[str, Any]] = yaml.safe_load(LIST.read_text(encoding="utf-8"))
    return {
        name: Drawn(**{**entry, "series": [Series(**each) for each in entry["series"]]})
        for name, entry in listed.items()
    }


def rows_of(drawn: Drawn, results: Path = RESULTS) -> list[Row]:
    """Read the rows that a figure shows."""
    rows = read_rows(results / f"{drawn.table}.csv")
    return _where(drawn.where, _turned(rows) if drawn.turned else rows)


def shown(drawn: Drawn, rows: Sequence[Row]) -> dict[str, list[Point]]:
    """Return what a figure shows by the labels of its series."""
    return {
        each.label: _counted(drawn, _where(each.where, rows))
        if not each.cell
        else [
            point
            for row in _where(each.where, rows)
            if (point := _point(each, cell_of(drawn.rows, row), cell_of(each.cell, row)))
        ]
        for each in drawn.series
    }


def _turned(rows: Sequence[Row]) -> list[Row]:
    first, *columns = rows[0]
    return [{first: name} | {row[first]: row[name] for row in rows} for name in columns]


def _where(conditions: Sequence[str], rows: Sequence[Row]) -> list[Row]:
    found = [match for each in conditions if (match := CONDITION.fullmatch(f"where {each}"))]
    assert len(found) == len(conditions)
    return [row for row in rows if all(holds(each, row) for each in found)]


def _counted(drawn: Drawn, rows: Sequence[Row]) -> list[Point]:
    names = [cell_of(drawn.rows, row) for row in rows]
    counts = {name: float(names.count(name)) for name in names}
    return [Point(name, count, count, count) for name, count in counts.items()]


def _point(series: Series, name: str, cell: str) -> Point | None:
    found = numbers_of(cell)
    if not found:
        return None
    value = found[series.number]
    if series.error is not None and series.error < len(found):
        return Point(name, value, value - found[series.error], value + found[series.error])
    return Point(name, value, value, value if series.to is None else found[series.to])


def numbers_of(cell: str) -> list[float]:
    """List the numbers of a cell, whose thousands may have spaces."""
    return [float(text.replace(" ", "").replace("−", "-")) for text in NUMBER.findall(cell)]


def draw(drawn: Drawn, rows: Sequence[Row]) -> Figure:
    """Draw a figure: points along an axis, or one line of points or bars for each row."""
    found = shown(drawn, rows)
    names = [*dict.fromkeys(cell_of(drawn.rows, row) for row in rows)]
    height = 3.4 if drawn.along else 1.3 + len(names) * max(0.2, 0.11 * len(found))
    with house_style():
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        axes = figure.add_subplot()
        if drawn.along:
            _along(drawn, found, axes)
        else:
            _by_name(drawn, found, names, axes)
            figure.supxlabel(drawn.value, fontsize=9)
        keys, labels = axes.get_legend_handles_labels()
        labels = [label.replace("`", "") for label in labels]
        if len(labels) > 1 or drawn.lines:
            columns = 1 if max(map(len, labels)) > 34 else 2 if max(map(len, labels)) > 17 else 3
            figure.legend(keys, labels, loc="outside upper left", ncols=columns)
        return figure


def _along(drawn: Drawn, found: dict[str, list[Point]], axes: Axes) -> None:
    for (label, points), color, marker in zip(found.items(), CHAIN_COLORS, MARKERS, strict=False):
        x = [numbers_of(each.at)[0] for each in points]
        axes.errorbar(
            x,
            [each.value for each in points],
            _bars(points),
            fmt=marker if drawn.scatter else f"{marker}-",
            color=color,
            label=label,
        )
    for label, value in drawn.lines.items():
        axes.axhline(value, color=BLACK, linewidth=0.8, linestyle="--", label=label, zorder=0.5)
    if drawn.scatter:
        axes.axline((1, 1), (2, 2), color=BLACK, linewidth=0.8, linestyle="--", label="equal")
    axes.set(xlabel=drawn.along, ylabel=drawn.value)
    if "along" in drawn.log:
        axes.set_xscale("log")
        spread_log_labels(axes.xaxis)
    if "value" in drawn.log:
        axes.set_yscale("log")
        spread_log_labels(axes.yaxis)


def _by_name(drawn: Drawn, found: dict[str, list[Point]], names: Sequence[str], axes: Axes) -> None:
    step = 0 if drawn.stacked else 0.7 / len(found)
    left = dict.fromkeys(names, 0.0)
    for order, (label, points) in enumerate(found.items()):
        y = [names.index(each.at) + step * (order - (len(found) - 1) / 2) for each in points]
        value = [each.value for each in points]
        if drawn.stacked:
            start = [left[each.at] for each in points]
            bars = axes.barh(y, value, 0.7, start, color=LIGHT[order], label=label)
            for bar in bars:
                bar.set(edgecolor="white", linewidth=0.8)
            axes.bar_label(bars, fmt="%g", label_type="center", fontsize=6.5)
            left |= {each.at: left[each.at] + each.value for each in points}
        else:
            color, marker = CHAIN_COLORS[order], MARKERS[order]
            axes.errorbar(value, y, xerr=_bars(points), fmt=marker, color=color, label=label)
    for label, limit in drawn.lines.items():
        axes.axvline(limit, color=BLACK, linewidth=0.8, linestyle="--", label=label, zorder=0.5)
    axes.set(ylabel=drawn.name, ylim=(len(names) - 0.4, -0.6))
    axes.set_yticks(range(len(names)), [name.replace("`", "") for name in names])
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", color="0.9", linewidth=0.6)
    if "value" in drawn.log:
        axes.set_xscale("log")
        spread_log_labels(axes.xaxis)


def _bars(points: Sequence[Point]) -> list[list[float]] | None:
    if all(each.low == each.high for each in points):
        return None
    return [
        [each.value - each.low for each in points],
        [each.high - each.value for each in points],
    ]


def described(drawn: Drawn, rows: Sequence[Row]) -> str:
    """Return the numbers of a figure and the labels of its axes as text."""
    numbers = {label: [point[:2] for point in found] for label, found in shown(drawn, rows).items()}
    return json.dumps({drawn.value: numbers, drawn.along: drawn.lines}, ensure_ascii=False)


if __name__ == "__main__":
    PICTURES.mkdir(parents=True, exist_ok=True)
    for name, each in figures().items():
        rows = rows_of(each)
        metadata = {**METADATA["svg"], "Description": described(each, rows)}
        with house_style():
            draw(each, rows).savefig(PICTURES / f"{name}.svg", metadata=metadata)
