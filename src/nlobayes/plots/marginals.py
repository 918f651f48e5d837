"""Marginal densities of single parameters, chain by chain."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pandas import DataFrame

from nlobayes.plots.axes import few_ticks, narrow
from nlobayes.plots.convergence import chain_legend
from nlobayes.plots.frames import floats
from nlobayes.plots.style import chain_color, new_figure

COLUMNS = 3


def marginals(table: DataFrame) -> Figure:
    """Draw the density of the draws of each chain, one panel per parameter, with its R-hat."""
    names = list(dict.fromkeys(table["parameter"]))
    lines = -(-len(names) // COLUMNS)
    figure = new_figure(height=0.9 + 1.65 * lines)
    panels = figure.subplots(lines, min(COLUMNS, len(names)), squeeze=False)
    for axes, name in zip(panels.ravel(), names, strict=False):
        _panel(axes, table[table["parameter"] == name], str(name))
    for axes in panels.ravel()[len(names) :]:
        axes.remove()
    for axes in panels[:, 0]:
        axes.set_ylabel("density")
    for axes in panels.ravel()[max(0, len(names) - COLUMNS) : len(names)]:
        axes.set_xlabel("value of the parameter\n(units of the network)")
    chain_legend(figure, panels[0, 0])
    return figure


def _panel(axes: Axes, rows: DataFrame, name: str) -> None:
    for chain, own in rows.groupby("chain"):
        number = int(str(chain))
        axes.stairs(
            floats(own, "density"),
            np.append(floats(own, "low"), own["high"].iloc[-1]),
            color=chain_color(number),
            linewidth=1.0,
            label=f"chain {number}",
        )
    rhat = rows["rhat"].iloc[0]
    label = "too few draws" if np.isnan(rhat) else f"{rhat:.3f}"
    # Names are text: matplotlib must not take a dollar sign for the start of a formula.
    plain = narrow(name.replace("$", r"\$"))
    axes.set_title(f"{plain}\n$\\hat{{R}}$ = {label}", fontsize=8)
    axes.set_ylim(bottom=0)
    few_ticks(axes.xaxis, 3)
    few_ticks(axes.yaxis, 3)
