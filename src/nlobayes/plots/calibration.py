"""Are the stated uncertainties right: pulls, coverage, PIT, two predictive distributions."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from pandas import DataFrame
from scipy.stats import binom

from nlobayes.plots.axes import Labels, read_labels, with_unit
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
from nlobayes.plots.tables import by_split, floats, split_rows

PULL_LIMIT, PULL_BIN = 6.0, 0.25
BAND_OPACITY = 0.12
PULL_EDGES = np.arange(-PULL_LIMIT, PULL_LIMIT + PULL_BIN, PULL_BIN).tolist()
FEWEST_PIT_BINS, MOST_PIT_BINS, POINTS_PER_PIT_BIN = 5, 20, 20


def pulls(predictions: DataFrame) -> Figure:
    """Distribution of (true - predicted) / sd on the test split against N(0, 1)."""
    rows = split_rows(predictions, "test")
    figure = new_figure(height=3.4)
    left, right = figure.subplots(1, 2, sharex=True)
    for axes in (left, right):
        _pull_histogram(axes, floats(rows, "z_total"), "total", filled=True)
        _pull_histogram(
            axes,
            floats(rows.dropna(subset=["z_epistemic"]), "z_epistemic"),
            "epistemic",
            filled=False,
        )
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
    if not len(z):
        axes.plot([], [], " ", label=f"{kind}: no spread")
        return
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


def coverage(coverage: DataFrame) -> Figure:
    """Share of true values within k standard deviations, minus the Gaussian share, per split."""
    figure = new_figure(height=4.0)
    panels = figure.subplots(2, 2, sharex=True, sharey="row")
    for (top, bottom), kind in zip(panels.T, ("total", "epistemic"), strict=True):
        _nominal_coverage(top, coverage)
        _coverage_lines(top, bottom, coverage, kind)
        reference_line(bottom, y=0.0)
        absent = "" if coverage[kind].notna().any() else ": no spread"
        top.set_title(f"{kind} uncertainty{absent}")
        bottom.set_xlabel("k (standard deviations)")
        bottom.set_xticks(range(6))
    panels[0, 0].set_xlim(0, 5)
    panels[0, 0].set_ylim(0, 103)
    panels[0, 0].set_ylabel("coverage (%)")
    panels[1, 0].set_ylabel("coverage − nominal\n(percentage points)")
    legend_above(figure, panels[0, 0])
    return figure


def _nominal_coverage(axes: Axes, coverage: DataFrame) -> None:
    rows = coverage.drop_duplicates("k").sort_values("k")
    nominal = 100 * floats(rows, "nominal")
    axes.plot(rows["k"], nominal, color=BLACK, linewidth=1, linestyle="--", label="Gaussian")


def _coverage_lines(top: Axes, bottom: Axes, coverage: DataFrame, kind: str) -> None:
    for split, rows in by_split(coverage):
        k, nominal = floats(rows, "k"), floats(rows, "nominal")
        for axes, origin in ((top, 0.0), (bottom, nominal)):
            share, lower, upper = (
                100 * (floats(rows, column) - origin) for column in (kind, "lower", "upper")
            )
            axes.plot(k, share, color=SPLIT_COLORS[split], label=split)
            if kind == "total":
                _band(axes, k, lower, upper, split)


def levels(levels: DataFrame) -> Figure:
    """Observed minus nominal coverage of the central interval of every level, per split."""
    figure = new_figure(height=3.2)
    axes = figure.subplots()
    for split, rows in by_split(levels):
        level = floats(rows, "level")
        share, lower, upper = (
            100 * (floats(rows, column) - level) for column in ("coverage", "lower", "upper")
        )
        axes.plot(100 * level, share, color=SPLIT_COLORS[split], label=split)
        _band(axes, 100 * level, lower, upper, split)
    reference_line(axes, y=0.0)
    axes.set_xlim(0, 100)
    axes.set_xlabel("level of the central interval (%)")
    axes.set_ylabel("coverage − level (percentage points)")
    legend_above(figure, axes)
    return figure


def pit(predictions: DataFrame, pit: DataFrame) -> Figure:
    """Probability integral transform of every split: its density, and its ECDF minus uniform."""
    figure = new_figure(height=3.4)
    left, right = figure.subplots(1, 2)
    _pit_histograms(left, predictions)
    for split, rows in by_split(pit):
        u = floats(rows, "u")
        difference, lower, upper = (
            floats(rows, column) - u for column in ("ecdf", "lower", "upper")
        )
        right.plot(u, difference, color=SPLIT_COLORS[split], label=split)
        if split == "test":
            right.fill_between(u, lower, upper, color=BLACK, alpha=BAND_OPACITY, linewidth=0)
        else:
            right.plot(u, lower, u, upper, color=SPLIT_COLORS[split], linewidth=0.7, linestyle=":")
    reference_line(right, y=0.0)
    right.set_xlabel("u, predictive probability below the truth")
    right.set_ylabel("ECDF − u")
    right.set_xlim(0, 1)
    legend_above(figure, left)
    return figure


def _pit_histograms(axes: Axes, predictions: DataFrame) -> None:
    """Densities with equal bins, with the 95 % binomial band of the test split's bins."""
    rows = split_rows(predictions, "test")
    count = int(np.clip(len(rows) // POINTS_PER_PIT_BIN, FEWEST_PIT_BINS, MOST_PIT_BINS))
    low, high = binom.ppf((0.025, 0.975), len(rows), 1 / count) * count / len(rows)
    axes.axhspan(low, high, color=BLACK, alpha=BAND_OPACITY, linewidth=0, label="95 % if uniform")
    for split, part in by_split(predictions):
        filled = split == "test"
        axes.hist(
            floats(part, "pit"),
            np.linspace(0, 1, count + 1).tolist(),
            density=True,
            histtype="stepfilled" if filled else "step",
            color=SPLIT_COLORS[split],
            alpha=0.4 if filled else 1,
            linewidth=0 if filled else 1.4,
            label=split,
        )
    reference_line(axes, y=1.0)
    axes.set_xlim(0, 1)
    axes.set_xlabel("u, predictive probability below the truth")
    axes.set_ylabel("density")


def _band(axes: Axes, x: Floats, lower: Floats, upper: Floats, split: str) -> None:
    axes.fill_between(x, lower, upper, color=SPLIT_COLORS[split], alpha=0.18, linewidth=0)


def cases(cases: DataFrame, labels: DataFrame) -> Figure:
    """Predictive distributions of a well and of a badly predicted point, with the truth."""
    target = read_labels(labels)
    figure = new_figure(height=3.2)
    names = [name for name in ("good", "bad") if (cases["case"] == name).any()]
    for axes, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
        _case_panel(axes, cases[cases["case"] == name], name, target)
    unit = f"1/{target.model_unit}" if target.model_unit else ""
    figure.axes[0].set_ylabel(with_unit("predictive density", unit))
    legend_above(figure, figure.axes[0])
    return figure


def _case_panel(axes: Axes, rows: DataFrame, name: str, target: Labels) -> None:
    draws = floats(rows, "draw")
    mean, sd = rows["mean"].iloc[0], rows["total_sd"].iloc[0]
    truth = rows["truth"].iloc[0]
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
    axes.set_xlabel(target.model_axis)
    axes.xaxis.set_major_locator(MaxNLocator(5))


def _central_bins(draws: Floats) -> Floats:
    """Edges of 40 bins over the central 99 % of the draws and a margin: tails may be heavy."""
    low, high = np.percentile(draws, [0.5, 99.5])
    margin = 0.25 * (high - low) or 1e-6
    return np.linspace(low - margin, high + margin, 41)


def _gaussian(x: Floats, mean: float, sd: float) -> Floats:
    return np.exp(-0.5 * ((x - mean) / sd) ** 2) / (sd * np.sqrt(2 * np.pi))
