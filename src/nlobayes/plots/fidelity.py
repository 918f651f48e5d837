"""Distance of approximations from the exact posterior, and their CPU time."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from pandas import DataFrame

from nlobayes.plots.axes import few_ticks, fitting_scale, narrow
from nlobayes.plots.frames import finite, floats, short_names
from nlobayes.plots.style import BLACK, BLUE, GREY, RED, Floats, new_figure
from nlobayes.untyped import Document

Look = Document
"""Arguments of matplotlib for a point."""
PANELS = {
    "mean_difference_rms": "error of mean (exact sd)",
    "sd_ratio_median": "sd / exact sd",
    "wasserstein_mean": "Wasserstein (exact sd)",
    "total_variation_mean": "total variation (%)",
    "coverage_95": "95 % coverage (%)",
    "cpu_seconds": "CPU time (s)",
}
PERCENT = {"total_variation_mean", "coverage_95"}
NOMINAL = {"sd_ratio_median": 1.0, "coverage_95": 95.0}
SPANS = {"sd_ratio_median": ("sd_ratio_p5", "sd_ratio_p95")}
EXACT: Look = {"color": BLACK, "marker": "D", "markersize": 4, "linestyle": ""}
APPROXIMATION: Look = {**EXACT, "color": BLUE, "marker": "o"}
LOOKS = {
    "exact (distances: between its halves)": EXACT,
    "approximation (line: 90 % of rows)": APPROXIMATION,
}
FEWEST_ON_A_LOG_AXIS = 2
LINE = 95
"""Characters of a line across the figure."""


def fidelity(table: DataFrame) -> Figure:
    """Draw measures, coverage and CPU time, one row per method; the exact one is black and first.

    The row of the exact method compares one half of its chains with the other. The line of an sd
    ratio holds 90 % of the rows.
    """
    figure = new_figure(height=1.4 + 2 * (0.7 + 0.2 * len(table)))
    panels = figure.subplots(2, 3, sharey=True).ravel()
    for axes, (name, title) in zip(panels, PANELS.items(), strict=True):
        _panel(axes, table, name)
        axes.set_title(title)
    panels[0].set_yticks(range(len(table)), short_names([str(one) for one in table["method"]]))
    panels[0].set_ylim(len(table) - 0.5, -0.5)
    handles = [Line2D([], [], label=name, **look) for name, look in LOOKS.items()]
    legend = figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    if warning := _unconverged(table):
        legend.set_title(narrow(warning, LINE))
        legend.get_title().set(color=RED, fontsize=8)
    return figure


def _panel(axes: Axes, table: DataFrame, name: str) -> None:
    factor = 100.0 if name in PERCENT else 1.0
    (rows,) = finite(table, name).nonzero()
    value, *ends = (factor * floats(table, one)[rows] for one in (name, *SPANS.get(name, ())))
    axes.grid(axis="y", color=GREY, linewidth=0.3, alpha=0.4)
    for place, row in enumerate(rows):
        look = APPROXIMATION if row else EXACT
        if ends:
            span = (end[place] for end in ends)
            axes.hlines(row, *span, color=look["color"], linewidth=1.2)
        axes.plot(value[place], row, **look)
    if name in NOMINAL:
        axes.axvline(NOMINAL[name], color=BLACK, linewidth=0.8, zorder=0.5)
    if not rows.size:
        axes.text(0.5, 0.5, "not known", ha="center", va="center", transform=axes.transAxes)
    _scale(axes, name, np.concatenate([value, *ends]))
    few_ticks(axes.xaxis, 3, least=3)
    axes.xaxis.set_major_formatter("{x:g}")


def _scale(axes: Axes, name: str, values: Floats) -> None:
    """Make an axis logarithmic if one outlying method would make the others coincide."""
    several = values.size >= FEWEST_ON_A_LOG_AXIS
    spread = name != "coverage_95" and several and fitting_scale(values) == "log"
    if spread or (several and name == "cpu_seconds"):
        axes.set_xscale("log")
    elif name not in NOMINAL:
        axes.set_xlim(left=0)


def _unconverged(table: DataFrame) -> str:
    """Warn that the exact run has not converged, with its failed checks; empty if it has."""
    exact = table.iloc[0]
    if exact["converged"] != "NO":
        return ""
    return f"the exact run has NOT CONVERGED: {str(exact['failed_checks']).replace(' ', ', ')}"
