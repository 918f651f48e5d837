"""Calibration in bins and errors in deciles show the values of their tables."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from scipy.stats import binom

from nlobayes.plots import conditional
from nlobayes.plots.style import SPLIT_COLORS
from tests.unit.plots.drawing import drawn, shown, xy
from tests.unit.plots.prediction_tables import IDENTITY, LOG10, prediction_tables

TABLES = prediction_tables(points=200)
BINS, DECILES = TABLES["conditional"], TABLES["deciles"]
BY = ("covariate", "total_sd", "distance")


def bars(axes: Axes, index: int) -> np.ndarray:
    """Ends of bars, axes (bar, end, x and y)."""
    found = [c for c in axes.collections if isinstance(c, LineCollection)]
    return np.array(found[index].get_segments())


def test_three_columns_and_two_rows_with_their_units() -> None:
    figure = drawn(conditional.conditional, BINS, LOG10)
    assert len(figure.axes) == 6
    below = [axes.get_xlabel() for axes in figure.axes[3:]]
    assert below == ["|m1| (GeV)", "predicted sd (dex)", "distance to train rows\n(median spacing)"]
    text = shown(figure)
    for key in ("central 68 % interval", "95 % error of the value", "range of the bin"):
        assert key in text
    assert drawn(conditional.conditional, BINS, IDENTITY).axes[4].get_xlabel() == "predicted sd"


@pytest.mark.parametrize("column", range(3))
def test_bins_have_their_values_and_intervals(column: int) -> None:
    figure = drawn(conditional.conditional, BINS, LOG10)
    rows = BINS[BINS["by"] == BY[column]]
    top, bottom = figure.axes[column], figure.axes[3 + column]
    np.testing.assert_allclose(xy(top.get_lines()[0])[1], rows["sigma_z"])
    np.testing.assert_allclose(bars(top, 0)[:, :, 0], rows[["low", "high"]])
    np.testing.assert_allclose(bars(top, 1)[:, :, 1], rows[["sigma_z_lower", "sigma_z_upper"]])
    for level, index in ((68, 1), (95, 3)):
        ends = rows[[f"coverage_{level}_lower", f"coverage_{level}_upper"]]
        np.testing.assert_allclose(bars(bottom, index)[:, :, 1], 100 * ends)


def test_reference_lines_are_one_and_the_levels() -> None:
    figure = drawn(conditional.conditional, BINS, LOG10)
    for row, expected in ((0, {1.0}), (1, {68.0, 95.0})):
        for axes in figure.axes[3 * row : 3 * row + 3]:
            flat = {y[0] for x, y in map(xy, axes.get_lines()) if list(x) == [0, 1]}
            assert flat == expected


@pytest.mark.parametrize(
    ("labels", "log10", "error", "unit"),
    [(LOG10, True, "rmse_log10", "RMSE (dex)"), (IDENTITY, False, "rmse_target", "RMSE")],
)
def test_deciles_show_error_relative_error_and_coverage(
    labels: pd.DataFrame, log10: bool, error: str, unit: str
) -> None:
    table = prediction_tables(points=200, log10=log10)["deciles"]
    figure = drawn(conditional.deciles, table, labels)
    assert figure.axes[0].get_ylabel() == unit
    assert {axes.get_xlabel() for axes in figure.axes} == {labels["covariate"].iloc[0]}
    columns = [(error, 1), ("relative_error_p50", 100), ("coverage_95", 100)]
    if not log10:
        del columns[1]
        assert "relative" not in shown(figure)
    for axes, (column, factor) in zip(figure.axes, columns, strict=True):
        for split, line in zip(SPLIT_COLORS, axes.get_lines(), strict=False):
            rows = table[table["split"] == split]
            middle = (rows["low"] + rows["high"]) / 2
            np.testing.assert_allclose(xy(line), [middle, factor * rows[column]])


def test_band_of_the_deciles_is_binomial() -> None:
    """20 test points per decile: 95 % of calibrated shares lie in the quantiles of B(20, 0.95)."""
    (band,) = drawn(conditional.deciles, DECILES, LOG10).axes[2].collections
    vertical = np.asarray(band.get_paths()[0].vertices)[:, 1]
    expected = 100 * binom.ppf([0.025, 0.975], 20, 0.95) / 20
    np.testing.assert_allclose((vertical.min(), vertical.max()), expected)
