"""Planes, densities and histories of weights: all chains visible, still weights admitted."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex
from matplotlib.contour import ContourSet
from matplotlib.patches import StepPatch

from nlobayes.plots import marginals, weights
from nlobayes.plots.style import CHAIN_COLORS, chain_color
from tests.unit.plots.chain_tables import chain_tables
from tests.unit.plots.drawing import drawn, shown

TABLES = chain_tables(chains=3)
PLANES = TABLES["weight_planes"]
HALF = weights.DENSITY_LEVELS.index(0.5)


def dots(axes: Axes) -> PathCollection:
    (found,) = (c for c in axes.collections if isinstance(c, PathCollection))
    return found


def filled(axes: Axes) -> list[ContourSet]:
    return [c for c in axes.collections if isinstance(c, ContourSet)]


def test_every_plane_has_a_density_and_the_draws() -> None:
    figure = drawn(weights.planes, PLANES)
    *panels, colorbar = figure.axes
    assert len(panels) == 4
    for pair, axes in enumerate(panels):
        rows = PLANES[PLANES["pair"] == pair]
        expected = rows[["x", "y"]].to_numpy()
        assert len(filled(axes)) == 1
        assert {tuple(xy) for xy in np.asarray(dots(axes).get_offsets())} == {*map(tuple, expected)}
        assert len(np.unique(dots(axes).get_facecolor(), axis=0)) == 3
        assert axes.get_xlabel() == rows["x_name"].iloc[0]
        for axis in (axes.xaxis, axes.yaxis):
            assert 2 <= len(axis.get_ticklocs()) <= 7
    assert "relative to its highest" in colorbar.get_ylabel()
    assert "chain 2" in shown(figure)


def one_plane(x: np.ndarray, y: np.ndarray, chain: np.ndarray) -> ContourSet:
    names = {"pair": 0, "x_name": "a", "y_name": "b"}
    table = pd.DataFrame({**names, "chain": chain, "x": x, "y": y})
    (density,) = filled(drawn(weights.planes, table).axes[0])
    return density


def test_density_has_a_peak_at_each_mode() -> None:
    """Two chains of normal draws 8 sd apart: dense at both centres, empty between."""
    rng = np.random.default_rng(3)
    chain = np.repeat([0, 1], 300)
    density = one_plane(8.0 * chain - 4 + rng.normal(size=600), rng.normal(size=600), chain)
    above_half = density.get_paths()[HALF:]
    for x, dense in ((-4.0, True), (0.0, False), (4.0, True)):
        assert any(path.contains_point((x, 0.0)) for path in above_half) is dense


@pytest.mark.statistical
def test_density_of_one_normal_falls_as_it_should() -> None:
    """Half of the peak at 1.18 sd, within 6 % for 4000 draws and a kernel of 0.25 sd."""
    x, y = np.random.default_rng(5).normal(size=(2, 4000))
    density = one_plane(x, y, np.zeros(4000, dtype=int))
    radius = np.hypot(*np.asarray(density.get_paths()[HALF].vertices).T)
    inner, outer = (np.sqrt(-2 * np.log(level)) for level in (0.75, 0.5))
    ring = radius[radius > (inner + outer) / 2]
    assert ring.mean() == pytest.approx(outer, rel=0.06)


@pytest.mark.parametrize("count", [1, 5, 6])
def test_history_has_one_panel_per_weight(count: int) -> None:
    table = TABLES["history"]
    names = list(table["weight"].unique())[:count]
    figure = drawn(weights.history, table[table["weight"].isin(names)])
    assert [axes.get_title(loc="left") for axes in figure.axes] == names
    for axes, name in zip(figure.axes, names, strict=True):
        lines = axes.get_lines()
        assert [line.get_color() for line in lines] == [chain_color(c) for c in range(3)]
        rows = table[(table["weight"] == name) & (table["chain"] == 1)]
        np.testing.assert_array_equal(np.asarray(lines[1].get_data()), rows[["draw", "value"]].T)
    assert "value of the weight" in shown(figure)
    assert [axes.get_xlabel() for axes in figure.axes[-2:]] == ["draw"] * min(count, 2)


def test_marginals_have_a_panel_per_parameter_and_a_colour_per_chain() -> None:
    table = TABLES["marginals"]
    figure = drawn(marginals.marginals, table)
    names = [*table["parameter"].unique()]
    assert len(figure.axes) == len(names)
    for axes, name in zip(figure.axes, names, strict=True):
        found = [patch for patch in axes.patches if isinstance(patch, StepPatch)]
        assert [to_hex(step.get_edgecolor()).upper() for step in found] == [*CHAIN_COLORS[:3]]
        for chain, step in enumerate(found):
            own = table[(table["parameter"] == name) & (table["chain"] == chain)]
            np.testing.assert_allclose(step.get_data()[0], own["density"])
        first, second = axes.get_title(loc="left").splitlines()
        assert first == name
        assert second == rf"$\hat{{R}}$ = {'too few draws' if name == 'noise' else '1.002'}"
