"""Pulls, coverage, PIT and cases show what their tables say."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.patches import Rectangle
from scipy.stats import binom, norm

from nlobayes.plots import calibration
from nlobayes.plots.style import SPLIT_COLORS
from tests.unit.plots.drawing import drawn, shown
from tests.unit.plots.prediction_tables import IDENTITY, LOG10, prediction_tables

TABLES = prediction_tables()
PREDICTIONS = TABLES["predictions"]
TEST = PREDICTIONS[PREDICTIONS["split"] == "test"]


def line(axes: Axes, label: str) -> np.ndarray:
    """Coordinates of a line by its label, axes (x and y, point)."""
    (found,) = (line for line in axes.get_lines() if line.get_label() == label)
    return np.asarray(found.get_data())


def heights(band: PolyCollection) -> tuple[float, float]:
    vertical = np.asarray(band.get_paths()[0].vertices)[:, 1]
    return float(vertical.min()), float(vertical.max())


def of_split(table: pd.DataFrame, split: str) -> pd.DataFrame:
    return table[table["split"] == split]


def test_pulls_state_the_spread_of_the_test_rows() -> None:
    text = shown(drawn(calibration.pulls, PREDICTIONS))
    assert rf"total, $\sigma_z$ = {np.std(TEST['z_total']):.2f}" in text
    assert rf"epistemic, $\sigma_z$ = {np.std(TEST['z_epistemic']):.2f}" in text


def test_pull_reference_is_the_standard_normal() -> None:
    z, density = line(drawn(calibration.pulls, PREDICTIONS).axes[0], r"$\mathcal{N}(0, 1)$")
    np.testing.assert_allclose(density, norm.pdf(z), rtol=1e-12)


def test_pulls_without_epistemic_spread_show_the_total_alone() -> None:
    figure = drawn(calibration.pulls, PREDICTIONS.assign(z_epistemic=np.nan))
    assert "epistemic: no spread" in shown(figure)
    assert len(figure.axes[0].patches) == 1


@pytest.mark.parametrize(("column", "kind"), [(0, "total"), (1, "epistemic")])
@pytest.mark.parametrize("split", SPLIT_COLORS)
def test_coverage_lines_and_differences(column: int, kind: str, split: str) -> None:
    figure = drawn(calibration.coverage, TABLES["coverage"])
    rows = of_split(TABLES["coverage"], split)
    for row, expected in ((0, rows[kind]), (1, rows[kind] - rows["nominal"])):
        k, share = line(figure.axes[2 * row + column], split)
        np.testing.assert_allclose(k, rows["k"])
        np.testing.assert_allclose(share, 100 * expected, atol=1e-9)


def test_coverage_has_the_gaussian_and_bands_of_the_total_only() -> None:
    figure = drawn(calibration.coverage, TABLES["coverage"])
    assert [len(axes.collections) for axes in figure.axes] == [3, 0, 3, 0]
    k, nominal = line(figure.axes[1], "Gaussian")
    np.testing.assert_allclose(nominal, 100 * (2 * norm.cdf(k) - 1))
    assert "(percentage points)" in shown(figure)


def test_coverage_without_epistemic_spread_says_so() -> None:
    figure = drawn(calibration.coverage, TABLES["coverage"].assign(epistemic=np.nan))
    assert "epistemic uncertainty: no spread" in shown(figure)


def test_levels_are_differences_to_the_level_in_percentage_points() -> None:
    axes = drawn(calibration.levels, TABLES["levels"]).axes[0]
    for split, band in zip(SPLIT_COLORS, axes.collections, strict=True):
        rows = of_split(TABLES["levels"], split)
        level, difference = line(axes, split)
        np.testing.assert_allclose(level, 100 * rows["level"])
        np.testing.assert_allclose(difference, 100 * (rows["coverage"] - rows["level"]), atol=1e-9)
        ends = 100 * (rows["lower"] - rows["level"]), 100 * (rows["upper"] - rows["level"])
        assert isinstance(band, PolyCollection)
        np.testing.assert_allclose(heights(band), (ends[0].min(), ends[1].max()))


def test_pit_histogram_is_a_density_with_the_binomial_band_of_a_bin() -> None:
    """60 test rows make 5 bins: of B(60, 1/5), over 12."""
    left = drawn(calibration.pit, PREDICTIONS, TABLES["pit"]).axes[0]
    span, *histograms = left.patches
    low, high = binom.ppf([0.025, 0.975], 60, 0.2) / 12
    assert isinstance(span, Rectangle)
    assert (span.get_y(), span.get_y() + span.get_height()) == pytest.approx((low, high))
    filled = [patch.get_fill() for patch in histograms]
    assert filled == [False, False, True]
    counts, _ = np.histogram(TEST["pit"], 5, (0, 1))
    top = max(counts) / 12
    assert np.asarray(histograms[2].get_path().vertices)[:, 1].max() == pytest.approx(top)


def test_pit_curve_is_the_difference_to_uniform_with_the_band_of_the_test_split() -> None:
    right = drawn(calibration.pit, PREDICTIONS, TABLES["pit"]).axes[1]
    for split in SPLIT_COLORS:
        rows = of_split(TABLES["pit"], split)
        np.testing.assert_allclose(line(right, split)[1], rows["ecdf"] - rows["u"], atol=1e-12)
    rows = of_split(TABLES["pit"], "test")
    (band,) = right.collections
    assert isinstance(band, PolyCollection)
    expected = (rows["lower"] - rows["u"]).min(), (rows["upper"] - rows["u"]).max()
    np.testing.assert_allclose(heights(band), expected)


def test_one_split_is_enough() -> None:
    chosen = {name: of_split(TABLES[name], "test") for name in ("coverage", "levels", "pit")}
    drawn(calibration.coverage, chosen["coverage"])
    drawn(calibration.levels, chosen["levels"])
    assert "train" not in shown(drawn(calibration.pit, TEST, chosen["pit"]))


def test_cases_show_the_truth_and_its_distance() -> None:
    table = TABLES["cases"]
    figure = drawn(calibration.cases, table, LOG10)
    for axes, case in zip(figure.axes, ("good", "bad"), strict=True):
        row = table[table["case"] == case].iloc[0]
        assert line(axes, "true value")[0][0] == row["truth"]
        sd = abs(row["truth"] - row["mean"]) / row["total_sd"]
        title = axes.get_title(loc="left")
        assert title == f"{case} case, point {row['point']:.0f}: {sd:.1f} sd off"


def test_cases_name_the_target() -> None:
    log10 = shown(drawn(calibration.cases, TABLES["cases"], LOG10))
    assert "(σ / pb)" in log10
    assert "(1/dex)" in log10
    figure = drawn(calibration.cases, TABLES["cases"], IDENTITY)
    assert figure.axes[0].get_xlabel() == "y"
    assert figure.axes[0].get_ylabel() == "predictive density"


def test_histogram_of_a_case_is_a_density_and_ignores_far_tails() -> None:
    """One wild draw of 800 must neither stretch the axis nor rescale the histogram."""
    table = TABLES["cases"].copy()
    usual = drawn(calibration.cases, table, LOG10).axes[0]
    table.loc[0, "draw"] = 1e3
    wild = drawn(calibration.cases, table, LOG10).axes[0]
    area = sum(
        patch.get_height() * patch.get_width()
        for patch in usual.patches
        if isinstance(patch, Rectangle)
    )
    assert 0.99 <= area <= 1.0 + 1e-12
    np.testing.assert_allclose(wild.get_xlim(), usual.get_xlim(), atol=0.02)
