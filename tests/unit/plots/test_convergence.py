"""The figures of chains show the values of their tables."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.patches import Patch

from nlobayes.plots import convergence
from tests.unit.plots.chain_tables import chain_tables
from tests.unit.plots.drawing import drawn, shown
from tests.unit.plots.prediction_tables import LOG10

TABLES = chain_tables(chains=3)


@pytest.mark.parametrize("name", ["trace", "loss"])
def test_a_chain_keeps_its_colour_in_every_figure(name: str) -> None:
    function, table = getattr(convergence, name), TABLES[name]
    every = drawn(function, table).axes[0].get_lines()
    last = drawn(function, table[table["chain"] == 2]).axes[0].get_lines()
    assert [line.get_color() for line in last] == [every[2].get_color()]
    assert len({line.get_color() for line in every}) == 3


def few_points(**columns: np.ndarray) -> pd.DataFrame:
    """Table of five reference points."""
    return TABLES["convergence"].head(5).assign(**columns)


def test_both_rhat_curves_and_their_shares() -> None:
    """R-hat of infinity counts as a point above every threshold."""
    split = np.array([1.0, 1.005, 1.02, 1.03, np.inf])
    classic = np.array([1.06, 1.04, 1.02, 1.009, 1.07])
    figure = drawn(convergence.convergence, few_points(rhat=split, rhat_gelman_rubin=classic))
    steps = np.arange(1, 6) / 5
    first, second, *_ = (np.asarray(line.get_data()) for line in figure.axes[0].get_lines())
    np.testing.assert_allclose(first, np.stack([split[:4], steps[:4]]))
    np.testing.assert_allclose(second, np.stack([np.sort(classic), steps]))
    text = shown(figure)
    assert "rank-normalised split: 40.0 % ≤ 1.01, 80.0 % ≤ 1.05; not finite: 1 of 5" in text
    assert "Gelman and Rubin: 20.0 % ≤ 1.01, 60.0 % ≤ 1.05\n" in text


def test_every_point_is_in_the_ess_histogram() -> None:
    table = TABLES["convergence"].copy()
    table.loc[:4, ["ess_bulk", "ess_tail"]] = 0.0
    counted = [_step_area(p) for p in drawn(convergence.convergence, table).axes[1].patches]
    assert counted == [len(table), len(table)]


def test_variance_between_chains_is_in_percent_of_all() -> None:
    share = np.array([0.0, 0.01, 0.02, 0.5, np.nan])
    figure = drawn(convergence.convergence, few_points(variance_share=share))
    (patch,) = figure.axes[2].patches
    assert _step_area(patch) == 4
    assert "median 1.5 %, largest 50 %" in shown(figure)
    assert "predictive variance between chains (%)" in shown(figure)


def _step_area(patch: Patch) -> int:
    """Sum of the heights of a step histogram: every bin has two vertices at its height."""
    vertices = np.asarray(patch.get_path().vertices)
    left, right = vertices[1:-1:2], vertices[2::2]
    return round(float(sum(a[1] for a, b in zip(left, right, strict=True) if a[1] == b[1])))


def test_autocorrelation_of_functions_and_of_weights() -> None:
    function, weights = TABLES["autocorrelation"], TABLES["weight_autocorrelation"]
    figure = drawn(convergence.autocorrelation, function, weights)
    for axes, table, column, band in zip(
        figure.axes,
        (function, weights),
        ("f_mean", "mean"),
        (("f_p10", "f_p90"), ("p10", "p90")),
        strict=True,
    ):
        line = axes.get_lines()[0]
        np.testing.assert_array_equal(np.asarray(line.get_data()), table[["lag", column]].T)
        heights = np.asarray(axes.collections[0].get_paths()[0].vertices)[:, 1]
        assert {heights.min(), heights.max()} == {table[band[0]].min(), table[band[1]].max()}
    assert "lag (draws)" in shown(figure)


def test_divergent_draws_are_placed_by_covariate() -> None:
    table = TABLES["divergences"]
    figure = drawn(convergence.divergences, table, LOG10)
    clouds = [line for line in figure.axes[0].get_lines() if len(np.asarray(line.get_xdata()))]
    for line, column in zip(clouds, ("expected", "deviation"), strict=True):
        np.testing.assert_array_equal(np.asarray(line.get_data()), table[["covariate", column]].T)
    assert "|m1| (GeV)" in shown(figure)
    assert "no divergent transitions" not in shown(figure)


@pytest.mark.parametrize("shift", [0.0, -5.0])
def test_loss_is_shown_above_the_lowest(shift: float) -> None:
    table = TABLES["loss"]
    figure = drawn(convergence.loss, table.assign(train_loss=table["train_loss"] + shift))
    assert [axes.get_yscale() for axes in figure.axes] == ["log", "log"]
    lowest = min(np.min(np.asarray(line.get_ydata())) for line in figure.axes[0].lines)
    assert lowest == pytest.approx(0.0, abs=1e-12)
