"""Lines of what networks take, and histograms of every loading."""

import numpy as np
from matplotlib.patches import StepPatch

from nlobayes.plots.speed import loadings, speed
from tests.unit.plots.drawing import TABLES, drawn, xy

TABLE, EVERY = TABLES["speed"], TABLES["loadings"]


def test_lines_are_the_columns_in_seconds_and_milliseconds() -> None:
    figure = drawn(speed, TABLE.sample(frac=1, random_state=1))
    left, right = (
        {str(line.get_label()): xy(line) for line in axes.get_lines()} for axes in figure.axes
    )
    np.testing.assert_array_equal(left["gradient"][0], TABLE["parameters"])
    np.testing.assert_allclose(left["gradient"][1], TABLE["gradient_ms"] / 1e3)
    np.testing.assert_array_equal(left["longest draw"][1], TABLE["seconds_per_draw_at_most"])
    np.testing.assert_array_equal(right["predict 16 points"][1], TABLE["predict_16_ms"])
    np.testing.assert_array_equal(right["load"][1], TABLE["load_ms"])
    raw = [xy(line)[1] for line in figure.axes[1].get_lines() if line.get_marker() == "x"]
    np.testing.assert_array_equal(raw[2], TABLE["raw_256_ms"])


def test_histograms_hold_all_but_the_slowest_percent() -> None:
    axes = drawn(loadings, EVERY).axes[0]
    steps = [patch.get_data() for patch in axes.patches if isinstance(patch, StepPatch)]
    assert len(steps) == EVERY["parameters"].nunique()
    for (values, edges, _), (_, rows) in zip(steps, EVERY.groupby("parameters"), strict=True):
        np.testing.assert_allclose(np.sum(values), 99.0)
        ends = [rows["load_ms"].min(), rows["load_ms"].quantile(0.99)]
        np.testing.assert_allclose(edges[[0, -1]], ends)
