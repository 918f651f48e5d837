"""The figures about chains show what their tables say."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from nlobayes.plots import FIGURES

Draw = Callable[..., Figure]
Tables = dict[str, pd.DataFrame]
Texts = Callable[[Figure], str]


def test_fixed_tolerance_shows_the_log_density_alone(
    tables: Tables, draw: Draw, texts: Texts
) -> None:
    figure = draw("trace", trace=tables["trace"].assign(noise=np.nan))
    assert len(figure.axes) == 2
    assert len(draw("trace").axes) == 4
    assert "tolerance of the likelihood is fixed" in texts(figure)


def test_a_chain_keeps_its_colour_in_every_figure(tables: Tables, draw: Draw) -> None:
    for name in ("trace", "loss"):
        table = tables[name]
        every = draw(name).axes[0].get_lines()
        last = FIGURES[name].draw(table[table["chain"] == 2]).axes[0].get_lines()
        assert [line.get_color() for line in last] == [every[2].get_color()]
        assert len({line.get_color() for line in every}) == 3


def test_many_chains_are_counted_not_named(tables: Tables, draw: Draw) -> None:
    one = tables["trace"][tables["trace"]["chain"] == 0]
    figure = draw("trace", trace=pd.concat([one.assign(chain=chain) for chain in range(12)]))
    assert figure.get_suptitle() == "12 chains; colours repeat"
    assert figure.legends == []


def test_rhat_curve_and_shares(tables: Tables, draw: Draw, texts: Texts) -> None:
    """R-hat of infinity counts as a point above every threshold."""
    rhat = np.array([1.0, 1.005, 1.02, 1.03, np.inf])
    table = tables["convergence"].head(5).assign(rhat=rhat)
    figure = draw("convergence", convergence=table)
    x, y = np.asarray(figure.axes[0].get_lines()[0].get_data())
    np.testing.assert_allclose(x, rhat[:4])
    np.testing.assert_allclose(y, [0.2, 0.4, 0.6, 0.8])
    assert "1.01 (40.0 % of the points" in texts(figure)
    assert "1.05 (80.0 % of the points" in texts(figure)
    assert "not finite: 1 of 5" in texts(figure)


def test_every_point_is_in_the_ess_histogram(tables: Tables, draw: Draw) -> None:
    table = tables["convergence"].copy()
    table.loc[:4, ["ess_bulk", "ess_tail"]] = 0.0
    counted = [
        _step_area(patch) for patch in draw("convergence", convergence=table).axes[1].patches
    ]
    assert counted == [len(table), len(table)]


def _step_area(patch: Patch) -> int:
    """Sum of the heights of a step histogram: every bin has two vertices at its height."""
    vertices = np.asarray(patch.get_path().vertices)
    left, right = vertices[1:-1:2], vertices[2::2]
    return round(float(sum(a[1] for a, b in zip(left, right, strict=True) if a[1] == b[1])))


@pytest.mark.parametrize("shift", [0.0, -5.0])
def test_loss_is_shown_above_the_lowest(shift: float, tables: Tables, draw: Draw) -> None:
    table = tables["loss"]
    figure = draw("loss", loss=table.assign(train_loss=table["train_loss"] + shift))
    assert [axes.get_yscale() for axes in figure.axes] == ["log", "log"]
    lowest = min(np.min(np.asarray(line.get_ydata())) for line in figure.axes[0].lines)
    assert lowest == pytest.approx(0.0, abs=1e-12)
