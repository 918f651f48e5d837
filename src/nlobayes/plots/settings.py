"""Distributions of the settings of a grid in one figure: their pulls, and their weights."""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from pandas import DataFrame
from scipy.stats import norm

from nlobayes.plots.axes import few_ticks, fitting_scale, note_figure
from nlobayes.plots.frames import floats, short_names
from nlobayes.plots.style import BLACK, CHAIN_COLORS, legend_with_warnings, new_figure

COLORS = [color for color in CHAIN_COLORS if color != BLACK]
MOST = 10
"""Largest number of settings in a figure; of more, these are chosen evenly over their order."""
DASHES: tuple[Literal["-", "--"], ...] = ("-", "--")
KINDS = {"total": "total sd", "epistemic": "sd of the draws alone"}
QUANTITIES = {
    "weight": "weight, over all weights and draws",
    "sd": "sd of a weight over the draws",
}


class Setting(NamedTuple):
    """One setting of a grid, and how it is drawn."""

    name: str
    color: str
    dashes: Literal["-", "--"]
    rows: DataFrame

    def key(self, numbers: str = "") -> Line2D:
        """Return the entry of the legend."""
        label = f"{self.name}: {numbers}" if numbers else self.name
        return Line2D([], [], color=self.color, linestyle=self.dashes, label=label)


def pulls(table: DataFrame) -> Figure:
    """Draw the distribution of (true - predicted) / sd of test rows of settings against N(0, 1)."""
    if table.empty:
        return note_figure(
            "no pulls: the release before scored these runs, or they predict classes"
        )
    figure = new_figure(height=3.0)
    panels = figure.subplots(1, len(KINDS), sharex=True)
    settings = [*_settings(table)]
    for axes, (kind, title) in zip(panels, KINDS.items(), strict=True):
        for setting in settings:
            _pulls(axes, setting, setting.rows[setting.rows["kind"] == kind])
        low, high = table["low"].min(), table["high"].max()
        z = np.linspace(low, high, 241)
        axes.plot(z, norm.pdf(z), color=BLACK, linewidth=1.2, zorder=3)
        axes.set(title=title, xlabel="pull z = (true − predicted) / sd", xlim=(low, high))
    panels[0].set_ylabel("density of test rows")
    normal = Line2D([], [], color=BLACK, linewidth=1.2, label=r"$\mathcal{N}(0, 1)$")
    keys = [setting.key(_sigmas(setting.rows)) for setting in settings]
    legend_with_warnings(figure, [*keys, normal], _warnings(table))
    return figure


def _pulls(axes: Axes, setting: Setting, rows: DataFrame) -> None:
    if rows.empty:
        return
    edges = np.append(floats(rows, "low"), rows["high"].iloc[-1])
    axes.stairs(
        floats(rows, "density"),
        edges,
        color=setting.color,
        linestyle=setting.dashes,
        linewidth=1.1,
    )


def _sigmas(rows: DataFrame) -> str:
    """Return the standard deviations of the pulls of each kind."""
    found = rows.groupby("kind", sort=False)["sigma_z"].first()
    sigmas = [f"{found[kind]:.2f} {kind}" for kind in KINDS if kind in found]
    return rf"$\sigma_z$ = {', '.join(sigmas)}"


def weight_spread(table: DataFrame) -> Figure:
    """Draw shares of all weights, and of their sds over the draws, below a value, per setting."""
    if table.empty:
        return note_figure("no weights of a fixed number in these runs")
    figure = new_figure(height=3.0)
    panels = figure.subplots(1, len(QUANTITIES), sharey=True)
    settings = [*_settings(table)]
    for axes, (quantity, label) in zip(panels, QUANTITIES.items(), strict=True):
        for setting in settings:
            rows = setting.rows[setting.rows["quantity"] == quantity]
            style = {"color": setting.color, "linestyle": setting.dashes, "linewidth": 1.1}
            axes.plot(rows["value"], 100 * rows["share"], **style)
        values = floats(table[table["quantity"] == quantity], "value")
        axes.set_xscale(fitting_scale(values) if quantity == "sd" else "linear")
        axes.set_xlabel(f"{label}\n(units of the network)")
        few_ticks(axes.xaxis, 5)
    panels[0].set(ylabel="share of weights below (%)", ylim=(0, 100))
    legend_with_warnings(figure, [setting.key() for setting in settings], _warnings(table))
    return figure


def _settings(table: DataFrame) -> Iterator[Setting]:
    """Yield the settings in their order, at most `MOST`, with the first and the last."""
    names = [str(name) for name in table["setting"].unique()]
    shown = np.unique(np.linspace(0, len(names) - 1, MOST).round().astype(int))
    short = short_names(names)
    for place, number in enumerate(shown if len(names) > MOST else range(len(names))):
        repeated, color = divmod(place, len(COLORS))
        rows = table[table["setting"] == names[number]]
        yield Setting(short[number], COLORS[color], DASHES[repeated], rows)


def _warnings(table: DataFrame) -> Sequence[str]:
    """List warnings for the comparison."""
    each = table.groupby("setting", sort=False)[["runs", "not_converged"]].max()
    runs, failed = each["runs"].sum(), each["not_converged"].sum()
    warnings = [f"not converged: {failed} of {runs} runs"] if failed else []
    if len(each) > MOST:
        warnings.append(f"{MOST} of {len(each)} settings are drawn; all are in the table")
    return warnings
