"""Figures of calibration: pulls, coverage, PIT, predictive distributions of single points."""

from collections.abc import Sequence
from math import ceil

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pandas import DataFrame
from scipy.stats import binom

from nlobayes.plots.axes import Labels, narrow, read_labels
from nlobayes.plots.frames import by_split, floats, split_rows
from nlobayes.plots.style import (
    BLACK,
    SPLIT_COLORS,
    UNCERTAINTY_COLORS,
    VERMILLION,
    Floats,
    density,
    legend_above,
    new_figure,
    reference_line,
)

PULL_LIMIT, PULL_BIN = 6.0, 0.25
BAND_OPACITY = 0.12
PULL_EDGES = np.arange(-PULL_LIMIT, PULL_LIMIT + PULL_BIN, PULL_BIN)
CASES_BESIDE = 3
"""Panels of cases in a row."""

CASE_RANGE, CASE_BIN = 5.0, 0.25
"""Half width of the axis of the cases and width of their bins, in predicted sd."""
FEWEST_PIT_BINS, MOST_PIT_BINS, POINTS_PER_PIT_BIN = 5, 20, 20


def pulls(predictions: DataFrame) -> Figure:
    """Draw the distribution of (true - predicted) / sd on the test split against N(0, 1)."""
    rows = split_rows(predictions, "test")
    figure = new_figure(height=3.4)
    left, right = figure.subplots(1, 2, sharex=True)
    for axes in (left, right):
        _pull_histogram(axes, floats(rows, "z_total"), "total", filled=True)
        epistemic = floats(rows.dropna(subset=["z_epistemic"]), "z_epistemic")
        _pull_histogram(axes, epistemic, "epistemic", filled=False)
        z = np.linspace(-PULL_LIMIT, PULL_LIMIT, 241)
        axes.plot(z, _standard_normal(z), color=BLACK, linewidth=1, label=r"$\mathcal{N}(0, 1)$")
        axes.set_xlabel("pull z = (true − predicted) / sd")
    left.set_ylabel("density")
    right.set_yscale("log")
    right.set_ylim(bottom=0.5 / (len(rows) * PULL_BIN))
    legend_above(figure, left)
    return figure


def _pull_histogram(axes: Axes, z: Floats, kind: str, *, filled: bool) -> None:
    if not len(z):
        axes.plot([], [], " ", label=f"{kind}: no spread")
        return
    label = rf"{kind}, $\sigma_z$ = {z.std():.2f}"
    density(axes, z, PULL_EDGES, color=UNCERTAINTY_COLORS[kind], label=label, filled=filled)


def coverage(coverage: DataFrame) -> Figure:
    """Draw the share of true values within k sd, minus the share that the predictive itself has."""
    figure = new_figure(height=4.0)
    panels = figure.subplots(2, 2, sharex=True, sharey="row")
    for (top, bottom), kind in zip(panels.T, ("total", "epistemic"), strict=True):
        for split, rows in by_split(coverage):
            _coverage_lines(top, bottom, rows, split, kind)
        reference_line(bottom, y=0.0)
        absent = "" if coverage[kind].notna().any() else ": no spread"
        top.set_title(f"{kind} uncertainty{absent}")
        bottom.set_xlabel("k (standard deviations)")
        bottom.set_xticks(range(6))
    panels[0, 0].set_xlim(0, 5)
    panels[0, 0].set_ylim(0, 103)
    panels[0, 0].set_ylabel("coverage (%)")
    panels[1, 0].set_ylabel("coverage − its own share\n(percentage points)")
    legend_above(figure, panels[0, 0])
    return figure


def _coverage_lines(top: Axes, bottom: Axes, rows: DataFrame, split: str, kind: str) -> None:
    k, own = floats(rows, "k"), 100 * floats(rows, f"own_{kind}")
    share, lower, upper = (100 * floats(rows, column) for column in (kind, "lower", "upper"))
    if split == "test":
        label = "the predictive's own share"
        top.plot(k, own, color=BLACK, linewidth=1, linestyle="--", label=label, zorder=3)
    for axes, origin in ((top, np.zeros_like(own)), (bottom, own)):
        _split_line(axes, k, share - origin, split)
        if (split, kind) == ("test", "total"):
            _band(axes, k, lower - origin, upper - origin)


def levels(levels: DataFrame) -> Figure:
    """Draw observed minus nominal coverage of the central interval of every level, per split."""
    figure = new_figure(height=3.2)
    axes = figure.subplots()
    for split, rows in by_split(levels):
        level = floats(rows, "level")
        share, lower, upper = (
            100 * (floats(rows, column) - level) for column in ("coverage", "lower", "upper")
        )
        _split_line(axes, 100 * level, share, split)
        if split == "test":
            _band(axes, 100 * level, lower, upper)
    reference_line(axes, y=0.0)
    axes.set_xlim(0, 100)
    axes.set_xlabel("level of the central interval (%)")
    axes.set_ylabel("coverage − level (percentage points)")
    legend_above(figure, axes)
    return figure


def _split_line(axes: Axes, x: Floats, y: Floats, split: str) -> None:
    """Draw a split; the line of the test split is wider and above the others."""
    tested = split == "test"
    width, order = (1.6, 2.5) if tested else (1.0, 2.0)
    axes.plot(x, y, color=SPLIT_COLORS[split], linewidth=width, zorder=order, label=split)


def pit(predictions: DataFrame, pit: DataFrame) -> Figure:
    """Draw the probability integral transform of every split: density, and ECDF minus uniform."""
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
            label = "95 % band of test, all u at once"
            right.fill_between(
                u, lower, upper, color=BLACK, alpha=BAND_OPACITY, linewidth=0, label=label
            )
        else:
            edge = {"color": SPLIT_COLORS[split], "linewidth": 0.7, "linestyle": ":"}
            right.plot(u, lower, label=f"95 % band of {split}", **edge)
            right.plot(u, upper, **edge)
    reference_line(right, y=0.0)
    right.set_xlabel("u, probability below the true value")
    right.set_ylabel("ECDF − u")
    right.set_xlim(0, 1)
    legend_above(figure, left, place="outside upper left", columns=2)
    legend_above(figure, right, place="outside upper right", columns=2)
    return figure


def _pit_histograms(axes: Axes, predictions: DataFrame) -> None:
    """Draw densities with equal bins, and the 95 % binomial band of the test split's bins."""
    rows = split_rows(predictions, "test")
    count = int(np.clip(len(rows) // POINTS_PER_PIT_BIN, FEWEST_PIT_BINS, MOST_PIT_BINS))
    low, high = binom.ppf((0.025, 0.975), len(rows), 1 / count) * count / len(rows)
    axes.axhspan(
        low, high, color=BLACK, alpha=BAND_OPACITY, linewidth=0, label="95 % of bins if uniform"
    )
    for split, part in by_split(predictions):
        values, edges = floats(part, "pit"), np.linspace(0, 1, count + 1)
        color, filled = SPLIT_COLORS[split], split == "test"
        density(axes, values, edges, color=color, label=split, filled=filled)
    reference_line(axes, y=1.0)
    axes.set_xlim(0, 1)
    axes.set_xlabel("u, probability below the true value")
    axes.set_ylabel("density")


def _band(axes: Axes, x: Floats, lower: Floats, upper: Floats) -> None:
    color = SPLIT_COLORS["test"]
    label = "95 % interval of test"
    axes.fill_between(x, lower, upper, color=color, alpha=0.2, linewidth=0, label=label)


def cases(cases: DataFrame, labels: DataFrame) -> Figure:
    """Draw predictive distributions of test points: chosen, or of small, typical and large pull."""
    target = read_labels(labels)
    points = [rows for _, rows in cases.groupby(["case", "point"], sort=False)]
    lines = ceil(len(points) / CASES_BESIDE)
    figure = new_figure(height=0.7 + 2.5 * lines)
    shape = (lines, min(len(points), CASES_BESIDE))
    panels = figure.subplots(*shape, sharex=True, sharey=True, squeeze=False)
    for axes, rows in zip(panels.ravel(), points, strict=False):
        _case_panel(axes, rows, str(rows["case"].iloc[0]), target)
    for axes in panels.ravel()[len(points) :]:
        axes.remove()
    for axes in panels[:, 0]:
        axes.set_ylabel("predictive density (per sd)")
    _label_cases(panels.ravel()[: len(points)].tolist(), target.model_target)
    legend_above(figure, panels[0, 0])
    return figure


def _label_cases(panels: Sequence[Axes], target: str) -> None:
    """Label the axis below the middle of one or three panels, or below each lowest one."""
    label = f"({target} − predicted mean) / predicted sd"
    if len(panels) in (1, CASES_BESIDE):
        panels[len(panels) // 2].set_xlabel(f"{label}; the same axis in all panels")
        return
    for axes in panels[-CASES_BESIDE:]:
        axes.set_xlabel(narrow(label, 26))
        axes.tick_params(labelbottom=True)


def _case_panel(axes: Axes, rows: DataFrame, name: str, target: Labels) -> None:
    mean, sd, truth, point = rows[["mean", "total_sd", "truth", "point"]].iloc[0]
    pull = (truth - mean) / sd
    limit = max(CASE_RANGE, 1.1 * abs(pull))
    z = np.linspace(-limit, limit, 241)
    axes.hist(
        (floats(rows, "draw") - mean) / sd,
        np.arange(-CASE_RANGE, CASE_RANGE + CASE_BIN, CASE_BIN).tolist(),
        weights=np.full(len(rows), 1 / (len(rows) * CASE_BIN)),
        color=UNCERTAINTY_COLORS["total"],
        alpha=0.35,
        label="predictive draws",
    )
    axes.plot(z, _standard_normal(z), color=BLACK, linewidth=1, label="Gaussian, same mean, sd")
    axes.axvline(pull, color=VERMILLION, label="true value")
    stated = f"{mean:.4g} ± {sd:.2g} {target.model_unit}".rstrip()
    axes.set_title(f"{name}: pull {pull:+.2f}\npoint {point:.0f}, {stated}", fontsize=8)


def _standard_normal(x: Floats) -> Floats:
    return np.exp(-0.5 * x**2) / np.sqrt(2 * np.pi)
