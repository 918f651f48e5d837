"""A run on one page: its errors, its checks, its error bars, and its rivals."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pandas import DataFrame

from nlobayes.checks import label_of
from nlobayes.plots.axes import Labels, few_ticks, fitting_scale, narrow, read_labels, with_unit
from nlobayes.plots.frames import floats, split_rows
from nlobayes.plots.style import (
    BLACK,
    BLUE,
    ORANGE,
    RED,
    SPLIT_COLORS,
    Floats,
    legend_above,
    new_figure,
    points_within,
    reference_line,
    symmetric_limit,
)

BINS = 12
"""Bins of the covariate with equally many test rows, in each of which stated intervals have a
median."""
LOWEST_SHOWN = 12.0
"""Nats below the best log score at which regressors that are even lower are drawn."""


def overview(
    predictions: DataFrame,
    verdict: DataFrame,
    levels: DataFrame,
    regressors: DataFrame,
    labels: DataFrame,
) -> Figure:
    """Draw errors with stated intervals, checks of convergence, coverage, and log scores."""
    figure, names = new_figure(height=5.6), read_labels(labels)
    (errors, checks), (coverage, scores) = figure.subplots(2, 2, width_ratios=(1.15, 1))
    _errors(errors, split_rows(predictions, "test"), names)
    _checks(checks, verdict)
    _coverage(coverage, split_rows(levels, "test", "levels"))
    _scores(scores, regressors)
    legend_above(figure, errors)
    return figure


def _errors(axes: Axes, rows: DataFrame, names: Labels) -> None:
    """Draw the errors of test rows, and the median of the stated 68 % intervals along them."""
    along, error = floats(rows, "covariate"), _error(rows, "mean", names)
    limit = symmetric_limit(error)
    points_within(axes, along, error, limit=limit, color=SPLIT_COLORS["test"], label="test rows")
    bins = np.array_split(np.argsort(along), min(BINS, len(rows)))
    edges = [along[bins[0][0]], *(along[rows_of[-1]] for rows_of in bins)]
    half = (_error(rows, "high_68", names) - _error(rows, "low_68", names)) / 2
    middle = np.array([np.median(half[rows_of]) for rows_of in bins])
    for side, label in ((1, "68 % interval as stated"), (-1, "")):
        axes.stairs(side * middle, edges, baseline=None, color=BLACK, linewidth=1.2, label=label)
    reference_line(axes, y=0.0)
    axes.set_xscale(fitting_scale(along))
    few_ticks(axes.xaxis)
    axes.set_xlabel(names.covariate)
    unit = "%" if names.is_log10 else names.model_unit
    axes.set_ylabel(with_unit("error of the prediction", unit))
    axes.set_title("How accurate?")


def _error(rows: DataFrame, column: str, names: Labels) -> Floats:
    """Return value minus truth, of a target learned as log10 in percent."""
    difference = floats(rows, column) - floats(rows, "truth")
    return 100 * (10**difference - 1) if names.is_log10 else difference


def _checks(axes: Axes, verdict: DataFrame) -> None:
    """Draw how much of its limit each check of convergence takes up."""
    axes.set_title("Converged?")
    if verdict.empty:
        axes.text(0.5, 0.5, "approximate:\nthere are no chains", ha="center", va="center")
        axes.axis("off")
        return
    used = 100 * _used(verdict)
    passed = verdict["passed"].to_numpy(dtype=bool)
    place = np.arange(len(verdict))
    colors = [BLUE if good else RED for good in passed]
    axes.barh(place, np.clip(used, 1, 150), color=colors, height=0.6)
    axes.axvline(100, color=BLACK, linewidth=1)
    names = [label_of(name) for name in verdict["check"]]
    texts = [n if good else f"{n}: FAILED" for n, good in zip(names, passed, strict=True)]
    texts = [narrow(text, 20) for text in texts]
    axes.set_yticks(place, texts, fontsize=7)
    axes.set(ylim=(len(verdict) - 0.4, -0.6), xlim=(0, 150), xticks=(0, 50, 100))
    axes.set_xlabel("share of the limit (%)\nbeyond 100: failed")


def _used(verdict: DataFrame) -> Floats:
    """Return 0 for the best value of a check, 1 at its limit, and above 1 for a failed one.

    R-hat counts from 1. Of what has a smallest value the limit over the value counts. A number
    that must be zero takes up nothing or too much.
    """
    value, limit = floats(verdict, "value"), floats(verdict, "threshold")
    origin = np.array([1.0 if name.startswith("rhat") else 0.0 for name in verdict["check"]])
    least = (verdict["bound"] == "at least").to_numpy()
    with np.errstate(divide="ignore", invalid="ignore"):
        used = np.where(least, limit / value, (value - origin) / (limit - origin))
    return np.where(verdict["passed"], np.nan_to_num(used, nan=0.0), np.fmax(used, 1.5))


def _coverage(axes: Axes, levels: DataFrame) -> None:
    """Draw the share of test rows inside intervals of each level, with its error."""
    level, share, low, high = (
        100 * floats(levels, name) for name in ("level", "coverage", "lower", "upper")
    )
    axes.axline((0, 0), (100, 100), color=BLACK, linewidth=0.8)
    axes.fill_between(level, low, high, color=BLUE, alpha=0.35, linewidth=0)
    axes.plot(level, share, color=BLUE)
    axes.set(xlim=(0, 100), ylim=(0, 100), xlabel="level of the interval (%)")
    axes.set_ylabel("test rows inside (%)")
    axes.set_title("Calibrated?")


def _scores(axes: Axes, regressors: DataFrame) -> None:
    """Draw the log score of the run beside those of its baselines and rivals, the best on top."""
    rows = regressors[np.isfinite(floats(regressors, "lppd"))].sort_values("lppd", ascending=False)
    score, place = floats(rows, "lppd"), np.arange(len(rows))
    best = score.max() if len(score) else 0.0
    shown = np.maximum(score, best - LOWEST_SHOWN)
    colors = [BLUE if name == "this run" else ORANGE for name in rows["regressor"]]
    axes.scatter(shown, place, color=colors, zorder=2)
    axes.hlines(place, best - 1.1 * LOWEST_SHOWN, shown, color=colors, linewidth=1)
    axes.set_yticks(place, [name.replace("_", " ") for name in rows["regressor"]], fontsize=8)
    for at, value, name in zip(shown, score, place, strict=True):
        axes.annotate(f"{value:.2f}", (at, name), xytext=(4, 4), textcoords="offset points", size=7)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    low = shown.min() if len(shown) else -1.0
    axes.set_xlim(low - 0.12 * (best - low) - 0.2, best + 0.2 * (best - low) + 0.3)
    axes.set_xlabel("log score (nats per test row)\nhigher is better")
    axes.set_title("Against which rivals?")
