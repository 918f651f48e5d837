"""Confusion, reliability and thresholds show the values of their tables."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.patches import StepPatch

from nlobayes.plots import classification
from nlobayes.plots.style import BLACK, SPLIT_COLORS
from tests.refusals import refused
from tests.unit.plots.class_tables import class_names, class_tables
from tests.unit.plots.drawing import draw, drawn, shown, xy

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


def test_numbers_stand_out_from_their_cells() -> None:
    axes = drawn(classification.confusion, small_matrix(), class_names(3)).axes[0]
    assert {text.get_text(): text.get_color() for text in axes.texts} == {
        "9": "white",
        "4": "white",
        "1": BLACK,
    }


def test_only_test_rows_are_counted() -> None:
    axes = drawn(classification.confusion, TABLES["confusion"], TABLES["classes"]).axes[0]
    assert sum(map(int, counts_of(axes).values())) == of_split("confusion", "test")["count"].sum()


def test_classes_are_named_in_the_order_of_their_numbers() -> None:
    names = pd.DataFrame({"class": [2, 0, 1], "name": [30, "$10$", "twenty"]})
    axes = drawn(classification.confusion, small_matrix(), names).axes[0]
    ticks = [label.get_text() for label in axes.get_yticklabels()]
    assert ticks == [r"\$10\$", "twenty", "30"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ticks


def test_a_class_without_a_name_is_refused() -> None:
    with refused("plots.no_class", number=2, classes=2):
        drawn(classification.confusion, small_matrix(), class_names(2))
    with refused("plots.no_column_drawn", tables=("confusion", "classes"), column="name"):
        draw("confusion", {"classes": class_names(10).drop(columns="name")})


@pytest.mark.parametrize("classes", [2, 5, 11, 20])
@pytest.mark.parametrize("pattern", ["{}", "pair production of the lightest particle {}"])
def test_names_and_numbers_neither_collide_nor_leave_the_page(classes: int, pattern: str) -> None:
    tables = class_tables(classes=classes)
    many = tables["confusion"].assign(count=97 * tables["confusion"]["count"])
    figure = draw("confusion", {"confusion": many, "classes": class_names(classes, pattern)})
    box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    assert -0.01 <= box.x0 < box.x1 <= width + 0.01
    assert -0.01 <= box.y0 < box.y1 <= height + 0.01
    axes = figure.axes[0]
    cell = axes.get_window_extent().width / classes
    assert max(text.get_window_extent().width for text in axes.texts) < cell
    for axis, side in ((axes.xaxis, "width"), (axes.yaxis, "height")):
        labels = axis.get_ticklabels()
        assert max(getattr(label.get_window_extent(), side) for label in labels) < cell
        assert len({label.get_text() for label in labels}) == classes


def test_more_classes_than_fit_are_coloured_only() -> None:
    tables = class_tables(classes=21, sizes={"test": 300})
    assert not drawn(classification.confusion, tables["confusion"], tables["classes"]).axes[0].texts


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


def test_reliability_states_the_calibration_error() -> None:
    """Three quarters of the points off by 0.1, a quarter by 0.02: 8 %."""
    bins = pd.DataFrame(
        {
            "split": "test",
            "low": [0.0, 0.5],
            "high": [0.5, 1.0],
            "count": [10, 30],
            "confidence": [0.4, 0.9],
            "accuracy": [0.42, 0.8],
            "lower": 0.3,
            "upper": 0.9,
        }
    )
    assert "test, ECE 8.0 %" in shown(drawn(classification.reliability, bins))


def test_confidences_are_shares_of_the_points() -> None:
    bottom = drawn(classification.reliability, TABLES["reliability"]).axes[1]
    for split, steps in zip(SPLIT_COLORS, bottom.patches, strict=True):
        assert isinstance(steps, StepPatch)
        count = of_split("reliability", split)["count"]
        heights, edges, _ = steps.get_data()
        np.testing.assert_allclose(heights, 100 * count / count.sum())
        np.testing.assert_allclose(edges, 100 * np.arange(16) / 15)


def test_axis_starts_at_the_lowest_confidence() -> None:
    tables = class_tables(classes=2)
    low, high = drawn(classification.reliability, tables["reliability"]).axes[0].get_xlim()
    assert (low, high) == (pytest.approx(100 * 7 / 15), 100)


def test_empty_bins_are_no_lost_rows() -> None:
    assert (TABLES["reliability"]["count"] == 0).any()
    assert "not drawn" not in shown(draw("reliability"))


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


def test_thresholds_that_nothing_reaches_have_no_precision() -> None:
    table = of_split("thresholds", "test").copy()
    table.loc[table["threshold"] > 0.5, ["precision", "lower", "upper"]] = np.nan
    figure = draw("thresholds", {"thresholds": table})
    assert np.isnan(xy(figure.axes[0].get_lines()[0])[1]).sum() == (table["threshold"] > 0.5).sum()
    assert "not drawn" not in shown(figure)
