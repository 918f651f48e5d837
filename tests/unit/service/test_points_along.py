"""Lines of points, and mixings kept at unit length along them."""

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from nlobayes.service.points_along import line, spread, through, with_unit_norm
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.surrogate.train_ranges import mixing_rows

NEUTRALINO = ("m1", "n11", "n12", "n13", "n14")


def like(*inputs: str, **units: str) -> Surrogate:
    """Make an object with inputs; they have no unit if none is given."""
    rows = mixing_rows(inputs, units)
    return cast(Surrogate, SimpleNamespace(inputs=inputs, units=units, mixings=rows))


@pytest.mark.parametrize(
    ("gap", "values"),
    [
        (None, [-300, -200, -100, 0, 100, 200, 300]),
        ((-100, 100), [-300, -700 / 3, -500 / 3, -100, 100, 200, 300]),
        ((-400, 100), [-300, -200, -100, 0, 100, 200, 300]),
        ((-300, 100), [-300, 100, 140, 180, 220, 260, 300]),
        ((-300, 300), [-300, -300, -300, -300, 300, 300, 300]),
    ],
)
def test_values_are_spread_without_the_gap(gap: Any, values: list[float]) -> None:
    """A gap that is not between the ends has no effect."""
    found = spread((-300, 300), 7, gap)
    np.testing.assert_allclose(found, values, rtol=1e-14)


@pytest.mark.parametrize("steps", [2, 3, 50, 201])
def test_a_spread_keeps_its_length_and_order(steps: int) -> None:
    found = spread((-900, 300), steps, (-46, 47))
    assert len(found) == steps
    assert (np.diff(found) > 0).all()
    assert not ((found > -46) & (found < 47)).any()
    assert (found[0], found[-1]) == (-900, 300)


def test_the_nearest_value_moves_to_the_requested_one() -> None:
    values = np.array([0.0, 1.0, 2.0])
    assert through(values, 1.2).tolist() == [0, 1.2, 2]
    assert through(values, -5).tolist() == [-5, 1, 2]
    assert through(values, None) is values
    assert values.tolist() == [0, 1, 2]


@pytest.mark.parametrize("along", ["m1", "n13"])
def test_mixings_have_unit_length_and_keep_their_proportions(along: str) -> None:
    surrogate = like(*NEUTRALINO, m1="GeV")
    before = line(surrogate, [300, 0.1, -0.2, 0.3, 0.4], along, np.linspace(-0.9, 0.9, 7))
    after = with_unit_norm(surrogate, before, along)
    place = NEUTRALINO.index(along)
    assert np.array_equal(after[:, place], before[:, place])
    np.testing.assert_allclose(np.linalg.norm(after[:, 1:], axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(after[:, 2] / after[:, 1], -2, rtol=1e-12)
    assert (np.sign(after[:, 1]) == 1).all()
