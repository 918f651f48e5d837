"""Figures of a network whose size is drawn show the values of their tables."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Polygon, Rectangle

from nlobayes.plots import sizes
from nlobayes.plots.style import BLUE, GREEN, VERMILLION
from tests.unit.plots.drawing import drawn, xy
from tests.unit.plots.prediction_tables import prediction_tables
from tests.unit.plots.size_tables import size_tables

TABLES = size_tables()
LABELS = prediction_tables()["labels"]
SMALL = pd.DataFrame(
    [
        *[("depth", 1, 1, 7, 0, np.nan), ("depth", 1, 2, 3, 10, 0.3)],
        *[("depth", 2, 1, 1, 4, 0.2), ("depth", 2, 2, 5, 0, np.nan), ("depth", 2, 3, 0, 2, 0.0)],
    ],
    columns=["quantity", "from", "to", "visits", "tried", "acceptance"],
)
DEPTHS = TABLES["sizes"].query("quantity == 'depth'")


def lines_of(axes: Axes, color: str) -> tuple[list[float], list[float]]:
    """Places and heights of the one line of a colour."""
    (line,) = [line for line in axes.get_lines() if line.get_color() == color]
    return np.asarray(line.get_xdata()).tolist(), np.asarray(line.get_ydata()).tolist()


def test_bars_are_the_posterior_and_dashes_the_prior() -> None:
    axes = drawn(sizes.sizes, DEPTHS).axes[0]
    heights = [bar.get_height() for bar in axes.patches if isinstance(bar, Rectangle)]
    assert heights == DEPTHS["probability"].tolist()
    assert lines_of(axes, VERMILLION) == ([1, 2, 3], [1 / 3] * 3)
    assert axes.get_xlabel() == "hidden layers"


def test_the_matrix_counts_jumps_from_row_to_column() -> None:
    """A jump that was tried and never made has no cell."""
    (image,) = drawn(sizes.visits, SMALL, DEPTHS).axes[0].get_images()
    counted = np.ma.filled(np.ma.masked_invalid(np.asarray(image.get_array())), np.nan)
    expected = [[7, 3, np.nan], [1, 5, np.nan], [np.nan, np.nan, np.nan]]
    np.testing.assert_array_equal(counted, expected)


def test_acceptance_is_of_jumps_to_more_and_to_fewer() -> None:
    axes = drawn(sizes.visits, SMALL, DEPTHS).axes[1]
    assert lines_of(axes, BLUE) == ([1, 2], [30, sizes.LEAST_SHOWN])
    assert lines_of(axes, VERMILLION) == ([2], [20])
    np.testing.assert_allclose(lines_of(axes, GREEN)[1], 100 * DEPTHS["acceptance_within"])


def test_every_quantity_has_a_trace_with_a_bin_for_each_number() -> None:
    figure = drawn(sizes.size_trace, TABLES["size_trace"])
    left, right = figure.axes[::2], figure.axes[1::2]
    assert [axes.get_ylabel().replace("\n", " ") for axes in left] == [
        *("units of hidden layer 1", "hidden layers", "parameters in use"),
        "log posterior density (nats)",
    ]
    (outline, *_) = [each for each in right[1].patches if isinstance(each, Polygon)]
    assert sorted(set(outline.get_xy()[:, 1].tolist())) == [0.5, 1.5, 2.5, 3.5]


def test_lines_are_the_scores_of_the_mixtures() -> None:
    scores = TABLES["size_scores"]
    figure = drawn(sizes.draw_scores, TABLES["draw_scores"], scores, LABELS)
    train, _, test = figure.axes[:3]
    flat = [xy(line)[1][0] for line in test.get_lines() if line.get_linestyle() != "None"]
    assert flat == scores.query("split == 'test'")["rmse_log10"].tolist()
    assert all(line.get_linestyle() == "None" for line in train.get_lines())
    assert [axes.get_title(loc="left") for axes in figure.axes[:3]] == ["train", "val", "test"]
