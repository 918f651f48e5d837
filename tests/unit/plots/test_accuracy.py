"""Signs, units and outliers of predictions against the truth."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.patches import Patch, Polygon, StepPatch

from nlobayes.plots import accuracy
from tests.unit.plots.drawing import drawn, shown, xy
from tests.unit.plots.prediction_tables import IDENTITY, LOG10, prediction_tables

PREDICTIONS = prediction_tables()["predictions"]
TEST = PREDICTIONS[PREDICTIONS["split"] == "test"]


def cloud(axes: Axes) -> np.ndarray:
    """Coordinates of the first set of points, axes (x and y, point)."""
    return np.asarray(axes.get_lines()[0].get_data())


def intervals(table: pd.DataFrame) -> list[np.ndarray]:
    """Ends of the drawn intervals that hold the truth, and of those that do not."""
    bottom = drawn(accuracy.predicted_vs_true, table, LOG10).axes[1]
    found = [bars for bars in bottom.collections if isinstance(bars, LineCollection)]
    return [np.array(bars.get_segments()).reshape(-1, 2, 2)[:, :, 1] for bars in found]


def test_intervals_are_those_of_the_table_and_coloured_by_the_truth() -> None:
    held, missed = intervals(PREDICTIONS)
    rows = TEST.sort_values("truth")
    ends = rows[["low_68", "high_68"]].sub(rows["truth"], axis=0).to_numpy()
    inside = (ends[:, 0] <= 0) & (ends[:, 1] >= 0)
    np.testing.assert_allclose(held, ends[inside])
    np.testing.assert_allclose(missed, ends[~inside])
    text = shown(drawn(accuracy.predicted_vs_true, PREDICTIONS, LOG10))
    assert f"60 shown: {100 * inside.mean():.1f} % of all contain the true value" in text


def test_residuals_are_predicted_minus_true_against_the_covariate() -> None:
    table = PREDICTIONS.assign(mean=PREDICTIONS["truth"] + 0.01)
    covariate, residual = cloud(drawn(accuracy.residuals, table, LOG10).axes[0])
    np.testing.assert_allclose(covariate, TEST["covariate"])
    np.testing.assert_allclose(residual, 0.01, rtol=1e-9)


@pytest.mark.statistical
def test_running_bands_hold_their_share_and_reach_all_points() -> None:
    """Median over 100 bins of the quantiles of 200 normal residuals: within 5 % of the exact."""
    rng = np.random.default_rng(7)
    table = pd.DataFrame({"split": "test", "covariate": rng.uniform(size=20_000), "truth": 0.0})
    table["mean"] = 0.02 * rng.normal(size=len(table))
    axes = accuracy.residuals(table, LOG10).axes[0]
    *bands, median = (patch for patch in axes.patches if isinstance(patch, StepPatch))
    for band, k in zip(bands, (1.95996, 0.99446), strict=True):
        upper, edges, lower = band.get_data()
        assert abs(np.median(upper) / (0.02 * k) - 1) < 0.05
        assert abs(np.median(lower) / (-0.02 * k) - 1) < 0.05
        assert (edges[0], edges[-1]) == (table["covariate"].min(), table["covariate"].max())
    assert abs(np.median(median.get_data()[0])) < 0.001


def test_histogram_of_residuals_states_the_spread_of_every_split() -> None:
    figure = drawn(accuracy.residual_histogram, PREDICTIONS, LOG10)
    for split, rows in PREDICTIONS.groupby("split"):
        sd = np.std(rows["mean"] - rows["truth"])
        assert f"{split}, sd {sd:.3g} dex" in shown(figure)
    left, right = figure.axes
    assert len(histograms(left)) == 3
    assert "everything beyond, in one bin" in shown(figure)
    assert (left.get_yscale(), right.get_yscale()) == ("linear", "log")


def histograms(axes: Axes) -> list[Patch]:
    return [patch for patch in axes.patches if type(patch) is Polygon]


def test_share_below_the_small_ratio() -> None:
    """Of 4 known ratios, one of them zero, 3 are below 0.3; an unknown one does not count."""
    table = TEST.head(5).assign(error_over_scale=[0.0, 0.1, 0.299, 0.31, np.nan])
    figure = drawn(accuracy.scale_ratio, table, LOG10)
    text = shown(figure)
    assert "error of 4 test points" in text
    assert "below 0.3: 75.0 % of the points" in text
    assert "median 0.2" in text
    assert figure.axes[0].get_xscale() == figure.axes[1].get_yscale() == "log"
    np.testing.assert_allclose(xy(figure.axes[0].get_lines()[0])[0], 0.3)


@pytest.mark.parametrize("log10", [True, False])
def test_what_was_learned_of_a_relative_target_is_shown(log10: bool) -> None:
    """True and predicted ratio to the reference, or difference from it, beside the target."""
    table = prediction_tables(log10=log10)["predictions"]
    rows = table[table["split"] == "test"].sort_values("truth")
    table = table.assign(reference=table["truth"] - 0.1)
    labels, name = (LOG10, "σ / reference") if log10 else (IDENTITY, "− reference")
    expected = rows["mean"].to_numpy() - rows["truth"].to_numpy() + 0.1
    expected = 10**expected if log10 else expected
    figure = drawn(accuracy.predicted_vs_true, table, labels)
    assert len(figure.axes) == 3
    true, predicted = cloud(figure.axes[2])
    np.testing.assert_allclose(true, 10**0.1 if log10 else 0.1, rtol=1e-9)
    np.testing.assert_allclose(predicted, expected, rtol=1e-9)
    assert name in figure.axes[2].get_xlabel()
    by_covariate = drawn(accuracy.residuals, table, labels)
    assert len(by_covariate.axes) == 2
    assert name in by_covariate.axes[1].get_ylabel()
    assert len(drawn(accuracy.residuals, table.assign(reference=np.nan), labels).axes) == 1
