"""How far approximations are from the exact posterior, and what they cost."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pandas import DataFrame

from nlobayes.plots.axes import few_ticks
from nlobayes.plots.scores import finite, short_names
from nlobayes.plots.style import BLACK, BLUE, RED, new_figure
from nlobayes.plots.tables import floats

PANELS = {
    "mean_difference_rms": "error of mean (exact sd)",
    "sd_ratio_median": "sd / exact sd",
    "wasserstein_mean": "Wasserstein-1 (exact sd)",
    "total_variation_mean": "total variation (%)",
    "coverage_95": "95 % coverage (%)",
    "cpu_seconds": "CPU time (s)",
}
PERCENT = {"total_variation_mean", "coverage_95"}
NOMINAL = {"sd_ratio_median": 1.0, "coverage_95": 95.0}
SPAN = ("sd_ratio_p5", "sd_ratio_p95")
FEWEST_ON_A_LOG_AXIS = 2


def fidelity(table: DataFrame) -> Figure:
    """Measures, coverage and CPU time, a row for each method; the exact one is black, the first.

    The row of the exact method compares one half of its chains with the other.
    """
    figure = new_figure(height=1.4 + 2 * (0.7 + 0.2 * len(table)))
    panels = figure.subplots(2, 3, sharey=True).ravel()
    for axes, (name, title) in zip(panels, PANELS.items(), strict=True):
        _panel(axes, table, name)
        axes.set_title(title)
    panels[0].set_yticks(range(len(table)), short_names([str(one) for one in table["method"]]))
    panels[0].set_ylim(len(table) - 0.5, -0.5)
    if said := _unconverged(table):
        figure.suptitle(said, color=RED, fontsize=8, wrap=True)
    return figure


def _panel(axes: Axes, table: DataFrame, name: str) -> None:
    factor = 100.0 if name in PERCENT else 1.0
    known = finite(table, name)
    value = factor * floats(table, name)
    for row in known.nonzero()[0]:
        color = BLUE if row else BLACK
        if name == "sd_ratio_median":
            axes.hlines(row, *(floats(table, end)[row] for end in SPAN), color=color, linewidth=1.2)
        axes.plot(value[row], row, "o" if row else "D", color=color, markersize=4)
    if name in NOMINAL:
        axes.axvline(NOMINAL[name], color=BLACK, linewidth=0.8, zorder=0.5)
    if name == "cpu_seconds" and known.sum() >= FEWEST_ON_A_LOG_AXIS:
        axes.set_xscale("log")
    elif name not in NOMINAL:
        axes.set_xlim(left=0)
    if not known.any():
        axes.text(0.5, 0.5, "not known", ha="center", va="center", transform=axes.transAxes)
    few_ticks(axes.xaxis, 3, least=3)


def _unconverged(table: DataFrame) -> str:
    """Say that what approximations are held against has not converged, and what failed."""
    exact = table.iloc[0]
    if exact["converged"] != "NO":
        return ""
    return f"the exact run has NOT CONVERGED: {str(exact['failed_checks']).replace(' ', ', ')}"
