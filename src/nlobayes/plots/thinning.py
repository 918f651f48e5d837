"""Loss and saving of thinning chains to every n-th draw."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from pandas import DataFrame

from nlobayes.plots.frames import floats
from nlobayes.plots.style import (
    BLUE,
    GREEN,
    VERMILLION,
    Floats,
    legend_above,
    new_figure,
    reference_line,
    spread_log_labels,
)

MARKED = (("stored", "s", GREEN), ("chosen", "D", VERMILLION))
SCORED = "test reference points"


def thinning(table: DataFrame) -> Figure:
    """Draw effective sample size, file size and change of the scores against the thinning step.

    Step 1 means all draws; every n-th is stored. Without an RMSE, as for classes, there are three
    panels.
    """
    table = table.sort_values("step")
    figure = new_figure(height=4.6)
    panels = figure.subplots(2, 2, sharex=True)
    rmse, lppd = floats(table, "rmse"), floats(table, "lppd")
    of_classes = not np.isfinite(rmse).all()
    _panel(panels[0, 0], table, floats(table, "ess_f_median"))
    panels[0, 0].set(title="median ESS of the predictions", ylabel="draws")
    panels[0, 0].set_ylim(bottom=0)
    _panel(panels[0, 1], table, floats(table, "megabytes"))
    panels[0, 1].set(title="size of the draws", ylabel="MB")
    _panel(panels[1, 1], table, lppd - lppd[0])
    noise = "" if of_classes else ", Gaussian noise"
    panels[1, 1].set(ylabel="change (nats per point)")
    title = f"LPPD, {lppd[0]:.4g} of all draws\n({SCORED}{noise})"
    panels[1, 1].set_title(title, fontsize=8)
    lowest = panels[1]
    if of_classes:
        panels[1, 0].remove()
        panels[0, 0].tick_params(labelbottom=True)
        lowest = panels.diagonal()
    else:
        _panel(panels[1, 0], table, 100 * (rmse / rmse[0] - 1))
        panels[1, 0].set(ylabel="change (%)")
        panels[1, 0].set_title(f"RMSE, {rmse[0]:.4g} of all draws\n({SCORED})", fontsize=8)
        reference_line(panels[1, 0], y=0.0)
    reference_line(panels[1, 1], y=0.0)
    for axes in lowest:
        axes.set_xlabel("thinning step (draws)")
    spread_log_labels(panels[0, 0].xaxis)
    legend_above(figure, panels[0, 0], columns=3)
    return figure


def _panel(axes: Axes, table: DataFrame, values: Floats) -> None:
    step, ess = floats(table, "step"), floats(table, "ess_f_median")
    axes.plot(step, values, "o-", color=BLUE, label="every n-th draw kept")
    for column, marker, color in MARKED:
        there = table[column].to_numpy(dtype=bool)
        if there.any():
            [n], [left] = step[there], 100 * ess[there] / ess[0]
            axes.axvline(n, color=color, linewidth=0.8, linestyle="--")
            label = f"{column}: n = {n:g}, {left:.0f} % of the ESS"
            axes.plot(n, values[there], marker, color=color, markersize=7, label=label)
    axes.set_xscale("log")
    axes.yaxis.set_major_locator(MaxNLocator(5))
