"""Figures of weights: pairs, which show several modes, and the history of single weights."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.contour import ContourSet
from matplotlib.figure import Figure
from pandas import DataFrame
from scipy.stats import gaussian_kde

from nlobayes.plots.axes import few_ticks, narrow, note_figure
from nlobayes.plots.convergence import MAX_VECTOR_POINTS, chain_legend
from nlobayes.plots.frames import by_chain, floats
from nlobayes.plots.style import Floats, chain_color, new_figure

GRID_POINTS = 60
DENSITY_LEVELS = (0.02, 0.1, 0.25, 0.5, 0.75, 1.0)
MAX_SHOWN_DRAWS = 800
"""Largest number of points per plane; more would hide the density."""

LEAST_RANGE = 1e-9
"""Relative range below which a weight does not move."""


def planes(table: DataFrame) -> Figure:
    """Draw the density of pairs of weights over all chains, with some draws of each chain on top.

    The density is a Gaussian kernel estimate with Scott's bandwidth, relative to its highest.
    """
    pairs = sorted(table["pair"].unique())
    if not pairs:
        return note_figure("a single weight: no pair to show")
    figure = new_figure(height=1.0 + 2.3 * -(-len(pairs) // 2))
    panels = figure.subplots(-(-len(pairs) // 2), 2, squeeze=False).ravel()
    filled = [
        _plane(axes, table[table["pair"] == pair])
        for axes, pair in zip(panels, pairs, strict=False)
    ]
    for axes in panels[len(pairs) :]:
        axes.remove()
    chain_legend(figure, panels[0])
    contours = [contour for contour in filled if contour is not None]
    if contours:
        label = "density over all chains,\nrelative to its highest"
        figure.colorbar(contours[0], ax=list(panels[: len(pairs)]), label=label, shrink=0.6)
    return figure


def _plane(axes: Axes, rows: DataFrame) -> ContourSet | None:
    names = _plain(rows["x_name"].iloc[0]), _plain(rows["y_name"].iloc[0])
    draws = np.stack([floats(rows, "x"), floats(rows, "y")])
    _scatter(axes, rows)
    x_label, y_label = (narrow(name, 32) for name in names)
    axes.set(xlabel=x_label, ylabel=y_label)
    for axis in (axes.xaxis, axes.yaxis):
        few_ticks(axis, 4)
    reason = _no_density(draws, names)
    if reason:
        axes.set_title(f"no density: {reason}", fontsize=8)
        return None
    return _density(axes, draws)


def _scatter(axes: Axes, rows: DataFrame) -> None:
    """Draw every n-th draw of the chains in turn, so that no chain covers the others."""
    index = rows.groupby("chain").cumcount().to_numpy()
    order = np.argsort(index, kind="stable")
    step = -(-len(rows) // MAX_SHOWN_DRAWS)
    shown = rows.iloc[order[index[order] % step == 0]]
    colors = [chain_color(int(chain)) for chain in shown["chain"]]
    axes.scatter(shown["x"], shown["y"], s=4, c=colors, alpha=0.8, linewidths=0, rasterized=True)
    for chain, _ in by_chain(rows, "x"):
        color, label = chain_color(chain), f"chain {chain}"
        axes.plot([], [], "o", color=color, markersize=3.5, label=label)


def _no_density(draws: Floats, names: tuple[str, str]) -> str:
    """Return the reason why the draws (weight, draw) span no plane; empty if they do."""
    still = np.ptp(draws, axis=1) <= LEAST_RANGE * np.abs(draws).max(axis=1)
    if still.any():
        return "never moved,\n" + ", ".join(np.array(names)[still])
    standardised = draws - draws.mean(axis=1, keepdims=True)
    standardised /= standardised.std(axis=1, keepdims=True)
    on_a_line = np.linalg.matrix_rank(standardised, rtol=1e-6) < 2
    return "all draws on one line" if on_a_line else ""


def _density(axes: Axes, draws: Floats) -> ContourSet:
    estimate = gaussian_kde(draws)
    margin = 2.5 * np.sqrt(np.diag(estimate.covariance))
    x, y = np.linspace(draws.min(axis=1) - margin, draws.max(axis=1) + margin, GRID_POINTS).T
    grid = np.stack([axis.ravel() for axis in np.meshgrid(x, y)])
    density = estimate(grid).reshape(GRID_POINTS, GRID_POINTS)
    return axes.contourf(
        x, y, density / density.max(), DENSITY_LEVELS, cmap="Greys", vmin=-0.15, vmax=1.5, zorder=0
    )


def history(table: DataFrame) -> Figure:
    """Draw the values of single weights of every chain, one panel per weight."""
    weights = list(dict.fromkeys(table["weight"]))
    height = -(-len(weights) // 2)
    figure = new_figure(height=0.9 + 1.35 * height)
    panels = figure.subplots(height, 2, sharex=True, squeeze=False).ravel()
    for axes, weight in zip(panels, weights, strict=False):
        rows = table[table["weight"] == weight]
        _history_panel(axes, rows, rasterized=len(table) > MAX_VECTOR_POINTS)
        axes.set_title(_plain(weight))
    for axes in panels[len(weights) :]:
        axes.remove()
    for axes in panels[max(0, len(weights) - 2) : len(weights)]:
        axes.set_xlabel("draw")
        axes.tick_params(labelbottom=True)
    figure.supylabel("value of the weight", fontsize=9)
    chain_legend(figure, panels[0])
    return figure


def _plain(name: object) -> str:
    """Escape the dollar signs of a name, which start a formula in matplotlib."""
    return str(name).replace("$", r"\$")


def _history_panel(axes: Axes, rows: DataFrame, *, rasterized: bool) -> None:
    for chain, own in by_chain(rows, "value"):
        axes.plot(
            own["draw"],
            own["value"],
            color=chain_color(chain),
            linewidth=0.6,
            alpha=0.85,
            label=f"chain {chain}",
            rasterized=rasterized,
        )
    axes.margins(x=0.01)
