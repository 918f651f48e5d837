"""Predictions against true values, residuals, and errors relative to the scale uncertainty."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from pandas import DataFrame

from nlobayes.plots.axes import Labels, few_ticks, note_figure, read_labels, with_unit
from nlobayes.plots.frames import floats, split_rows
from nlobayes.plots.style import (
    BLACK,
    BLUE,
    SPLIT_COLORS,
    VERMILLION,
    Floats,
    density,
    legend_above,
    new_figure,
    points,
    points_within,
    reference_line,
    symmetric_limit,
)

MOST_INTERVALS = 80
"""Largest number of error bars; more would hide each other."""

MIN_BINS, POINTS_PER_BIN = 4, 200
BANDS = ((2.5, 97.5, 0.13, "central 95 %"), (16.0, 84.0, 0.25, "central 68 %"))
SMALL_RATIO = 0.3
"""Error over scale uncertainty below which the surrogate adds little to the uncertainty."""

LEAST_RATIO = 1e-4
BEYOND = 1.12
"""Ends of the outermost bins of a histogram, in units of its last inner edge."""
EVERYTHING = "grey: everything beyond, in one bin"


def predicted_vs_true(predictions: DataFrame, labels: DataFrame) -> Figure:
    """Draw predictions and deviations against true values, with 68 % intervals of some points.

    A log10 target is shown in its own unit, its deviation in dex and in percent. A target that is
    learned relative to a reference has one more panel, with the learned ratio or difference.
    """
    rows, names = split_rows(predictions, "test").sort_values("truth"), read_labels(labels)
    relative = _is_relative(rows)
    figure = new_figure(height=7.4 if relative else 4.8)
    ratios = (3, 2, 3) if relative else (3, 2)
    top, bottom, *more = figure.subplots(len(ratios), 1, height_ratios=ratios)
    bottom.sharex(top)
    columns = ("truth_target", "median_target") if names.is_log10 else ("truth", "mean")
    true, predicted = (floats(rows, column) for column in columns)
    if names.is_log10:
        top.set(xscale="log", yscale="log")
        _percent_axis(bottom)
    _diagonal_panel(top, true, predicted, label=_errors(rows, names))
    _intervals(bottom, true, rows)
    residual = _residual(rows)
    points_within(
        bottom, true, residual, limit=symmetric_limit(residual), color=SPLIT_COLORS["test"]
    )
    reference_line(bottom, y=0.0)
    top.set_ylabel(f"predicted {names.target_axis}")
    bottom.set_ylabel(with_unit("predicted − true\n", names.model_unit))
    bottom.set_xlabel(f"true {names.target_axis}")
    for axes in more:
        _relative_panel(axes, rows, names)
    legend_above(figure, top, bottom, columns=2)
    figure.align_ylabels()
    return figure


def _is_relative(rows: DataFrame) -> bool:
    return bool("reference" in rows and rows["reference"].notna().all())


def _relative(rows: DataFrame, column: str, names: Labels) -> Floats:
    """Return target / reference, on the scale of the target itself target - reference."""
    difference = floats(rows, column) - floats(rows, "reference")
    return 10.0**difference if names.is_log10 else difference


def _relative_name(names: Labels) -> str:
    return f"{names.target} / reference" if names.is_log10 else f"{names.target} − reference"


def _relative_panel(axes: Axes, rows: DataFrame, names: Labels) -> None:
    true, predicted = (_relative(rows, column, names) for column in ("truth", "mean"))
    _diagonal_panel(axes, true, predicted, label="")
    axes.set_xlabel(f"true {_relative_name(names)}")
    axes.set_ylabel(f"predicted\n{_relative_name(names)}")


def _errors(rows: DataFrame, names: Labels) -> str:
    """Return the number of test points and the errors of their predictions as text."""
    rmse = np.sqrt(np.mean(_residual(rows) ** 2))
    text = f"test, {len(rows)} points: RMSE {rmse:.3g} {names.model_unit}".rstrip()
    if not names.is_log10:
        return text
    relative = np.abs(floats(rows, "median_target") / floats(rows, "truth_target") - 1)
    return f"{text}, median error {100 * np.median(relative):.2g} %"


def _diagonal_panel(axes: Axes, true: Floats, predicted: Floats, *, label: str) -> None:
    points(axes, true, predicted, color=SPLIT_COLORS["test"], label=label)
    low = true.min()
    high = max(true.max(), low + 1e-3 * (abs(low) or 1.0))
    axes.axline(
        (low, low), (high, high), color=BLACK, linewidth=0.8, zorder=0.5, label="predicted = true"
    )


def _intervals(axes: Axes, true: Floats, rows: DataFrame) -> None:
    """Draw central 68 % intervals minus the true value, of points evenly spread in rank."""
    shown = np.linspace(0, len(rows) - 1, min(len(rows), MOST_INTERVALS)).round().astype(int)
    low, high = (floats(rows, end) - floats(rows, "truth") for end in ("low_68", "high_68"))
    held = (low <= 0) & (high >= 0)
    share = f"{100 * held.mean():.1f} % of all contain the true value"
    labels = {True: f"68 % intervals, {len(shown)} shown: {share}", False: "one that does not"}
    for holds, color in ((True, BLUE), (False, VERMILLION)):
        chosen = shown[held[shown] == holds]
        ends = low[chosen], high[chosen]
        axes.vlines(true[chosen], *ends, color=color, linewidth=1, label=labels[holds])


def _percent_axis(axes: Axes) -> None:
    """Add a right axis to a deviation in dex, with the deviation in percent of the target."""

    def to_percent(dex: ArrayLike) -> Floats:
        return 100 * (10 ** np.clip(np.asarray(dex, np.float64), -300, 300) - 1)

    def to_dex(percent: ArrayLike) -> Floats:
        return np.log10(np.maximum(1 + np.asarray(percent, np.float64) / 100, 1e-300))

    right = axes.secondary_yaxis("right", functions=(to_percent, to_dex))
    right.set_ylabel("predicted / true − 1\n(%)")


def residuals(predictions: DataFrame, labels: DataFrame) -> Figure:
    """Draw residuals against the covariate, with running median and 68 % and 95 % bands.

    A target that is learned relative to a reference has one more panel: true and predicted ratio.
    """
    rows, names = split_rows(predictions, "test"), read_labels(labels)
    covariate, residual = floats(rows, "covariate"), _residual(rows)
    color = SPLIT_COLORS["test"]
    relative = _is_relative(rows)
    figure = new_figure(height=6.0 if relative else 3.6)
    axes, *more = np.ravel(figure.subplots(1 + relative, 1, sharex=True))
    for above in more:
        points(above, covariate, _relative(rows, "truth", names), color=BLACK, label="true ratio")
        points(above, covariate, _relative(rows, "mean", names), color=color, label="")
        above.set_ylabel(_relative_name(names))
        above.set_xlabel(names.covariate)
    limit = symmetric_limit(residual)
    label = f"test, {len(rows)} points"
    points_within(axes, covariate, residual, limit=limit, color=color, label=label)
    _running_bands(axes, covariate, residual)
    reference_line(axes, y=0.0)
    legend_above(figure, axes, *more, columns=3)
    axes.set_xlabel(names.covariate)
    axes.set_ylabel(_residual_axis(names))
    return figure


def _residual(rows: DataFrame) -> Floats:
    return floats(rows, "mean") - floats(rows, "truth")


def _residual_axis(names: Labels) -> str:
    return with_unit(f"residual, predicted − true\n{names.model_target}", names.model_unit)


def _running_bands(axes: Axes, covariate: Floats, values: Floats) -> None:
    """Draw quantiles in bins of the covariate with equal counts."""
    count = min(len(covariate), max(MIN_BINS, len(covariate) // POINTS_PER_BIN))
    bins = np.array_split(np.argsort(covariate), count)
    edges = [covariate[bins[0][0]], *(covariate[bin_[-1]] for bin_ in bins)]
    for low, high, opacity, name in BANDS:
        lower, upper = np.transpose([np.percentile(values[b], [low, high]) for b in bins])
        axes.stairs(
            upper,
            edges,
            baseline=lower,
            fill=True,
            color=BLACK,
            alpha=opacity,
            linewidth=0,
            label=name,
        )
    median = [np.median(values[b]) for b in bins]
    axes.stairs(median, edges, baseline=None, color=BLACK, linewidth=1.4, label="running median")


def residual_histogram(predictions: DataFrame, labels: DataFrame) -> Figure:
    """Draw the distribution of the residuals of every split, on a linear and a logarithmic axis."""
    names = read_labels(labels)
    rows = {s: predictions[predictions["split"] == s] for s in SPLIT_COLORS}
    values = {split: _residual(part) for split, part in rows.items() if len(part)}
    limit = max(map(symmetric_limit, values.values()))
    inner = np.linspace(-limit, limit, 1 + _bins(min(map(len, values.values()))))
    edges = limit * BEYOND * np.array([-1, 1])
    edges = np.concatenate([edges[:1], inner, edges[1:]])
    figure = new_figure(height=3.4)
    left, right = figure.subplots(1, 2, sharex=True)
    for split, residual in values.items():
        label = f"{split}, sd {residual.std():.3g} {names.model_unit}".rstrip()
        for axes in (left, right):
            density(axes, residual, edges, color=SPLIT_COLORS[split], label=label)
    for axes in (left, right):
        axes.axvspan(edges[0], -limit, color=BLACK, alpha=0.08, linewidth=0)
        axes.axvspan(limit, edges[-1], color=BLACK, alpha=0.08, linewidth=0, label=EVERYTHING)
        axes.set_xlim(edges[0], edges[-1])
        axes.set_xlabel(_residual_axis(names))
        few_ticks(axes.xaxis, 5)
    left.set_ylabel(with_unit("density", f"1/{names.model_unit}" if names.model_unit else ""))
    right.set_yscale("log")
    right.set_ylim(bottom=0.5 / (max(map(len, values.values())) * (inner[1] - inner[0])))
    few_ticks(right.yaxis)
    legend_above(figure, left, columns=2)
    return figure


def _bins(count: int) -> int:
    return int(np.clip(4 * np.sqrt(count), 16, 60))


def scale_ratio(predictions: DataFrame, labels: DataFrame) -> Figure:
    """Draw error over the scale uncertainty of the physics: histogram, and against the covariate.

    If no scale uncertainty is known, a note states this.
    """
    rows, names = split_rows(predictions, "test"), read_labels(labels)
    rows = rows.dropna(subset=["error_over_scale"])
    if rows.empty:
        return note_figure("the targets have no known scale uncertainty: no ratio to show")
    figure = new_figure(height=3.4)
    ratio = floats(rows, "error_over_scale").clip(min=LEAST_RATIO)
    left, right = figure.subplots(1, 2)
    _ratio_histogram(left, ratio)
    _ratio_by_covariate(right, floats(rows, "covariate"), ratio)
    right.set_xlabel(names.covariate)
    legend_above(figure, left, place="outside upper left", columns=1)
    legend_above(figure, right, place="outside upper right", columns=2)
    return figure


def _ratio_histogram(axes: Axes, ratio: Floats) -> None:
    low, high = 0.9 * min(ratio.min(), SMALL_RATIO), 1.1 * max(ratio.max(), 1.0)
    edges = np.geomspace(low, high, 1 + _bins(len(ratio)))
    percent = 100 * np.mean(ratio < SMALL_RATIO)
    color = SPLIT_COLORS["test"]
    label = f"error of {len(ratio)} test points"
    axes.hist(ratio, edges.tolist(), color=color, alpha=0.4, linewidth=0, label=label)
    axes.axvline(
        SMALL_RATIO,
        color=VERMILLION,
        linewidth=1,
        label=f"below {SMALL_RATIO}: {percent:.1f} % of the points",
    )
    median = float(np.median(ratio))
    axes.axvline(median, color=BLACK, linewidth=1, linestyle="--", label=f"median {median:.2g}")
    axes.set_xscale("log")
    axes.set_xlabel("|error| / scale uncertainty")
    axes.set_ylabel("test points per bin")


def _ratio_by_covariate(axes: Axes, covariate: Floats, ratio: Floats) -> None:
    points(axes, covariate, ratio, color=SPLIT_COLORS["test"])
    _running_bands(axes, covariate, ratio)
    axes.axhline(SMALL_RATIO, color=VERMILLION, linewidth=1)
    axes.set_yscale("log")
    axes.set_ylabel("|error| / scale uncertainty")
    few_ticks(axes.xaxis, 5)
