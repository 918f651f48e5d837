"""How close are the predictions to the truth on the test split."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pandas import DataFrame

from nlobayes.plots.style import (
    BLACK,
    SPLIT_COLORS,
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


def predicted_vs_true(predictions: DataFrame) -> Figure:
    """Prediction against truth in log10 and in pb, each with its deviation beneath."""
    rows = split_rows(predictions, "test")
    figure = new_figure(height=4.4)
    panels = figure.subplots(2, 2, sharex="col", height_ratios=(3, 2))
    _log10_panels(panels[0, 0], panels[1, 0], rows)
    _pb_panels(panels[0, 1], panels[1, 1], rows)
    legend_above(figure, panels[0, 0], place="outside upper left")
    figure.align_ylabels()
    return figure


def _log10_panels(top: Axes, bottom: Axes, rows: DataFrame) -> None:
    true, predicted = floats(rows, "target_log10"), floats(rows, "mean_log10")
    if len(rows) <= MAX_ERROR_BARS:
        low, high = _one_sd_below_and_above(rows, predicted)
        _error_bars(top, true, low, high)
        _error_bars(bottom, true, low - true, high - true)
    _diagonal_panel(top, true, predicted)
    _deviation_panel(bottom, true, predicted - true)
    top.set_ylabel(r"predicted $\log_{10}(\sigma\,/\,\mathrm{pb})$")
    bottom.set_ylabel("predicted − true\n(dex)")
    bottom.set_xlabel(r"true $\log_{10}(\sigma\,/\,\mathrm{pb})$")


def _pb_panels(top: Axes, bottom: Axes, rows: DataFrame) -> None:
    true, predicted = floats(rows, "target_pb"), floats(rows, "median_pb")
    if len(rows) <= MAX_ERROR_BARS:
        low, high = (10**end for end in _one_sd_below_and_above(rows, np.log10(predicted)))
        _error_bars(top, true, low, high)
        _error_bars(bottom, true, 100 * (low / true - 1), 100 * (high / true - 1))
    top.set_yscale("log")
    bottom.set_xscale("log")
    _diagonal_panel(top, true, predicted)
    _deviation_panel(bottom, true, 100 * (predicted / true - 1))
    top.set_ylabel(r"predicted $\sigma$ (pb), median")
    bottom.set_ylabel("predicted / true − 1\n(%)")
    bottom.set_xlabel(r"true $\sigma$ (pb)")


def _one_sd_below_and_above(rows: DataFrame, centre: Floats) -> tuple[Floats, Floats]:
    sd = floats(rows, "total_sd_log10")
    return centre - sd, centre + sd


def _error_bars(axes: Axes, x: Floats, low: Floats, high: Floats) -> None:
    axes.vlines(x, low, high, color=SPLIT_COLORS["test"], linewidth=0.6, alpha=0.5)


def _diagonal_panel(axes: Axes, true: Floats, predicted: Floats) -> None:
    points(axes, true, predicted, color=SPLIT_COLORS["test"], label=f"test, {len(true)} points")
    low = true.min()
    high = max(true.max(), low + 1e-3 * abs(low))
    axes.axline(
        (low, low), (high, high), color=BLACK, linewidth=0.8, zorder=0.5, label="predicted = true"
    )


def _deviation_panel(axes: Axes, true: Floats, deviation: Floats) -> None:
    limit = symmetric_limit(deviation)
    points_within(axes, true, deviation, limit=limit, color=SPLIT_COLORS["test"])
    reference_line(axes, y=0.0)


def residuals(predictions: DataFrame) -> Figure:
    """Residual in dex against |m| in GeV, with running median and 68 % and 95 % bands."""
    rows = split_rows(predictions, "test")
    mass = np.abs(floats(rows, "mass_gev"))
    residual = floats(rows, "mean_log10") - floats(rows, "target_log10")
    color = SPLIT_COLORS["test"]
    figure = new_figure(height=3.6)
    axes = figure.subplots()
    limit = symmetric_limit(residual)
    label = f"test, {len(rows)} points"
    points_within(axes, mass, residual, limit=limit, color=color, label=label)
    _running_bands(axes, mass, residual)
    reference_line(axes, y=0.0)
    legend_above(figure, axes)
    axes.set_xlabel(r"mass $|m|$ (GeV)")
    axes.set_ylabel(r"residual, predicted − true $\log_{10}\sigma$ (dex)")
    return figure


def _running_bands(axes: Axes, mass: Floats, residual: Floats) -> None:
    """Quantiles in bins of mass that hold equally many points."""
    count = min(len(mass), max(MIN_BINS, len(mass) // POINTS_PER_BIN))
    bins = np.array_split(np.argsort(mass), count)
    centre = [np.median(mass[bin_]) for bin_ in bins]
    for low, high, opacity, name in BANDS:
        lower, upper = np.transpose([np.percentile(residual[b], [low, high]) for b in bins])
        axes.fill_between(centre, lower, upper, color=BLACK, alpha=opacity, linewidth=0, label=name)
    axes.plot(centre, [np.median(residual[b]) for b in bins], color=BLACK, label="running median")
