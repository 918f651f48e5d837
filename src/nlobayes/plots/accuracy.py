"""How close are the predictions to the truth: against it, as residuals, beside the physics."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pandas import DataFrame

from nlobayes.plots.axes import Labels, few_ticks, note_figure, read_labels, with_unit
from nlobayes.plots.style import (
    BLACK,
    SPLIT_COLORS,
    VERMILLION,
    Floats,
    legend_above,
    new_figure,
    points,
    points_within,
    reference_line,
    symmetric_limit,
)
from nlobayes.plots.tables import floats, split_rows

MAX_ERROR_BARS = 150
MIN_BINS, POINTS_PER_BIN = 4, 200
BANDS = ((2.5, 97.5, 0.13, "central 95 %"), (16.0, 84.0, 0.25, "central 68 %"))
SMALL_RATIO = 0.3
"""Error over scale uncertainty below which the surrogate adds little to the physics' own."""

LEAST_RATIO = 1e-4


def predicted_vs_true(predictions: DataFrame, labels: DataFrame) -> Figure:
    """Prediction against truth with the deviation beneath; a log10 target also in its own unit."""
    rows, names = split_rows(predictions, "test"), read_labels(labels)
    figure = new_figure(height=4.4)
    columns = 2 if names.is_log10 else 1
    panels = figure.subplots(2, columns, sharex="col", height_ratios=(3, 2), squeeze=False)
    _model_panels(panels[0, 0], panels[1, 0], rows, names)
    if names.is_log10:
        _target_panels(panels[0, 1], panels[1, 1], rows, names)
    legend_above(figure, panels[0, 0], place="outside upper left")
    figure.align_ylabels()
    return figure


def _model_panels(top: Axes, bottom: Axes, rows: DataFrame, names: Labels) -> None:
    true, predicted = floats(rows, "truth"), floats(rows, "mean")
    if len(rows) <= MAX_ERROR_BARS:
        low, high = _one_sd_below_and_above(rows, predicted)
        _error_bars(top, true, low, high)
        _error_bars(bottom, true, low - true, high - true)
    _diagonal_panel(top, true, predicted)
    _deviation_panel(bottom, true, predicted - true)
    top.set_ylabel(f"predicted {names.model_axis}")
    bottom.set_ylabel(with_unit("predicted − true\n", names.model_unit))
    bottom.set_xlabel(f"true {names.model_axis}")


def _target_panels(top: Axes, bottom: Axes, rows: DataFrame, names: Labels) -> None:
    true, predicted = floats(rows, "truth_target"), floats(rows, "median_target")
    if len(rows) <= MAX_ERROR_BARS:
        low, high = (10**end for end in _one_sd_below_and_above(rows, np.log10(predicted)))
        _error_bars(top, true, low, high)
        _error_bars(bottom, true, 100 * (low / true - 1), 100 * (high / true - 1))
    top.set_yscale("log")
    bottom.set_xscale("log")
    _diagonal_panel(top, true, predicted)
    _deviation_panel(bottom, true, 100 * (predicted / true - 1))
    top.set_ylabel(f"predicted {names.target_axis}, median")
    bottom.set_ylabel("predicted / true − 1\n(%)")
    bottom.set_xlabel(f"true {names.target_axis}")


def _one_sd_below_and_above(rows: DataFrame, centre: Floats) -> tuple[Floats, Floats]:
    sd = floats(rows, "total_sd")
    return centre - sd, centre + sd


def _error_bars(axes: Axes, x: Floats, low: Floats, high: Floats) -> None:
    axes.vlines(x, low, high, color=SPLIT_COLORS["test"], linewidth=0.6, alpha=0.5)


def _diagonal_panel(axes: Axes, true: Floats, predicted: Floats) -> None:
    points(axes, true, predicted, color=SPLIT_COLORS["test"], label=f"test, {len(true)} points")
    low = true.min()
    high = max(true.max(), low + 1e-3 * (abs(low) or 1.0))
    axes.axline(
        (low, low), (high, high), color=BLACK, linewidth=0.8, zorder=0.5, label="predicted = true"
    )


def _deviation_panel(axes: Axes, true: Floats, deviation: Floats) -> None:
    limit = symmetric_limit(deviation)
    points_within(axes, true, deviation, limit=limit, color=SPLIT_COLORS["test"])
    reference_line(axes, y=0.0)


def residuals(predictions: DataFrame, labels: DataFrame) -> Figure:
    """Residual against the covariate, with running median and 68 % and 95 % bands."""
    rows, names = split_rows(predictions, "test"), read_labels(labels)
    covariate, residual = floats(rows, "covariate"), _residual(rows)
    color = SPLIT_COLORS["test"]
    figure = new_figure(height=3.6)
    axes = figure.subplots()
    limit = symmetric_limit(residual)
    label = f"test, {len(rows)} points"
    points_within(axes, covariate, residual, limit=limit, color=color, label=label)
    _running_bands(axes, covariate, residual)
    reference_line(axes, y=0.0)
    legend_above(figure, axes, columns=3)
    axes.set_xlabel(names.covariate)
    axes.set_ylabel(_residual_axis(names))
    return figure


def _residual(rows: DataFrame) -> Floats:
    return floats(rows, "mean") - floats(rows, "truth")


def _residual_axis(names: Labels) -> str:
    return with_unit(f"residual, predicted − true\n{names.model_target}", names.model_unit)


def _running_bands(axes: Axes, covariate: Floats, values: Floats) -> None:
    """Quantiles in bins of the covariate that hold equally many points."""
    count = min(len(covariate), max(MIN_BINS, len(covariate) // POINTS_PER_BIN))
    bins = np.array_split(np.argsort(covariate), count)
    centre = [np.median(covariate[bin_]) for bin_ in bins]
    for low, high, opacity, name in BANDS:
        lower, upper = np.transpose([np.percentile(values[b], [low, high]) for b in bins])
        axes.fill_between(centre, lower, upper, color=BLACK, alpha=opacity, linewidth=0, label=name)
    axes.plot(centre, [np.median(values[b]) for b in bins], color=BLACK, label="running median")


def residual_histogram(predictions: DataFrame, labels: DataFrame) -> Figure:
    """Distribution of the residuals of every split, on a linear and on a logarithmic axis."""
    names = read_labels(labels)
    rows = {s: predictions[predictions["split"] == s] for s in SPLIT_COLORS}
    values = {split: _residual(part) for split, part in rows.items() if len(part)}
    limit = max(map(symmetric_limit, values.values()))
    edges = np.linspace(-limit, limit, 1 + _bins(min(map(len, values.values()))))
    figure = new_figure(height=3.4)
    left, right = figure.subplots(1, 2, sharex=True)
    for split, residual in values.items():
        label = f"{split}, sd {residual.std():.3g} {names.model_unit}".rstrip()
        for axes in (left, right):
            _step_histogram(axes, residual, edges, color=SPLIT_COLORS[split], label=label)
            axes.set_xlabel(_residual_axis(names))
            few_ticks(axes.xaxis, 5)
    left.set_ylabel(with_unit("density", f"1/{names.model_unit}" if names.model_unit else ""))
    right.set_yscale("log")
    right.set_ylim(bottom=0.5 / (max(map(len, values.values())) * (edges[1] - edges[0])))
    few_ticks(right.yaxis)
    legend_above(figure, left)
    return figure


def _bins(count: int) -> int:
    return int(np.clip(4 * np.sqrt(count), 16, 60))


def _step_histogram(axes: Axes, values: Floats, edges: Floats, *, color: str, label: str) -> None:
    """Density that keeps the values beyond the axis, in its first and last bin."""
    axes.hist(
        np.clip(values, edges[0], edges[-1]),
        edges.tolist(),
        density=True,
        histtype="step",
        color=color,
        linewidth=1.4,
        label=label,
    )


def scale_ratio(predictions: DataFrame, labels: DataFrame) -> Figure:
    """Error over the scale uncertainty of the physics: distribution, and against the covariate.

    Where no scale uncertainty is known, a note says so.
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
    label = f"test, {len(ratio)} points"
    axes.hist(ratio, edges.tolist(), color=color, alpha=0.4, linewidth=0, label=label)
    axes.axvline(
        SMALL_RATIO,
        color=VERMILLION,
        linewidth=1,
        label=f"{SMALL_RATIO}: {percent:.1f} % of the points are below",
    )
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
