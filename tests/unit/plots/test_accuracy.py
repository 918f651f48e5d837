"""Signs, units and outliers of predictions against the truth."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from nlobayes.errors import InputError
from nlobayes.plots import accuracy
from tests.unit.plots.drawing import drawn, shown, xy
from tests.unit.plots.prediction_tables import IDENTITY, LOG10, prediction_tables

PREDICTIONS = prediction_tables()["predictions"]
TEST = PREDICTIONS[PREDICTIONS["split"] == "test"]
WITH_UNIT = IDENTITY.assign(target="quality_points", unit="points")
FIGURES = (
    accuracy.predicted_vs_true,
    accuracy.residuals,
    accuracy.residual_histogram,
    accuracy.scale_ratio,
)


def cloud(axes: Axes) -> np.ndarray:
    """Coordinates of the first set of points, axes (x and y, point)."""
    return np.asarray(axes.get_lines()[0].get_data())


@pytest.mark.parametrize(
    ("draw", "units"),
    [
        (accuracy.predicted_vs_true, ["(σ / pb)", "σ (pb)", "(dex)", "(%)"]),
        (accuracy.residuals, ["|m1| (GeV)", "(dex)"]),
        (accuracy.residual_histogram, ["(dex)", "(1/dex)"]),
        (accuracy.scale_ratio, ["|m1| (GeV)", "|error| / scale uncertainty"]),
    ],
)
def test_axes_state_what_the_labels_say(draw: Callable[..., Figure], units: list[str]) -> None:
    text = shown(drawn(draw, PREDICTIONS, LOG10))
    assert [unit for unit in units if unit not in text] == []


@pytest.mark.parametrize("draw", FIGURES)
def test_missing_test_split_is_named(draw: Callable[..., Figure]) -> None:
    table = PREDICTIONS[PREDICTIONS["split"] == "train"]
    if draw is accuracy.residual_histogram:
        assert "test" not in shown(draw(table, LOG10))
        return
    with pytest.raises(InputError, match="no rows of split 'test'; it has train"):
        draw(table, LOG10)


def test_target_without_logarithm_has_one_column_and_its_unit() -> None:
    table = prediction_tables(log10=False)["predictions"]
    figure = drawn(accuracy.predicted_vs_true, table, WITH_UNIT)
    assert len(figure.axes) == 2
    assert {axes.get_xscale() for axes in figure.axes} == {"linear"}
    assert figure.axes[0].get_ylabel() == "predicted quality (points)"
    assert figure.axes[1].get_ylabel() == "predicted − true\n (points)"
    for draw in FIGURES:
        assert "dex" not in shown(draw(table, WITH_UNIT))
        assert "()" not in shown(draw(table, IDENTITY))


def test_relative_deviation_is_in_percent() -> None:
    table = PREDICTIONS.assign(median_target=1.05 * PREDICTIONS["truth_target"])
    deviation = cloud(drawn(accuracy.predicted_vs_true, table, LOG10).axes[3])[1]
    np.testing.assert_allclose(deviation, 5.0, rtol=1e-9)


def test_few_points_have_error_bars_and_many_have_none() -> None:
    many = prediction_tables(points=200)["predictions"]
    for table, bars in ((PREDICTIONS, 1), (many, 0)):
        figure = drawn(accuracy.predicted_vs_true, table, LOG10)
        assert [len(axes.collections) for axes in figure.axes] == [bars] * 4


def test_residuals_are_predicted_minus_true_against_the_covariate() -> None:
    table = PREDICTIONS.assign(mean=PREDICTIONS["truth"] + 0.01)
    covariate, residual = cloud(drawn(accuracy.residuals, table, LOG10).axes[0])
    np.testing.assert_allclose(covariate, TEST["covariate"])
    np.testing.assert_allclose(residual, 0.01, rtol=1e-9)


@pytest.mark.statistical
def test_running_bands_hold_their_share() -> None:
    """Median over 100 bins of the quantiles of 200 normal residuals: within 5 % of the exact."""
    rng = np.random.default_rng(7)
    table = pd.DataFrame({"split": "test", "covariate": rng.uniform(size=20_000), "truth": 0.0})
    table["mean"] = 0.02 * rng.normal(size=len(table))
    axes = accuracy.residuals(table, LOG10).axes[0]
    for band, k in zip(axes.collections, (1.95996, 0.99446), strict=True):
        heights = np.asarray(band.get_paths()[0].vertices)[:, 1]
        assert abs(np.median(heights[heights > 0]) / (0.02 * k) - 1) < 0.05
        assert abs(np.median(heights[heights < 0]) / (-0.02 * k) - 1) < 0.05


def test_outliers_stay_visible_at_the_edge() -> None:
    table = PREDICTIONS.copy()
    outlier = table.index[-1]
    table.loc[outlier, "mean"] = table.loc[outlier, "truth"] + 3.0
    figure = drawn(accuracy.residuals, table, LOG10)
    assert figure.axes[0].get_ylim()[1] < 3.0
    assert "1 beyond the axis" in shown(figure)


def test_histogram_of_residuals_states_the_spread_of_every_split() -> None:
    figure = drawn(accuracy.residual_histogram, PREDICTIONS, LOG10)
    for split, rows in PREDICTIONS.groupby("split"):
        sd = np.std(rows["mean"] - rows["truth"])
        assert f"{split}, sd {sd:.3g} dex" in shown(figure)
    left, right = figure.axes
    assert len(left.patches) == 3
    assert (left.get_yscale(), right.get_yscale()) == ("linear", "log")


def test_no_residual_is_left_out_of_the_histogram() -> None:
    table = PREDICTIONS.copy()
    table.loc[table.index[-1], "mean"] += 50.0
    for patch in drawn(accuracy.residual_histogram, table, LOG10).axes[0].patches:
        assert _step_area(patch) == pytest.approx(1.0)


def _step_area(patch: Patch) -> float:
    vertices = np.asarray(patch.get_path().vertices)
    x, y = vertices.T
    return float(abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2)


def test_share_below_the_small_ratio() -> None:
    """Of 4 known ratios, one of them zero, 3 are below 0.3; an unknown one does not count."""
    table = TEST.head(5).assign(error_over_scale=[0.0, 0.1, 0.299, 0.31, np.nan])
    figure = drawn(accuracy.scale_ratio, table, LOG10)
    text = shown(figure)
    assert "test, 4 points" in text
    assert "0.3: 75.0 % of the points are below" in text
    assert figure.axes[0].get_xscale() == figure.axes[1].get_yscale() == "log"
    np.testing.assert_allclose(xy(figure.axes[0].get_lines()[0])[0], 0.3)


def test_unknown_scale_uncertainty_is_said() -> None:
    figure = drawn(accuracy.scale_ratio, TEST.assign(error_over_scale=np.nan), IDENTITY)
    assert figure.axes == []
    assert "no known scale uncertainty" in shown(figure)
