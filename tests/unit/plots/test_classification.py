"""Confusion, reliability and thresholds show the values of their tables."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection

from nlobayes.plots import classification
from nlobayes.plots.style import SPLIT_COLORS
from tests.refusals import refused
from tests.unit.plots.class_tables import class_names, class_tables
from tests.unit.plots.drawing import draw, drawn, xy

TABLES = class_tables()


def of_split(name: str, split: str) -> pd.DataFrame:
    table = TABLES[name]
    return table[table["split"] == split]


def small_matrix() -> pd.DataFrame:
    """Nine of ten of class 0 right, all four of class 2 taken for class 0, none of class 1."""
    cells = {(0, 0): 9, (0, 2): 1, (2, 0): 4}
    rows = [("test", *cell, count) for cell, count in cells.items()]
    return pd.DataFrame(rows, columns=["split", "true", "predicted", "count"])


def counts_of(axes: Axes) -> dict[tuple[float, float], str]:
    """Numbers in the cells by (true, predicted)."""
    return {
        (text.get_position()[1], text.get_position()[0]): text.get_text() for text in axes.texts
    }


def test_cells_hold_counts_and_the_colour_their_share_of_the_row() -> None:
    axes = drawn(classification.confusion, small_matrix(), class_names(3)).axes[0]
    assert counts_of(axes) == {(0, 0): "9", (0, 2): "1", (2, 0): "4"}
    (image,) = axes.get_images()
    np.testing.assert_allclose(np.asarray(image.get_array()), [[90, 0, 10], [0, 0, 0], [100, 0, 0]])
    assert image.get_clim() == (0, 100)


@pytest.mark.parametrize("split", SPLIT_COLORS)
def test_reliability_shows_accuracy_with_its_interval(split: str) -> None:
    axes = drawn(classification.reliability, TABLES["reliability"]).axes[0]
    rows = of_split("reliability", split)
    rows = rows[rows["count"] > 0]
    (line,) = (line for line in axes.get_lines() if str(line.get_label()).startswith(split))
    confidence, accuracy = xy(line)
    np.testing.assert_allclose(confidence, 100 * rows["confidence"])
    np.testing.assert_allclose(accuracy, 100 * rows["accuracy"])
    bars = axes.collections[list(SPLIT_COLORS).index(split)]
    assert isinstance(bars, LineCollection)
    ends = np.array(bars.get_segments())[:, :, 1]
    np.testing.assert_allclose(ends, 100 * rows[["lower", "upper"]])


def test_thresholds_show_precision_recall_and_what_is_answered() -> None:
    top, bottom = drawn(classification.thresholds, TABLES["thresholds"]).axes
    rows = of_split("thresholds", "test")
    lines = [*top.get_lines(), *bottom.get_lines()]
    for line, column in zip(lines, ("precision", "answered", "recall"), strict=True):
        threshold, share = xy(line)
        np.testing.assert_allclose(threshold, 100 * rows["threshold"])
        np.testing.assert_allclose(share, 100 * rows[column])
    (band,) = top.collections
    assert isinstance(band, PolyCollection)
    ends = np.asarray(band.get_paths()[0].vertices)[:, 1]
    assert (ends.min(), ends.max()) == pytest.approx(
        (100 * rows["lower"].min(), 100 * rows["upper"].max())
    )


def test_a_class_without_a_name_is_refused() -> None:
    with refused("plots.no_class", number=2, classes=2):
        drawn(classification.confusion, small_matrix(), class_names(2))
    with refused("plots.no_column_drawn", tables=("confusion", "classes"), column="name"):
        draw("confusion", {"classes": class_names(10).drop(columns="name")})
