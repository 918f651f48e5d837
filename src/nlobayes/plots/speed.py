"""Times of networks: of a draw, of predictions by 1000 draws, and of loading these draws."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pandas import DataFrame

from nlobayes.plots.frames import floats
from nlobayes.plots.style import (
    BLACK,
    CHAIN_COLORS,
    Floats,
    chain_color,
    legend_above,
    new_figure,
    spread_log_labels,
)

POINTS = (1, 16, 256, 4096)
SECONDS = {
    "gradient": ("gradient_ms", 1e-3),
    "draw of fixed length": ("seconds_per_draw", 1.0),
    "longest draw": ("seconds_per_draw_at_most", 1.0),
}
"""Times of sampling: the column, and its unit in seconds."""
BINS = 60
SHOWN = 0.99
"""Share of the loadings of each network that a histogram shows."""


def speed(table: DataFrame) -> Figure:
    """Draw median times of a gradient, a draw, predictions and loading by number of parameters.

    Seconds for gradients and draws, milliseconds for others. Mean and error of all draws are lines,
    the outputs of all draws dots.
    """
    rows = table.sort_values("parameters")
    figure = new_figure(height=3.6)
    left, right = figure.subplots(1, 2, sharex=True)
    _sampling(left, rows)
    _using(right, rows)
    for axes in (left, right):
        axes.set(xscale="log", yscale="log", xlabel="parameters")
        spread_log_labels(axes.xaxis)
    left.set_title(f"posterior of {rows['rows'].iloc[0]:.0f} rows")
    left.set_ylabel("time (s)")
    right.set_title("1000 draws")
    right.set_ylabel("time (ms)")
    legend_above(figure, left, place="outside upper left", columns=1)
    legend_above(figure, right, place="outside upper right", columns=2)
    return figure


def _sampling(axes: Axes, rows: DataFrame) -> None:
    for (name, (column, unit)), color in zip(SECONDS.items(), CHAIN_COLORS, strict=False):
        seconds = unit * floats(rows, column)
        if np.isfinite(seconds).any():
            axes.plot(
                floats(rows, "parameters"), seconds, "o-", color=color, markersize=4, label=name
            )


def _using(axes: Axes, rows: DataFrame) -> None:
    parameters = floats(rows, "parameters")
    for count, color in zip(POINTS, CHAIN_COLORS, strict=False):
        name = f"predict {count} point{'s' if count > 1 else ''}"
        predicted, raw = (floats(rows, f"{way}_{count}_ms") for way in ("predict", "raw"))
        axes.plot(parameters, predicted, "o-", color=color, markersize=4, label=name)
        axes.plot(parameters, raw, "x:", color=color, markersize=5, linewidth=0.8)
    axes.plot([], [], "x:", color=BLACK, markersize=5, linewidth=0.8, label="all draws alone")
    axes.plot(parameters, floats(rows, "load_ms"), "s--", color=BLACK, markersize=4, label="load")


def loadings(table: DataFrame) -> Figure:
    """Draw histograms of the loading times of each network in ms, without the slowest 1 %."""
    figure = new_figure(height=3.2)
    axes = figure.subplots()
    networks = [
        (number, floats(rows, "load_ms")) for number, rows in table.groupby("parameters", sort=True)
    ]
    for place, (number, taken) in enumerate(networks):
        label = f"{number:.0f} parameters, median {np.median(taken):.3g} ms of {len(taken)}"
        share = 100 * _counts(taken) / len(taken)
        axes.stairs(share, _edges(taken), color=chain_color(place), label=label)
    axes.set(xscale="log", xlabel="time to load 1000 draws (ms)", ylabel="loadings (%)")
    spread_log_labels(axes.xaxis)
    legend_above(figure, axes, columns=2)
    return figure


def _edges(taken: Floats) -> Floats:
    """Return bins of equal ratio from the least to the largest value in the figure."""
    low, high = np.min(taken), np.quantile(taken, SHOWN)
    return np.geomspace(low, max(high, 1.01 * low), BINS + 1)


def _counts(taken: Floats) -> Floats:
    return np.histogram(taken, _edges(taken))[0].astype(np.float64)
