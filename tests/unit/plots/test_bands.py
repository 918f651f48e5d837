"""Bands of one and two standard deviations, and where there are no train rows."""

import numpy as np
import pytest
from matplotlib.collections import PolyCollection

from nlobayes.plots.bands import bands
from tests.unit.plots.drawing import drawn
from tests.unit.plots.prediction_tables import IDENTITY, one_input_predictions

TABLE = one_input_predictions()
TEST = TABLE[TABLE["split"] == "test"].sort_values("covariate")
TRAIN = TABLE[TABLE["split"] == "train"]


@pytest.mark.parametrize(("panel", "kind"), [(0, "total"), (1, "posterior")])
def test_bands_are_one_and_two_sd_around_the_mean(panel: int, kind: str) -> None:
    axes = drawn(bands, TABLE, IDENTITY).axes[panel]
    for band, k in zip(axes.collections, (2, 1), strict=True):
        assert isinstance(band, PolyCollection)
        path = {tuple(vertex) for vertex in np.asarray(band.get_paths()[0].vertices)}
        for sign in (-1, 1):
            edge = TEST["mean"] + sign * k * TEST[f"{kind}_sd"]
            assert set(zip(TEST["covariate"], edge, strict=True)) <= path


def test_mean_and_truth_are_lines_over_the_sorted_test_rows() -> None:
    axes = drawn(bands, TABLE, IDENTITY).axes[0]
    lines = {line.get_label(): line for line in axes.get_lines()}
    for label, column in (("predicted mean", "mean"), ("truth", "truth")):
        np.testing.assert_array_equal(lines[label].get_xdata(), TEST["covariate"])
        np.testing.assert_array_equal(lines[label].get_ydata(), TEST[column])
    np.testing.assert_array_equal(lines["train, 20 points"].get_ydata(), TRAIN["truth"])
