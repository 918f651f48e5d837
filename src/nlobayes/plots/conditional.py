"""Calibration and errors by covariate, predicted spread and distance to the training rows."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import ScaledTranslation
from pandas import DataFrame
from scipy.stats import binom

from nlobayes.plots.axes import Labels, few_ticks, fitting_scale, narrow, read_labels, with_unit
from nlobayes.plots.frames import floats
from nlobayes.plots.style import (
    BLACK,
    BLUE,
    SPLIT_COLORS,
    VERMILLION,
    Floats,
    legend_above,
    new_figure,
    reference_line,
)

OUTWARD = np.array([-1.0, 1.0])
LEVELS = ((68, VERMILLION, -1.5), (95, BLUE, 1.5))
"""Central level in percent, its colour, and the offset of its bars in points."""


def conditional(conditional: DataFrame, labels: DataFrame) -> Figure:
    """Draw spread of the pulls and coverage in bins of covariate, predicted spread and distance."""
    names = _bin_axes(read_labels(labels))
    present = [by for by in names if (conditional["by"] == by).any()]
    figure = new_figure(height=4.0)
    panels = figure.subplots(2, len(present), sharex="col", sharey="row", squeeze=False)
    for (top, bottom), by in zip(panels.T, present, strict=True):
        rows = conditional[conditional["by"] == by]
        _sigma_z_panel(top, rows)
        _coverage_panel(bottom, rows)
        _show_centres(bottom, floats(rows, "centre"))
        bottom.set_xlabel(narrow(names[by]))
    panels[0, 0].set_ylabel(r"$\sigma_z$, spread of the pulls")
    panels[1, 0].set_ylabel("coverage (%)")
    legend_above(figure, panels[1, 0])
    return figure


def _bin_axes(names: Labels) -> dict[str, str]:
    return {
        "covariate": names.covariate,
        "total_sd": with_unit("predicted sd", names.model_unit),
        "distance": "distance to train rows (median spacing)",
    }


def _sigma_z_panel(axes: Axes, rows: DataFrame) -> None:
    _bars(axes, rows, "sigma_z", color=BLACK)
    reference_line(axes, y=1.0)


def _coverage_panel(axes: Axes, rows: DataFrame) -> None:
    percent = rows[["low", "high", "centre"]].join(100 * rows.filter(like="coverage"))
    for level, color, shift in LEVELS:
        _bars(axes, percent, f"coverage_{level}", color=color, shift=shift)
        axes.axhline(level, color=color, linewidth=0.8, zorder=0.5)
        axes.plot([], [], "o", color=color, markersize=3, label=f"central {level} % interval")
    axes.plot([], [], "|", color=BLACK, markersize=8, label="95 % error of the value")
    axes.plot([], [], "_", color=BLACK, markersize=8, label="range of the bin")


def _bars(axes: Axes, rows: DataFrame, column: str, *, color: str, shift: float = 0.0) -> None:
    """Draw values and intervals, shifted by `shift` points, with the bins as horizontal bars."""
    centre, value = floats(rows, "centre"), floats(rows, column)
    lower, upper = floats(rows, f"{column}_lower"), floats(rows, f"{column}_upper")
    aside = axes.transData + ScaledTranslation(shift / 72, 0, axes.figure.dpi_scale_trans)
    axes.hlines(value, rows["low"], rows["high"], color=color, linewidth=0.7, alpha=0.4)
    intervals = axes.vlines(centre, lower, upper, color=color, linewidth=1.2)
    (values,) = axes.plot(centre, value, "o", color=color, markersize=3)
    for artist in (intervals, values):
        artist.set_transform(aside)


def _show_centres(axes: Axes, centres: Floats) -> None:
    """Limit the axis to the centres of the bins: the outermost ends may lie far away."""
    axes.set_xscale(fitting_scale(centres))
    if np.ptp(centres) > 0:
        scale = axes.xaxis.get_transform()
        ends = scale.transform([centres.min(), centres.max()])
        axes.set_xlim(*scale.inverted().transform(ends + 0.12 * np.ptp(ends) * OUTWARD))
    few_ticks(axes.xaxis)


def deciles(deciles: DataFrame, labels: DataFrame) -> Figure:
    """Draw error and coverage in tenths of the covariate, per split.

    The relative error is shown only for targets learned as log10: others may pass through zero.
    """
    names = read_labels(labels)
    percent = deciles.assign(
        **{name: 100 * deciles[name] for name in ("relative_error_p50", "coverage_95")}
    )
    errors = {"rmse_target": with_unit("RMSE", names.model_unit)}
    if names.is_log10:
        errors = {
            "rmse_log10": with_unit("RMSE", names.model_unit),
            "relative_error_p50": "median relative error (%)",
        }
    figure = new_figure(height=3.0)
    *panels, coverage = figure.subplots(1, len(errors) + 1)
    for axes, (column, label) in zip(panels, errors.items(), strict=True):
        _by_decile(axes, percent, column)
        axes.set_ylim(bottom=0)
        axes.set_ylabel(label)
    _by_decile(coverage, percent, "coverage_95")
    _expected_coverage(coverage, percent[percent["split"] == "test"])
    coverage.set_ylabel("coverage of the\n95 % interval (%)")
    for axes in (*panels, coverage):
        few_ticks(axes.xaxis)
        few_ticks(axes.yaxis, 6)
        axes.set_xlabel(narrow(names.covariate))
    legend_above(figure, coverage)
    return figure


def _by_decile(axes: Axes, deciles: DataFrame, column: str) -> None:
    for split, color in SPLIT_COLORS.items():
        rows = deciles[deciles["split"] == split].sort_values("decile")
        if len(rows):
            marker, width = ("o-", 1.6) if split == "test" else ("-", 0.8)
            axes.plot(
                _middle(rows),
                rows[column],
                marker,
                color=color,
                linewidth=width,
                markersize=3,
                label=split,
            )


def _middle(rows: DataFrame) -> Floats:
    return (floats(rows, "low") + floats(rows, "high")) / 2


def _expected_coverage(axes: Axes, test: DataFrame) -> None:
    """Shade the range of 95 % of the test deciles for a true coverage of 95 %."""
    reference_line(axes, y=95.0)
    points = floats(test, "points")
    low, high = (100 * binom.ppf(end, points, 0.95) / points for end in (0.025, 0.975))
    label = "95 % of the test deciles if calibrated"
    axes.fill_between(_middle(test), low, high, color=BLACK, alpha=0.12, linewidth=0, label=label)
