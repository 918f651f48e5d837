"""Error of the surrogate of each round against the points that were bought for it."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator
from pandas import DataFrame

from nlobayes.plots.frames import floats
from nlobayes.plots.style import BLUE, VERMILLION, legend_above, new_figure, spread_log_labels

ERRORS = (("p50", "median", "o", BLUE), ("p95", "95 % of the points", "s", VERMILLION))


def rounds(table: DataFrame) -> Figure:
    """Draw both quantiles of the relative error by points, with upper bounds and the target.

    A quantile without a bound has too few held-out points for one.
    """
    table = table.sort_values("points")
    bought, figure = floats(table, "points"), new_figure(height=3.2)
    axes = figure.subplots()
    for column, label, marker, color in ERRORS:
        error, high = (100 * floats(table, column + end) for end in ("", "_high"))
        lengths = [np.zeros(len(error)), np.nan_to_num(high - error)]
        axes.errorbar(bought, error, lengths, fmt=f"{marker}-", color=color, capsize=3, label=label)
        wanted = 100 * floats(table, f"{column}_wanted")[-1]
        axes.axhline(
            wanted, color=color, linewidth=0.8, linestyle="--", label=f"target, {wanted:g} %"
        )
    axes.set(xscale="log", yscale="log", xlabel="points of the program")
    axes.set_ylabel("relative error of held-out points (%)")
    axes.set_xticks(bought, [f"{points:g}" for points in bought])
    axes.xaxis.set_minor_locator(NullLocator())
    spread_log_labels(axes.yaxis)
    legend_above(figure, axes, columns=4)
    return figure
