"""Plane, paths and distances show the values of their tables, flat landscapes included."""

import numpy as np
import pytest
from matplotlib.contour import ContourSet
from matplotlib.figure import Figure

from nlobayes.plots import landscape
from tests.unit.plots.chain_tables import chain_tables
from tests.unit.plots.drawing import drawn, shown

TABLES = chain_tables()
PLANE, MAPS, PATH = TABLES["landscape"], TABLES["landscape_maps"], TABLES["path"]


def drawn_landscape(shift: float = 0.0) -> Figure:
    return drawn(
        landscape.landscape,
        PLANE.assign(energy=PLANE["energy"] + shift),
        MAPS.assign(energy=MAPS["energy"] + shift),
        PATH.assign(straight=PATH["straight"] + shift, bezier=PATH["bezier"] + shift),
    )


def plane_levels(figure: Figure) -> np.ndarray:
    (found,) = (c for c in figure.axes[0].collections if isinstance(c, ContourSet))
    return np.asarray(found.levels)


@pytest.mark.parametrize("shift", [0.0, 5000.0])
def test_energy_of_any_sign_is_shown_above_the_lowest(shift: float) -> None:
    figure = drawn_landscape(shift)
    levels = plane_levels(figure)
    lowest = min(PLANE["energy"].min(), MAPS["energy"].min(), PATH.min().min())
    assert levels[-1] == pytest.approx(PLANE["energy"].max() - lowest)
    np.testing.assert_allclose(np.diff(np.log(levels)), np.log(levels[1] / levels[0]), rtol=1e-6)
    assert "energy above the lowest (nats per row)" in shown(figure)


def test_maps_are_marked_where_they_are() -> None:
    figure = drawn_landscape()
    marks = [np.ravel(np.asarray(line.get_data())) for line in figure.axes[0].get_lines()]
    np.testing.assert_array_equal(marks, MAPS[["alpha", "beta"]])
    assert [text.get_text() for text in figure.axes[0].texts] == ["MAP 0", "MAP 1", "MAP 2"]
    assert figure.axes[0].get_aspect() == 1.0


def test_both_paths_on_a_logarithmic_axis() -> None:
    figure = drawn_landscape()
    axes = figure.axes[1]
    straight, bezier = (np.asarray(line.get_ydata()) for line in axes.get_lines())
    assert axes.get_yscale() == "log"
    assert straight.max() == pytest.approx(12.0)
    assert bezier.max() == pytest.approx(0.15)
    assert straight.min() == bezier.min() == plane_levels(figure)[0]


def test_energies_that_are_not_finite_leave_holes() -> None:
    """The plane without its highest row, and a path without its middle, look as they did."""
    plane, path = PLANE.copy(), PATH.copy()
    plane.loc[:40, "energy"] = [np.inf, np.nan] * 20 + [np.inf]
    path.loc[20, "straight"] = np.nan
    figure = drawn(landscape.landscape, plane, MAPS, path)
    assert np.isfinite(plane_levels(figure)).all()
    assert plane_levels(figure)[0] == plane_levels(drawn_landscape())[0]
    straight = np.asarray(figure.axes[1].get_lines()[0].get_ydata())
    assert np.flatnonzero(np.isnan(straight)).tolist() == [20]
