"""What keeping every n-th draw costs and saves."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from pandas import DataFrame

from nlobayes.plots.style import (
    BLUE,
    VERMILLION,
    Floats,
    legend_above,
    new_figure,
    reference_line,
    spread_log_labels,
)
from nlobayes.plots.tables import floats


def thinning(table: DataFrame) -> Figure:
    """Effective sample size, file size and change of the scores against the thinning step.

    Without an RMSE, as of classes, three panels.
    """
    table = table.sort_values("step")
    figure = new_figure(height=4.4)
    panels = figure.subplots(2, 2, sharex=True)
    rmse, lppd = floats(table, "rmse"), floats(table, "lppd")
    first = f"at step {table['step'].iloc[0]:g}"
    _panel(panels[0, 0], table, floats(table, "ess_f_median"))
    panels[0, 0].set(title="median ESS of the predictions", ylabel="draws")
    _panel(panels[0, 1], table, floats(table, "megabytes"))
    panels[0, 1].set(title="size of the draws", ylabel="MB")
    _panel(panels[1, 1], table, lppd - lppd[0])
    panels[1, 1].set(title=f"LPPD, {lppd[0]:.4g} {first}", ylabel="change (nats per point)")
    lowest = panels[1]
    if np.isfinite(rmse).all():
        _panel(panels[1, 0], table, 100 * (rmse / rmse[0] - 1))
        panels[1, 0].set(title=f"RMSE, {rmse[0]:.4g} {first}", ylabel="change (%)")
        reference_line(panels[1, 0], y=0.0)
    else:
        panels[1, 0].remove()
        panels[0, 0].tick_params(labelbottom=True)
        lowest = panels.diagonal()
    reference_line(panels[1, 1], y=0.0)
    for axes in lowest:
        axes.set_xlabel("thinning step (draws)")
    spread_log_labels(panels[0, 0].xaxis)
    legend_above(figure, panels[0, 0])
    return figure


def _panel(axes: Axes, table: DataFrame, values: Floats) -> None:
    step, chosen = floats(table, "step"), table["chosen"].to_numpy(dtype=bool)
    axes.plot(step, values, "o-", color=BLUE, label="every n-th draw kept")
    if chosen.any():
        axes.axvline(step[chosen][0], color=VERMILLION, linewidth=0.8, linestyle="--")
        label = f"chosen: n = {step[chosen][0]:g}"
        axes.plot(step[chosen], values[chosen], "D", color=VERMILLION, markersize=7, label=label)
    axes.set_xscale("log")
    axes.yaxis.set_major_locator(MaxNLocator(5))
