"""Prior draws of f before any data, and their variation relative to the target."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pandas import DataFrame

from nlobayes.plots.axes import Labels, few_ticks, narrow, read_labels
from nlobayes.plots.frames import floats
from nlobayes.plots.style import (
    BLACK,
    BLUE,
    GREEN,
    PURPLE,
    VERMILLION,
    Floats,
    legend_above,
    new_figure,
)

MOST_OUTPUTS = 3
DRAW_COLORS = (VERMILLION, GREEN, PURPLE)
BINS = 30
MOST_DECADES = 6
"""Decades of ratios on either side; ratios beyond are drawn at the edge."""
SCALES = {"sd": (BLUE, "-"), "step": (VERMILLION, "--"), "range": (GREEN, ":")}


def prior_predictive(
    quantiles: DataFrame, draws: DataFrame, scales: DataFrame, labels: DataFrame
) -> Figure:
    """Draw bands and draws of f along the covariate with the target, and ratios of their scales.

    Each of the first outputs has a row of panels. The largest probability of classes, which has no
    target, is shown by its distribution.
    """
    outputs = range(min(len(labels), MOST_OUTPUTS))
    figure = new_figure(height=1.2 + 2.4 * len(outputs))
    panels = figure.subplots(len(outputs), 2, squeeze=False, width_ratios=(3, 2))
    for output, (left, right) in zip(outputs, panels, strict=True):
        names = read_labels(labels.iloc[[output]])
        band, some, scale = (t[t["output"] == output] for t in (quantiles, draws, scales))
        _bands(left, band, some, names)
        if scale["draw"].isna().any():
            _ratios(right, scale)
        else:
            _means(right, scale, names)
    panels[-1, 0].set_xlabel(read_labels(labels).covariate)
    labelled = (row for row in panels if "target" in row[0].get_legend_handles_labels()[1])
    with_target = next(labelled, panels[0])
    legend_above(figure, with_target[0], place="outside upper left", columns=2)
    legend_above(figure, with_target[1], place="outside upper right", columns=2)
    return figure


def _bands(axes: Axes, band: DataFrame, some: DataFrame, names: Labels) -> None:
    x = floats(band, "covariate")
    for outer, opacity, label in ((("q2_5", "q97_5"), 0.18, "95 %"), (("q16", "q84"), 0.3, "68 %")):
        low, high = (floats(band, name) for name in outer)
        axes.fill_between(
            x, low, high, color=BLUE, alpha=opacity, linewidth=0, label=f"f of the prior, {label}"
        )
    for color, (draw, rows) in zip(DRAW_COLORS, some.groupby("draw"), strict=False):
        drawn, label = (floats(rows, "covariate"), floats(rows, "f")), f"draw {draw:g} of f"
        axes.plot(*drawn, ".", color=color, markersize=2.5, label=label, rasterized=True)
    observed = floats(band, "observed")
    axes.set_ylim(*_limits(band, observed))
    if np.isfinite(observed).any():
        axes.plot(x, observed, ".", color=BLACK, markersize=4, label="target", rasterized=True)
    axes.margins(x=0)
    axes.set_ylabel(narrow(names.model_axis))
    few_ticks(axes.xaxis, 5)


def _limits(band: DataFrame, observed: Floats) -> tuple[float, float]:
    """Return the range of the wider band and of the target, with a margin."""
    shown = np.concatenate([floats(band, "q2_5"), floats(band, "q97_5"), observed])
    low, high = float(np.nanmin(shown)), float(np.nanmax(shown))
    air = 0.05 * (high - low) or 1.0
    return low - air, high + air


def _ratios(axes: Axes, scale: DataFrame) -> None:
    """Draw histograms of the variation of f of each draw over that of the target."""
    of_target = scale[scale["draw"].isna()]
    of_draws = scale[scale["draw"].notna()]
    decades = {
        name: _decades(floats(of_draws, name), float(of_target[name].iloc[0])) for name in SCALES
    }
    shown = np.concatenate([[0.0], *decades.values()])
    edges = np.linspace(shown.min() - 0.2, shown.max() + 0.2, BINS + 1)
    for name, (color, line) in SCALES.items():
        share = 100 * np.histogram(decades[name], edges)[0] / max(len(of_draws), 1)
        axes.stairs(share, 10**edges, color=color, linestyle=line, label=name)
    axes.axvline(1, color=BLACK, linewidth=0.8, label="equal")
    axes.set_xscale("log")
    axes.set_xlabel("f over target (ratio)")
    axes.set_ylabel("draws (%)")
    few_ticks(axes.xaxis)


def _decades(drawn: Floats, target: float) -> Floats:
    """Return the powers of ten between draws and a target; none if the target does not vary."""
    if not target > 0:
        return np.array([])
    with np.errstate(divide="ignore"):
        return np.clip(np.log10(drawn / target), -MOST_DECADES, MOST_DECADES)


def _means(axes: Axes, scale: DataFrame, names: Labels) -> None:
    """Draw a histogram of the mean over the rows, for an output without a target."""
    means = floats(scale, "mean")
    axes.hist(means, BINS, weights=np.full(len(means), 100 / len(means)), color=BLUE)
    axes.set_xlabel(narrow(f"mean over the rows of the {names.model_axis}"))
    axes.set_ylabel("draws (%)")
