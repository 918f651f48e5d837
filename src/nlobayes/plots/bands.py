"""Predictive bands of data with a single input."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pandas import DataFrame

from nlobayes.plots.axes import few_ticks, read_labels
from nlobayes.plots.frames import floats, split_rows
from nlobayes.plots.style import (
    BLACK,
    SPLIT_COLORS,
    UNCERTAINTY_COLORS,
    Floats,
    legend_above,
    new_figure,
    points,
)

SDS = {"total": "total_sd", "epistemic": "posterior_sd"}
"""Columns of the standard deviations of total and epistemic uncertainty."""

MAX_VECTOR_POINTS = 2_000
MAX_LARGE_MARKERS = 300


def bands(predictions: DataFrame, labels: DataFrame) -> Figure:
    """Draw mean, bands of one and two sd (total, epistemic), true function and train rows by input.

    The range of test rows beyond the train rows is grey.
    """
    names = read_labels(labels)
    train = predictions[predictions["split"] == "train"]
    test = split_rows(predictions, "test").sort_values("covariate", kind="stable")
    figure = new_figure(height=3.6)
    panels = figure.subplots(1, 2, sharex=True, sharey=True)
    for axes, kind in zip(panels, ("total", "epistemic"), strict=True):
        train_points(axes, train)
        _prediction(axes, test, kind)
        shade_beyond(axes, floats(test, "covariate"), floats(train, "covariate"))
        axes.set_title(f"{kind} uncertainty, ±1 and ±2 sd")
        axes.set_xlabel(names.covariate)
        few_ticks(axes.xaxis, 6)
    panels[0].set_ylabel(names.model_axis)
    legend_above(figure, panels[0])
    return figure


def _prediction(axes: Axes, test: DataFrame, kind: str) -> None:
    x, mean, sd = (floats(test, column) for column in ("covariate", "mean", SDS[kind]))
    color, rasterized = UNCERTAINTY_COLORS[kind], len(x) > MAX_VECTOR_POINTS
    for k, opacity in ((2, 0.2), (1, 0.3)):
        low, high = mean - k * sd, mean + k * sd
        axes.fill_between(
            x, low, high, color=color, alpha=opacity, linewidth=0, rasterized=rasterized
        )
    truth = floats(test, "truth")
    axes.plot(x, truth, "--", color=BLACK, linewidth=1, label="truth", rasterized=rasterized)
    axes.plot(x, mean, color=color, label="predicted mean", rasterized=rasterized)


def train_points(axes: Axes, train: DataFrame) -> None:
    """Draw the train rows: few of them as large markers, many as a cloud."""
    x, y, color = floats(train, "covariate"), floats(train, "truth"), SPLIT_COLORS["train"]
    label = f"train, {len(x)} points"
    if len(x) > MAX_LARGE_MARKERS:
        points(axes, x, y, color=color, label=label)
    elif len(x):
        (markers,) = axes.plot(x, y, "o", color=color, zorder=3, label=label)
        markers.set(markeredgecolor=BLACK, markeredgewidth=0.6)


def shade_beyond(axes: Axes, test: Floats, train: Floats) -> None:
    """Shade the range of the test rows that holds no train rows."""
    first, last = (train.min(), train.max()) if len(train) else (test.max(), test.max())
    beyond = ((test.min(), first), (last, test.max()))
    label = "beyond the train rows"
    for low, high in beyond:
        if low < high:
            axes.axvspan(low, high, color=BLACK, alpha=0.08, linewidth=0, zorder=0, label=label)
            label = "_"
    axes.set_xlim(min(test.min(), first), max(test.max(), last))
