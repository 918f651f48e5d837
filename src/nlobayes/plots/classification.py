"""Figures of classes: confusion, calibration of confidence, and answers above a threshold."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from pandas import DataFrame

from nlobayes.errors import InputError
from nlobayes.plots.frames import by_split, floats, split_rows
from nlobayes.plots.style import (
    BLACK,
    BLUE,
    GREEN,
    SPLIT_COLORS,
    VERMILLION,
    Floats,
    legend_above,
    new_figure,
)

MOST_COUNTED = 20
"""Largest number of classes for which counts fit into the cells of a matrix."""

LONGEST_NAME = 24
INCHES_PER_LETTER = 0.07
DARK = 55
"""Share in percent above which the numbers in a cell are white."""


def confusion(confusion: DataFrame, classes: DataFrame) -> Figure:
    """Draw counts of test points by true and predicted class, coloured by share of the true."""
    classes = classes.sort_values("class")
    counts = _matrix(split_rows(confusion, "test", "confusion"), classes)
    share = 100 * counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    side = float(np.clip(1.2 + 0.28 * len(classes), 2.0, 4.4))
    names, cell = [short_name(str(name)) for name in classes["name"]], side / len(classes)
    widest = INCHES_PER_LETTER * max(map(len, names))
    figure = new_figure(height=side + 0.7 + (widest if widest > cell else 0))
    axes = figure.subplots()
    image = axes.imshow(share, cmap="Blues", vmin=0, vmax=100)
    if len(classes) <= MOST_COUNTED:
        _write_counts(axes, counts, share, cell=cell)
    _name_classes(axes, names, cell=cell, rotation=90 if widest > cell else 0)
    _colour_bar(figure, axes, image)
    return figure


def _matrix(rows: DataFrame, classes: DataFrame) -> Floats:
    known, used = set(classes["class"]), set(rows["true"]) | set(rows["predicted"])
    if not used <= known:
        raise InputError("plots.no_class", number=min(used - known), classes=len(known))
    counts = rows.groupby(["true", "predicted"])["count"].sum().unstack(fill_value=0)
    square = counts.reindex(index=classes["class"], columns=classes["class"], fill_value=0)
    return square.to_numpy(dtype=np.float64)


def short_name(name: str) -> str:
    """Shorten the name of a class, and escape its dollar signs."""
    half = LONGEST_NAME // 2
    cut = name if len(name) <= LONGEST_NAME else f"{name[: half - 1]}…{name[-half:]}"
    return cut.replace("$", r"\$")


def _write_counts(axes: Axes, counts: Floats, share: Floats, *, cell: float) -> None:
    """Write counts that fit cells of `cell` inches; a cell without points stays empty."""
    digits = max(len(f"{counts.max():.0f}"), 2)
    size = float(np.clip(90 * cell / digits, 3, 9))
    for true, predicted in np.argwhere(counts > 0):
        axes.text(
            predicted,
            true,
            f"{counts[true, predicted]:.0f}",
            ha="center",
            va="center",
            fontsize=size,
            color="white" if share[true, predicted] > DARK else BLACK,
        )


def _name_classes(axes: Axes, names: list[str], *, cell: float, rotation: float) -> None:
    size = float(np.clip(60 * cell, 3, 8))
    axes.set_xticks(range(len(names)), names, fontsize=size, rotation=rotation)
    axes.set_yticks(range(len(names)), names, fontsize=size)
    axes.set_xlabel("predicted class")
    axes.set_ylabel("true class")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(True)


def _colour_bar(figure: Figure, axes: Axes, image: AxesImage) -> None:
    bar = figure.colorbar(image, cax=axes.inset_axes((1.04, 0, 0.05, 1)))
    bar.set_label("share of the true class (%)")


def reliability(reliability: DataFrame) -> Figure:
    """Draw the share of correct points against confidence per split, and a confidence histogram."""
    figure = new_figure(height=4.4)
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    top.plot([0, 100], [0, 100], color=BLACK, linewidth=0.8, zorder=0.5)
    for split, rows in by_split(reliability):
        _reliability_line(top, rows[rows["count"] > 0], split)
        _confidence_histogram(bottom, rows.sort_values("low"), split)
    start = 100 * floats(reliability[reliability["count"] > 0], "low").min()
    top.set_xlim(start, 100)
    top.set_ylim(-3, 103)
    top.set_ylabel("correct (%)")
    bottom.set_ylabel("points (%)")
    bottom.set_xlabel("confidence: predictive probability of the predicted class (%)")
    legend_above(figure, top)
    figure.align_ylabels()
    return figure


def _reliability_line(axes: Axes, rows: DataFrame, split: str) -> None:
    confidence, accuracy, lower, upper = (
        100 * floats(rows, column) for column in ("confidence", "accuracy", "lower", "upper")
    )
    error = np.average(np.abs(accuracy - confidence), weights=floats(rows, "count"))
    color = SPLIT_COLORS[split]
    axes.vlines(confidence, lower, upper, color=color, linewidth=1)
    style = "o-" if split == "test" else "o"
    axes.plot(confidence, accuracy, style, color=color, label=f"{split}, ECE {error:.1f} %")


def _confidence_histogram(axes: Axes, rows: DataFrame, split: str) -> None:
    count = floats(rows, "count")
    filled = split == "test"
    axes.stairs(
        100 * count / count.sum(),
        100 * np.append(floats(rows, "low"), rows["high"].iloc[-1]),
        fill=filled,
        color=SPLIT_COLORS[split],
        alpha=0.4 if filled else 1,
        linewidth=0 if filled else 1.4,
    )


def thresholds(thresholds: DataFrame) -> Figure:
    """Draw precision, recall and share of answers to test points by confidence threshold."""
    rows = split_rows(thresholds, "test", "thresholds").sort_values("threshold")
    threshold, precision, lower, upper, recall, answered = (
        100 * floats(rows, column)
        for column in ("threshold", "precision", "lower", "upper", "recall", "answered")
    )
    figure = new_figure(height=4.0)
    top, bottom = figure.subplots(2, 1, sharex=True)
    top.plot(threshold, precision, color=BLUE)
    top.fill_between(threshold, lower, upper, color=BLUE, alpha=0.18, linewidth=0)
    bottom.plot(threshold, answered, color=GREEN, label="classified, of all points")
    bottom.plot(threshold, recall, "--", color=VERMILLION, label="recall, of all correct")
    bottom.set_xlim(0, 100)
    bottom.set_ylim(0, 103)
    top.set_ylabel("precision:\ncorrect of the classified (%)")
    bottom.set_ylabel("share (%)")
    bottom.set_xlabel("confidence from which a point is answered (%)")
    legend_above(figure, bottom)
    figure.align_ylabels()
    return figure
