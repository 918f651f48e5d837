"""Draws of any method as groups: with weights of several architectures, or with none."""

import numpy as np

from nlobayes.artifacts.chains import draw_groups
from nlobayes.types import NamedArrays, PosteriorDraws

FUNCTION = np.arange(12.0).reshape(1, 3, 4)
DENSITY = np.array([[-1.0, -2.0, -3.0]])


def test_masks_have_the_dims_of_their_weights() -> None:
    weights = NamedArrays(
        {"weights_1": np.ones((1, 3, 2, 5))}, {"weights_1": ("feature", "unit")}, {}
    )
    mask = np.arange(30).reshape(1, 3, 2, 5) % 2 == 0
    groups = draw_groups(PosteriorDraws(FUNCTION, DENSITY, weights, {"weights_1": mask}))
    found = groups["masks"]["weights_1"]
    assert (
        found.dims == groups["posterior"]["weights_1"].dims == ("chain", "draw", "feature", "unit")
    )
    np.testing.assert_array_equal(found.values.astype(bool), mask)
