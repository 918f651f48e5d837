"""Figures of data with one input: draws of f and MAPs, and the predictive density."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from pandas import DataFrame

from nlobayes.plots.axes import few_ticks, read_labels, with_unit
from nlobayes.plots.bands import shade_beyond, train_points
from nlobayes.plots.frames import by_chain, floats, split_rows
from nlobayes.plots.style import (
    BLACK,
    ORANGE,
    VERMILLION,
    chain_color,
    legend_above,
    new_figure,
    points,
)

DECADES = 3
"""Decades of the density that are shown below its maximum."""
BANDS = {
    "2.5 and 97.5 %": (("q2_5", "q97_5"), ":"),
    "16 and 84 %": (("q16", "q84"), "--"),
    "median": (("q50",), "-"),
}


def curves(draws: DataFrame, maps: DataFrame, predictions: DataFrame, labels: DataFrame) -> Figure:
    """Draw draws of f coloured by chain, and the MAP of each chain, with train and test rows.

    The range of test rows beyond the train rows is grey.
    """
    names = read_labels(labels)
    figure = new_figure(height=3.8)
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    shown = _draws(left, draws)
    left.set_title(f"{shown} draws of f")
    members = _maps(right, maps)
    right.set_title(f"{members} MAP{'s' if members > 1 else ''}")
    for axes in (left, right):
        train, test = _rows(axes, predictions)
        shade_beyond(axes, floats(test, "covariate"), floats(train, "covariate"))
        axes.set_xlabel(names.covariate)
        few_ticks(axes.xaxis, 6)
    left.set_ylabel(names.model_axis)
    legend_above(figure, left, columns=4)
    return figure


def _draws(axes: Axes, draws: DataFrame) -> int:
    """Draw every curve, and give their number."""
    curves = 0
    for chain, of_chain in by_chain(draws, "f"):
        label = f"chain {chain}"
        for _, rows in of_chain.groupby("draw", sort=True):
            _curve(axes, rows, chain, linewidth=0.6, alpha=0.6, label=label)
            curves, label = curves + 1, "_"
    return curves


def _maps(axes: Axes, maps: DataFrame) -> int:
    members = sorted(maps["member"].unique())
    for member in members:
        _curve(axes, maps[maps["member"] == member], member, linewidth=1)
    return len(members)


def _curve(axes: Axes, rows: DataFrame, number: int, **style: Any) -> None:
    x, y = floats(rows, "covariate"), floats(rows, "f")
    axes.plot(x, y, color=chain_color(number), **style)


def _rows(axes: Axes, predictions: DataFrame) -> tuple[DataFrame, DataFrame]:
    """Draw the train rows and the test rows, and give both."""
    test = split_rows(predictions, "test")
    train = predictions[predictions["split"] == "train"]
    points(axes, floats(test, "covariate"), floats(test, "truth"), color=BLACK, label="test")
    train_points(axes, train)
    return train, test


def density(
    cells: DataFrame, quantiles: DataFrame, predictions: DataFrame, labels: DataFrame
) -> Figure:
    """Draw the predictive density of the target by input, with quantiles, train and test rows."""
    names = read_labels(labels)
    figure = new_figure(height=4.0)
    axes = figure.subplots()
    x, y = np.unique(floats(cells, "covariate")), np.unique(floats(cells, "value"))
    image = cells.pivot_table("density", index="value", columns="covariate").to_numpy(np.float64)
    highest = float(image.max())
    scale = LogNorm(highest / 10**DECADES, highest, clip=True)
    mesh = axes.pcolormesh(x, y, image, norm=scale, cmap="Blues", rasterized=True)
    per_unit = with_unit("predictive density", f"1/{names.model_unit}" if names.model_unit else "")
    figure.colorbar(mesh, ax=axes, label=per_unit, aspect=30)
    for label, (levels, line) in BANDS.items():
        _quantile_lines(axes, quantiles, levels, line, label)
    _rows(axes, predictions)
    axes.set(xlim=(x.min(), x.max()), ylim=(y.min(), y.max()))
    axes.set_xlabel(names.covariate)
    axes.set_ylabel(names.model_axis)
    legend_above(figure, axes)
    return figure


def _quantile_lines(
    axes: Axes, quantiles: DataFrame, levels: tuple[str, ...], line: str, label: str
) -> None:
    for level in levels:
        x, y = floats(quantiles, "covariate"), floats(quantiles, level)
        color = VERMILLION if level == "q50" else ORANGE
        axes.plot(x, y, line, color=color, linewidth=1, label=label)
        label = "_"
