"""Pulls, coverage, PIT and cases show the values of their tables."""

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
from tests.unit.plots.prediction_tables import LOG10, prediction_tables

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


@pytest.mark.parametrize(("column", "kind"), [(0, "total"), (1, "epistemic")])
@pytest.mark.parametrize("split", SPLIT_COLORS)
def test_coverage_lines_and_differences(column: int, kind: str, split: str) -> None:
    figure = drawn(calibration.coverage, TABLES["coverage"])
    rows = of_split(TABLES["coverage"], split)
    for row, expected in ((0, rows[kind]), (1, rows[kind] - rows[f"own_{kind}"])):
        k, share = line(figure.axes[2 * row + column], split)
        np.testing.assert_allclose(k, rows["k"])
        np.testing.assert_allclose(share, 100 * expected, atol=1e-9)


def test_coverage_has_its_own_share_and_the_band_of_the_test_total_alone() -> None:
    figure = drawn(calibration.coverage, TABLES["coverage"])
    assert [len(axes.collections) for axes in figure.axes] == [1, 0, 1, 0]
    rows = of_split(TABLES["coverage"], "test")
    for axes, kind in zip(figure.axes, ("total", "epistemic"), strict=False):
        own = line(axes, "the predictive's own share")
        np.testing.assert_allclose(own, [rows["k"], 100 * rows[f"own_{kind}"]])
    (band,) = figure.axes[2].collections
    assert isinstance(band, PolyCollection)
    ends = [100 * (rows[end] - rows["own_total"]) for end in ("lower", "upper")]
    np.testing.assert_allclose(heights(band), (ends[0].min(), ends[1].max()))
    assert "(percentage points)" in shown(figure)


def test_levels_are_differences_to_the_level_in_percentage_points() -> None:
    axes = drawn(calibration.levels, TABLES["levels"]).axes[0]
    for split in SPLIT_COLORS:
        rows = of_split(TABLES["levels"], split)
        level, difference = line(axes, split)
        np.testing.assert_allclose(level, 100 * rows["level"])
        np.testing.assert_allclose(difference, 100 * (rows["coverage"] - rows["level"]), atol=1e-9)
    (band,), rows = axes.collections, of_split(TABLES["levels"], "test")
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
    for split in ("train", "val"):
        edge = line(right, f"95 % band of {split}")[1]
        rows_of = of_split(TABLES["pit"], split)
        np.testing.assert_allclose(edge, rows_of["lower"] - rows_of["u"], atol=1e-12)
    (band,) = right.collections
    assert isinstance(band, PolyCollection)
    expected = (rows["lower"] - rows["u"]).min(), (rows["upper"] - rows["u"]).max()
    np.testing.assert_allclose(heights(band), expected)


def test_cases_are_named_by_their_pull_on_one_axis() -> None:
    table = TABLES["cases"]
    figure = drawn(calibration.cases, table, LOG10)
    assert len({axes.get_xlim() for axes in figure.axes}) == 1
    for axes, case in zip(figure.axes, ("good", "typical", "bad"), strict=True):
        row = table[table["case"] == case].iloc[0]
        pull = (row["truth"] - row["mean"]) / row["total_sd"]
        assert line(axes, "true value")[0][0] == pytest.approx(pull)
        first, second = axes.get_title(loc="left").splitlines()
        assert first == f"{case}: pull {pull:+.2f}"
        stated = f"{row['mean']:.4g} ± {row['total_sd']:.2g} dex"
        assert second == f"point {row['point']:.0f}, {stated}"


def test_chosen_cases_have_a_panel_each() -> None:
    good = TABLES["cases"][TABLES["cases"]["case"] == "good"]
    table = pd.concat([good.assign(case="chosen", point=point) for point in (9, 3, 120, 7)])
    figure = drawn(calibration.cases, table, LOG10)
    titles = [axes.get_title(loc="left").split(", ")[0] for axes in figure.axes]
    assert [title.splitlines()[1] for title in titles] == [
        *("point 9", "point 3", "point 120", "point 7")
    ]
    assert all(title.startswith("chosen: pull") for title in titles)
    assert [bool(axes.get_xlabel()) for axes in figure.axes] == [False, True, True, True]


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
    np.testing.assert_allclose(wild.get_xlim(), usual.get_xlim())
