"""The loss landscape: a plane through three MAPs, paths between two, and their distances."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.contour import ContourSet
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import LogFormatterMathtext, LogLocator
from pandas import DataFrame

from nlobayes.plots.convergence import MAX_NAMED_CHAINS
from nlobayes.plots.frames import floats
from nlobayes.plots.style import (
    BLACK,
    BLUE,
    CHAIN_COLORS,
    VERMILLION,
    Floats,
    chain_color,
    legend_above,
    new_figure,
)

ENERGY = "energy above the lowest (nats per row)"
"""Negative log posterior, which has any sign, above the lowest value in the figure."""

LEVELS = 17
DEEPEST = 1e-5
"""Energies below this share of the highest are drawn as equal to it."""


def landscape(plane: DataFrame, maps: DataFrame, path: DataFrame) -> Figure:
    """Draw the energy over the plane through three MAPs, and along two paths between two."""
    energies = [floats(plane, "energy"), floats(maps, "energy")]
    energies += [floats(path, "straight"), floats(path, "bezier")]
    lowest = min(float(energy[np.isfinite(energy)].min(initial=np.inf)) for energy in energies)
    floor = _floor(energies[0] - lowest)
    figure = new_figure(height=4.0)
    left, right = figure.subplots(1, 2)
    filled = _plane_panel(left, plane, lowest, floor)
    _mark_maps(left, maps)
    _path_panel(right, path, lowest, floor)
    first, second = (f"{chain:g}" for chain in maps["chain"].iloc[:2])
    right.set_xlabel(f"t, 0 at MAP {first} and 1 at MAP {second}")
    bar = figure.colorbar(filled, ax=left, location="bottom", label=ENERGY, aspect=25)
    bar.ax.xaxis.set_major_locator(LogLocator())
    bar.ax.xaxis.set_major_formatter(LogFormatterMathtext())
    legend_above(figure, right, place="outside upper right", columns=2)
    return figure


def _floor(above: Floats) -> float:
    """Return the least energy of a logarithmic scale; any number if all are equal."""
    positive = above[(above > 0) & np.isfinite(above)]
    return max(float(positive.min()), DEEPEST * float(positive.max())) if positive.size else DEEPEST


def _plane_panel(axes: Axes, plane: DataFrame, lowest: float, floor: float) -> ContourSet:
    grid = plane.pivot(index="beta", columns="alpha", values="energy")
    above = np.ma.masked_invalid(np.clip(grid.to_numpy() - lowest, floor, None))
    highest = max(float(above.max()), 10 * floor)
    filled = axes.contourf(
        grid.columns,
        grid.index,
        above,
        np.geomspace(floor, highest * (1 + 1e-9), LEVELS).tolist(),
        norm=LogNorm(floor, highest),
        cmap="cividis",
    )
    axes.set_aspect("equal")
    axes.set_xlabel(r"$\alpha$ (units of the weights)")
    axes.set_ylabel(r"$\beta$ (units of the weights)")
    return filled


def _mark_maps(axes: Axes, maps: DataFrame) -> None:
    outline = [withStroke(linewidth=2.5, foreground="white")]
    for chain, alpha, beta in zip(maps["chain"], maps["alpha"], maps["beta"], strict=True):
        axes.plot(alpha, beta, "o", color=VERMILLION, markeredgecolor="white", markersize=7)
        axes.annotate(
            f"MAP {chain:g}",
            (alpha, beta),
            (0, 7),
            textcoords="offset points",
            ha="center",
            path_effects=outline,
        )


def _path_panel(axes: Axes, path: DataFrame, lowest: float, floor: float) -> None:
    paths = {"straight": ("straight line", VERMILLION, "--"), "bezier": ("Bezier curve", BLUE, "-")}
    for column, (label, color, linestyle) in paths.items():
        above = np.clip(floats(path, column) - lowest, floor, None)
        axes.plot(path["t"], above, linestyle, color=color, label=label)
    axes.set_yscale("log")
    axes.set_ylabel(ENERGY)
    axes.margins(x=0.01)


def distances(table: DataFrame) -> Figure:
    """Draw the distance between the positions of every two chains during pretraining."""
    pairs = list(table.groupby(["first", "second"]))
    named = len(pairs) <= MAX_NAMED_CHAINS
    figure = new_figure(height=3.2)
    axes = figure.subplots()
    for index, ((first, second), rows) in enumerate(pairs):
        rows = rows.sort_values("epoch")
        axes.plot(
            rows["epoch"],
            rows["distance"],
            color=chain_color(index) if named else BLUE,
            linewidth=1.2 if named else 0.6,
            linestyle="--" if named and index >= len(CHAIN_COLORS) else "-",
            alpha=1 if named else 0.4,
            label=f"chains {first:g} and {second:g}" if named else "_",
        )
    if not named:
        middle = table.groupby("epoch")["distance"].median()
        axes.plot([], [], color=BLUE, linewidth=0.6, label=f"{len(pairs)} pairs of chains")
        axes.plot(middle.index, middle, color=BLACK, label="median over the pairs")
    axes.margins(x=0.01)
    axes.set_xlabel("epoch")
    axes.set_ylabel("distance between two chains\n(Euclidean, units of the weights)")
    legend_above(figure, axes, columns=4)
    return figure
