"""The rows of a dataset: the target against every input, and its distribution."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from pandas import DataFrame, isna

from nlobayes.plots.axes import few_ticks, narrow, with_unit
from nlobayes.plots.frames import floats
from nlobayes.plots.style import SPLIT_COLORS, Floats, legend_above, new_figure, points

MOST_INPUTS, MOST_TARGETS = 14, 3
"""Inputs and targets that are drawn, the first ones."""
PANELS_IN_A_ROW = 3
BINS = 40
CLASSES, LOGARITHMIC = "classes", "log10"


class Column(NamedTuple):
    """A column of the rows: its name, the label of its axis, and the scale of the model."""

    column: str
    label: str
    scale: str


class Part(NamedTuple):
    """The rows of a split, their colour and their legend."""

    rows: DataFrame
    color: str
    label: str


def data(rows: DataFrame, columns: DataFrame, splits: DataFrame) -> Figure:
    """Draw the target against every input in the colours of the splits, and its distribution.

    For classes the medians and central 68 % of the inputs in each class are shown. A target that is
    learned relative to a reference is also shown as their ratio.
    """
    inputs = _named(columns, "input")[:MOST_INPUTS]
    targets = [*_named(columns, "target")[:MOST_TARGETS], *_named(columns, "ratio")]
    parts = _parts(rows, splits)
    count = len(targets) * (len(inputs) + 1)
    height = -(-count // PANELS_IN_A_ROW)
    figure = new_figure(height=0.5 + 2.0 * height)
    panels = figure.subplots(height, PANELS_IN_A_ROW, squeeze=False).ravel()
    for axes in panels[count:]:
        axes.set_axis_off()
    for target, some in zip(targets, panels[:count].reshape(len(targets), -1), strict=True):
        for axes, one in zip(some[:-1], inputs, strict=True):
            (_spans if target.scale == CLASSES else _cloud)(axes, parts, one, target)
        _distribution(some[-1], parts, target)
    legend_above(figure, panels[0], columns=3)
    return figure


def _named(columns: DataFrame, role: str) -> list[Column]:
    mine = columns[columns["column"].str.startswith(role)].map(lambda x: "" if isna(x) else str(x))
    # Names are text: matplotlib must not take a dollar sign for the start of a formula.
    texts = mine.replace(r"\$", r"\\$", regex=True)
    return [
        Column(row["column"], narrow(with_unit(row["name"], _shown(row["unit"]))), row["scale"])
        for _, row in texts.iterrows()
    ]


def _shown(unit: str) -> str:
    return "" if unit == "1" else unit


def _parts(rows: DataFrame, splits: DataFrame) -> list[Part]:
    """Take the rows of each split that has any, and name it with the number of its rows."""
    found = []
    for _, row in splits[splits["shown"] > 0].iterrows():
        split, shown, present = str(row["split"]), row["shown"], row["rows"]
        count = f"{present}" if shown == present else f"{shown} of {present}"
        mine = rows[rows["split"] == split]
        found.append(Part(mine, SPLIT_COLORS[split], f"{split}, {count} rows"))
    return found


def _cloud(axes: Axes, parts: Sequence[Part], one: Column, target: Column) -> None:
    for part in parts:
        x, y = floats(part.rows, one.column), floats(part.rows, target.column)
        points(axes, x, y, color=part.color, label=part.label)
    axes.set_yscale("log" if target.scale == LOGARITHMIC else "linear")
    _label(axes, one.label, target.label)


def _spans(axes: Axes, parts: Sequence[Part], one: Column, target: Column) -> None:
    for place, part in enumerate(parts):
        grouped = part.rows.groupby(target.column)[one.column]
        low, middle, high = (grouped.quantile(q).to_numpy() for q in (0.16, 0.5, 0.84))
        classes = grouped.median().index.to_numpy(dtype=np.float64)
        aside = 0.2 * (place - (len(parts) - 1) / 2)
        bars = np.array([middle - low, high - middle])
        axes.errorbar(
            middle, classes + aside, xerr=bars, fmt=".", color=part.color, label=part.label
        )
    _label(axes, one.label, target.label)
    axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))


def _distribution(axes: Axes, parts: Sequence[Part], target: Column) -> None:
    values = [floats(part.rows, target.column) for part in parts]
    edges = _edges(np.concatenate(values), target.scale).tolist()
    for part, some in zip(parts, values, strict=True):
        share = np.full(len(some), 1 / len(some))
        axes.hist(some, edges, weights=share, histtype="step", color=part.color, linewidth=1.2)
    axes.set_xscale("log" if target.scale == LOGARITHMIC else "linear")
    _label(axes, target.label, "share of rows")


def _edges(values: Floats, scale: str) -> Floats:
    low, high = values.min(), values.max()
    if scale == CLASSES:
        return np.arange(low - 0.5, high + 1.0)
    if scale == LOGARITHMIC:
        return np.geomspace(low, high, BINS + 1)
    return np.linspace(low, high if high > low else low + 1.0, BINS + 1)


def _label(axes: Axes, x: str, y: str) -> None:
    axes.set(xlabel=x, ylabel=y)
    few_ticks(axes.xaxis, 4, least=3)
    few_ticks(axes.yaxis, 4)
