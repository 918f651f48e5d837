"""Are the stated uncertainties right: pulls, coverage, two predictive distributions."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from pandas import DataFrame

from nlobayes.plots.style import (
    BLACK,
    SPLIT_COLORS,
    UNCERTAINTY_COLORS,
    VERMILLION,
    Floats,
    legend_above,
    new_figure,
    reference_line,
)
from nlobayes.plots.tables import floats, split_rows

PULL_LIMIT, PULL_BIN = 6.0, 0.25
PULL_EDGES = np.arange(-PULL_LIMIT, PULL_LIMIT + PULL_BIN, PULL_BIN).tolist()


def pulls(predictions: DataFrame) -> Figure:
    """Distribution of (true - predicted) / sd on the test split against N(0, 1)."""
    rows = split_rows(predictions, "test")
    figure = new_figure(height=3.4)
    left, right = figure.subplots(1, 2, sharex=True)
    for axes in (left, right):
        _pull_histogram(axes, floats(rows, "z_total"), "total", filled=True)
        _pull_histogram(axes, floats(rows, "z_epistemic"), "epistemic", filled=False)
        z = np.linspace(-PULL_LIMIT, PULL_LIMIT, 241)
        axes.plot(z, _gaussian(z, 0.0, 1.0), color=BLACK, linewidth=1, label=r"$\mathcal{N}(0, 1)$")
        axes.set_xlabel("pull z = (true − predicted) / sd")
    left.set_ylabel("density")
    right.set_yscale("log")
    right.set_ylim(bottom=0.5 / (len(rows) * PULL_BIN))
    legend_above(figure, left)
    return figure


def _pull_histogram(axes: Axes, z: Floats, kind: str, *, filled: bool) -> None:
    """Histogram that keeps the pulls beyond the axis, in its first and last bin."""
    axes.hist(
        np.clip(z, -PULL_LIMIT, PULL_LIMIT),
        PULL_EDGES,
        density=True,
        histtype="stepfilled" if filled else "step",
        color=UNCERTAINTY_COLORS[kind],
        alpha=0.4 if filled else 1,
        linewidth=0 if filled else 1.4,
        label=rf"{kind}, $\sigma_z$ = {z.std():.2f}",
    )


def coverage(table: DataFrame) -> Figure:
    """Share of true values within k standard deviations, minus the Gaussian share, per split."""
    figure = new_figure(height=4.0)
    panels = figure.subplots(2, 2, sharex=True)
    for column, kind in zip(panels.T, ("total", "epistemic"), strict=True):
        _coverage_column(column[0], column[1], table, kind)
    panels[0, 0].set_ylabel("coverage (%)")
    panels[1, 0].set_ylabel("coverage − nominal\n(percentage points)")
    legend_above(figure, panels[0, 0])
    return figure


def _coverage_column(top: Axes, bottom: Axes, table: DataFrame, kind: str) -> None:
    nominal = table.drop_duplicates("k").sort_values("k")
    k, level = floats(nominal, "k"), 100 * floats(nominal, "nominal")
    top.hlines(level, k - 0.35, k + 0.35, color=BLACK, linewidth=0.8, label="nominal")
    present = [split for split in SPLIT_COLORS if (table["split"] == split).any()]
    for index, split in enumerate(present):
        rows = table[table["split"] == split]
        x = floats(rows, "k") + 0.18 * (index - (len(present) - 1) / 2)
        for axes, origin in ((top, 0.0), (bottom, floats(rows, "nominal"))):
            color = SPLIT_COLORS[split]
            axes.plot(x, 100 * (floats(rows, kind) - origin), "o", color=color, label=split)
            if kind == "total":
                lower, upper = (100 * (floats(rows, edge) - origin) for edge in ("lower", "upper"))
                axes.vlines(x, lower, upper, color=color, linewidth=1.2)
    reference_line(bottom, y=0.0)
    top.set_ylim(0, 103)
    top.set_title(f"{kind} uncertainty")
    bottom.set_xlabel("k (standard deviations)")
    bottom.set_xticks(k)


def cases(table: DataFrame) -> Figure:
    """Predictive distributions of a well and of a badly predicted point, with the truth."""
    figure = new_figure(height=3.2)
    names = [name for name in ("good", "bad") if (table["case"] == name).any()]
    for axes, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
        _case_panel(axes, table[table["case"] == name], name)
    figure.axes[0].set_ylabel("predictive density (1/dex)")
    legend_above(figure, figure.axes[0])
    return figure


def _case_panel(axes: Axes, rows: DataFrame, name: str) -> None:
    draws = floats(rows, "draw_log10")
    mean, sd = rows["mean_log10"].iloc[0], rows["total_sd_log10"].iloc[0]
    truth = rows["target_log10"].iloc[0]
    edges = _central_bins(draws)
    x = np.linspace(edges[0], edges[-1], 200)
    axes.hist(
        draws,
        edges.tolist(),
        weights=np.full(len(draws), 1 / (len(draws) * (edges[1] - edges[0]))),
        color=UNCERTAINTY_COLORS["total"],
        alpha=0.35,
        label="predictive draws",
    )
    axes.plot(x, _gaussian(x, mean, sd), color=BLACK, linewidth=1, label="Gaussian, same mean, sd")
    axes.axvline(truth, color=VERMILLION, label="true value")
    distance = abs(truth - mean) / sd
    axes.set_title(f"{name} case, point {rows['point'].iloc[0]}: {distance:.1f} sd off")
    axes.set_xlabel(r"$\log_{10}(\sigma\,/\,\mathrm{pb})$")
    axes.xaxis.set_major_locator(MaxNLocator(5))


def _central_bins(draws: Floats) -> Floats:
    """Edges of 40 bins over the central 99 % of the draws and a margin: tails may be heavy."""
    low, high = np.percentile(draws, [0.5, 99.5])
    margin = 0.25 * (high - low) or 1e-6
    return np.linspace(low - margin, high + margin, 41)


def _gaussian(x: Floats, mean: float, sd: float) -> Floats:
    return np.exp(-0.5 * ((x - mean) / sd) ** 2) / (sd * np.sqrt(2 * np.pi))
