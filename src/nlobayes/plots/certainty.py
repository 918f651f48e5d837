"""Certainty of classes over a plane of two inputs, and disagreement of the draws."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pandas import DataFrame

from nlobayes.plots.classification import short_name
from nlobayes.plots.frames import floats
from nlobayes.plots.style import (
    BLACK,
    BLUE,
    CHAIN_COLORS,
    ORANGE,
    VERMILLION,
    Floats,
    legend_above,
    new_figure,
)

MARKERS = "o^sDvP*<>h"
CLASS_COLORS = (VERMILLION, BLUE, *CHAIN_COLORS[2:])


def certainty(plane: DataFrame, points: DataFrame, inputs: DataFrame, classes: DataFrame) -> Figure:
    """Draw largest probability and train rows; disagreement of draws and wrong test rows."""
    figure = new_figure(height=4.2)
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    x, y = (np.unique(floats(plane, name)) for name in ("first", "second"))
    each = _grids(plane, "probability")
    disagreement = _grids(plane, "disagreement")[0]
    lowest, highest = 100 / len(each), max(float(disagreement.max()), 1e-3)
    _shade(left, (x, y, 100 * each.max(axis=0)), "largest probability (%)", (lowest, 100))
    _shade(right, (x, y, disagreement), "disagreement of draws (nats)", (0, highest))
    for axes, color in ((left, "white"), (right, BLACK)):
        _boundaries(axes, x, y, each, color)
        axes.set_xlabel(str(inputs["input"].iloc[0]))
    left.set_ylabel(str(inputs["input"].iloc[1]))
    _train_rows(left, points[points["split"] == "train"], classes)
    _wrong_rows(right, points[(points["split"] == "test") & (points["right"] == 0)])
    legend_above(figure, left, right, columns=4)
    return figure


def _grids(plane: DataFrame, column: str) -> Floats:
    """Return the values of a column, axes (class, second, first)."""
    classes = [rows for _, rows in plane.groupby("class")]
    tables = [rows.pivot_table(column, index="second", columns="first") for rows in classes]
    return np.array([table.to_numpy(np.float64) for table in tables])


def _shade(
    axes: Axes, surface: tuple[Floats, Floats, Floats], label: str, limits: tuple[float, float]
) -> None:
    low, high = limits
    mesh = axes.pcolormesh(
        *surface, cmap="cividis", vmin=low, vmax=high, shading="gouraud", rasterized=True
    )
    axes.figure.colorbar(mesh, ax=axes, location="bottom", label=label, shrink=0.9)


def _boundaries(axes: Axes, x: Floats, y: Floats, each: Floats, color: str) -> None:
    """Draw the boundaries between the most probable classes."""
    for place in range(len(each) - 1):
        lead = each[place] - np.delete(each, place, axis=0).max(axis=0)
        if lead.min() < 0 < lead.max():
            axes.contour(x, y, lead, [0.0], colors=color, linewidths=1)


def _train_rows(axes: Axes, rows: DataFrame, classes: DataFrame) -> None:
    for place, (number, name) in enumerate(classes[["class", "name"]].itertuples(index=False)):
        own = rows[rows["class"] == number]
        axes.plot(
            floats(own, "first"),
            floats(own, "second"),
            MARKERS[place % len(MARKERS)],
            color=CLASS_COLORS[place % len(CLASS_COLORS)],
            markersize=3.5,
            markeredgewidth=0.4,
            markeredgecolor="white" if place % 2 else BLACK,
            label=f"train, class {short_name(str(name))}",
        )


def _wrong_rows(axes: Axes, rows: DataFrame) -> None:
    axes.plot(
        floats(rows, "first"),
        floats(rows, "second"),
        "x",
        color=ORANGE,
        markersize=6,
        markeredgewidth=1.4,
        label=f"test, wrong ({len(rows)})",
    )
