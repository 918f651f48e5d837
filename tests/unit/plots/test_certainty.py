"""The plane shows the largest probability, and lines where it changes its class."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.contour import QuadContourSet

from nlobayes.plots import certainty
from tests.unit.plots.class_tables import class_names
from tests.unit.plots.drawing import drawn

SIDE = np.linspace(-1, 1, 21)


def plane() -> pd.DataFrame:
    """Class 1 is more probable where x + y / 2 > 0; draws disagree with |y|."""
    first, second = (grid.ravel() for grid in np.meshgrid(SIDE, SIDE, indexing="ij"))
    of_one = 0.5 + (first + second / 2) / 4
    return pd.DataFrame(
        {
            "first": np.repeat(first, 2),
            "second": np.repeat(second, 2),
            "class": np.tile([0, 1], len(first)),
            "probability": np.column_stack([1 - of_one, of_one]).ravel(),
            "disagreement": np.repeat(np.abs(second) / 10, 2),
        }
    ).sample(frac=1, random_state=2)


POINTS = pd.DataFrame(
    {
        "split": ["train", "train", "test", "test", "val"],
        "first": [0.1, 0.2, 0.3, 0.4, 0.5],
        "second": [-0.1, -0.2, -0.3, -0.4, -0.5],
        "class": [0, 1, 0, 1, 1],
        "right": [1, 0, 0, 1, 0],
    }
)
INPUTS = pd.DataFrame({"input": ["a (GeV)", "b"]})


@pytest.fixture
def panels() -> list[Axes]:
    return drawn(certainty.certainty, plane(), POINTS, INPUTS, class_names(2)).axes


def mesh_of(axes: Axes) -> np.ndarray:
    (mesh,) = [part for part in axes.collections if isinstance(part, QuadMesh)]
    return np.asarray(mesh.get_array()).reshape(len(SIDE), len(SIDE))


def test_shades_are_the_largest_probability_and_the_disagreement(panels: list[Axes]) -> None:
    """Rows of the image are those of the second input."""
    x, y = np.meshgrid(SIDE, SIDE)
    np.testing.assert_allclose(mesh_of(panels[0]), 50 + 25 * np.abs(x + y / 2), atol=1e-9)
    np.testing.assert_allclose(mesh_of(panels[1]), np.abs(y) / 10, atol=1e-12)


def test_a_line_is_where_the_class_changes(panels: list[Axes]) -> None:
    for axes in panels[:2]:
        (lines,) = [part for part in axes.collections if isinstance(part, QuadContourSet)]
        path = np.vstack([p.vertices for p in lines.get_paths()])
        np.testing.assert_allclose(path[:, 0] + path[:, 1] / 2, 0, atol=1e-9)
