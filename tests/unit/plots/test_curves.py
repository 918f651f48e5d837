"""Curves of every draw, densities and their bands, and where there are no train rows."""

import numpy as np
import pytest
from matplotlib.collections import PolyCollection, QuadMesh

from nlobayes.plots.bands import bands
from nlobayes.plots.curves import curves, density
from nlobayes.plots.style import chain_color
from tests.unit.plots.drawing import drawn, xy
from tests.unit.plots.prediction_tables import IDENTITY, curve_tables, one_input_predictions

PREDICTIONS = one_input_predictions()
TABLES = curve_tables(PREDICTIONS)
CURVES = (TABLES["curves"], TABLES["maps"], PREDICTIONS, IDENTITY)
DENSITY = (TABLES["density"], TABLES["predictive_quantiles"], PREDICTIONS, IDENTITY)


def test_every_draw_is_a_line_in_the_colour_of_its_chain() -> None:
    axes = drawn(curves, *CURVES).axes[0]
    lines = [line for line in axes.get_lines() if line.get_linewidth() == 0.6]
    draws = TABLES["curves"].groupby(["chain", "draw"])
    for line, (_, rows) in zip(lines, draws, strict=True):
        np.testing.assert_array_equal(xy(line), rows[["covariate", "f"]].T)
        assert line.get_color() == chain_color(int(rows["chain"].iloc[0]))


def test_every_map_is_a_line_on_the_same_axes() -> None:
    left, right = drawn(curves, *CURVES).axes
    lines = [line for line in right.get_lines() if line.get_linestyle() == "-"]
    for line, (_, rows) in zip(lines, TABLES["maps"].groupby("member"), strict=True):
        np.testing.assert_array_equal(xy(line), rows[["covariate", "f"]].T)
    assert left.get_ylim() == right.get_ylim()


def test_rows_that_were_learned_and_those_that_were_not_are_points() -> None:
    for axes in drawn(curves, *CURVES).axes:
        points = {tuple(map(tuple, np.transpose(xy(line)))) for line in axes.get_lines()}
        for split in ("train", "test"):
            rows = PREDICTIONS[PREDICTIONS["split"] == split]
            assert tuple(zip(rows["covariate"], rows["truth"], strict=True)) in points


def test_cells_of_the_image_are_those_of_the_table() -> None:
    axes = drawn(density, *DENSITY).axes[0]
    (mesh,) = (artist for artist in axes.collections if isinstance(artist, QuadMesh))
    table = TABLES["density"]
    ordered = table.sort_values(["value", "covariate"])["density"]
    np.testing.assert_array_equal(np.ravel(np.asarray(mesh.get_array())), ordered)
    assert mesh.norm.vmax == table["density"].max()
    assert mesh.norm.vmin == pytest.approx(table["density"].max() / 1000)


def test_quantiles_are_five_lines_named_by_pairs() -> None:
    axes = drawn(density, *DENSITY).axes[0]
    lines = [xy(line) for line in axes.get_lines() if line.get_linestyle() in (":", "--", "-")]
    table = TABLES["predictive_quantiles"]
    for line, level in zip(lines, ("q2_5", "q97_5", "q16", "q84", "q50"), strict=True):
        np.testing.assert_array_equal(line, table[["covariate", level]].T)
    names = [text.get_text() for text in axes.figure.legends[0].get_texts()]
    assert names == ["2.5 and 97.5 %", "16 and 84 %", "median", "test", "train, 20 points"]


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
