"""Images have the order of their pixels, and bars show the probabilities of the classes."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from nlobayes.plots import images
from nlobayes.plots.style import BLUE, ORANGE, SKY
from tests.unit.plots.class_tables import class_names
from tests.unit.plots.drawing import drawn

WRONG, RIGHT = 0, 1
"""An image of class 2 taken for class 0, and one of class 1 that is right."""


def small() -> list[pd.DataFrame]:
    """Two images of 2 x 3 pixels, of three classes, their tables not in order."""
    examples = pd.DataFrame(
        {
            "example": [WRONG, RIGHT],
            "kind": ["wrong, most confident", "right, least confident"],
            "point": [7, 9],
            "true": [2, 1],
            "predicted": [0, 1],
        }
    )
    probabilities = pd.DataFrame(
        {
            "example": [WRONG] * 3 + [RIGHT] * 3,
            "class": [2, 0, 1, 0, 1, 2],
            "probability": [0.3, 0.6, 0.1, 0.2, 0.5, 0.3],
        }
    )
    row, column = np.indices((2, 3)).reshape(2, -1)
    pixels = pd.DataFrame(
        {
            "example": np.repeat([WRONG, RIGHT], 6),
            "row": [*row, *row],
            "column": [*column, *column],
            "value": [*range(6), *range(6, 12)],
        }
    )
    return [examples, probabilities, pixels.sample(frac=1, random_state=1), class_names(3)]


def bars_of(axes: Axes) -> dict[float, tuple[float, str]]:
    """Lengths and colours of the bars that can be seen, by their places."""
    patches = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    return {
        round(p.get_y() + p.get_height() / 2): (p.get_width(), to_hex(p.get_facecolor()).upper())
        for p in patches
        if p.get_width() > 0
    }


@pytest.fixture
def panels() -> list[Axes]:
    return drawn(images.images, *small()).axes


def test_pixels_lie_in_their_rows_and_columns_on_one_scale(panels: list[Axes]) -> None:
    for place, first in ((0, 0), (2, 6)):
        (image,) = panels[place].get_images()
        expected = np.arange(first, first + 6).reshape(2, 3)
        np.testing.assert_array_equal(np.asarray(image.get_array()), expected)
        assert image.get_clim() == (0, 11)


def test_bars_are_probabilities_in_the_colour_of_what_the_class_is(panels: list[Axes]) -> None:
    assert bars_of(panels[1]) == {0: (60, BLUE), 1: (10, SKY), 2: (30, ORANGE)}
    assert bars_of(panels[3]) == {0: (20, SKY), 1: (50, BLUE), 2: (30, SKY)}
    assert [t.get_text() for t in panels[1].get_yticklabels()] == ["class 0", "class 1", "class 2"]
