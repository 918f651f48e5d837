"""The figure of a dataset shows its rows, target by target, and how the targets are spread."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import same_color
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from nlobayes.plots.data import data
from nlobayes.plots.style import SPLIT_COLORS
from tests.unit.plots.data_tables import class_data_tables, data_tables
from tests.unit.plots.drawing import drawn, xy

NAMES = ("data_rows", "data_columns", "data_splits")


def figure_of(tables: dict[str, pd.DataFrame]) -> Figure:
    return drawn(data, *(tables[name] for name in NAMES))


def cloud(axes: Axes, split: str) -> np.ndarray:
    """Give the points (coordinate, point) of a split."""
    lines = [line for line in axes.get_lines() if same_color(line.get_color(), SPLIT_COLORS[split])]
    return max((np.array(xy(line)) for line in lines), key=np.size)


def test_every_input_has_a_panel_of_all_rows_for_the_target_and_for_its_ratio() -> None:
    tables = data_tables()
    rows, panels = tables["data_rows"], figure_of(tables).axes
    expected = {
        0: ("input_1", "target_1"),
        1: ("input_2", "target_1"),
        3: ("input_1", "ratio"),
        4: ("input_2", "ratio"),
    }
    for number, columns in expected.items():
        for split in SPLIT_COLORS:
            mine = rows.loc[rows["split"] == split, [*columns]]
            np.testing.assert_array_equal(cloud(panels[number], split), mine.to_numpy().T)
    assert [axes.get_yscale() for axes in (panels[0], panels[3])] == ["log", "linear"]


def test_the_distribution_of_each_split_sums_to_one() -> None:
    spread = figure_of(data_tables()).axes[2]
    steps = [patch for patch in spread.patches if isinstance(patch, Polygon)]
    assert len(steps) == len(SPLIT_COLORS)
    for step in steps:
        heights = step.get_xy()[1:-1:2, 1]
        assert heights.sum() == pytest.approx(1.0)


def test_classes_show_the_median_of_an_input_in_each() -> None:
    tables = class_data_tables()
    axes = figure_of(tables).axes[0]
    rows = tables["data_rows"]
    train = rows[rows["split"] == "train"]
    expected = train.groupby("target_1")["input_1"].median()
    x, y = cloud(axes, "train")
    np.testing.assert_allclose(x, expected)
    np.testing.assert_allclose(np.rint(y), expected.index)
