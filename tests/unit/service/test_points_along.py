"""Lines of points, and mixings kept at unit length along them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from nlobayes.service.points_along import line, spread, through, with_unit_norm
from nlobayes.surrogate.limits import mixing_rows
from nlobayes.surrogate.surrogate import Surrogate

NEUTRALINO = ("m1", "n11", "n12", "n13", "n14")
AT = [300, 0.5, 0.5, 0.5, 0.5]


def like(*inputs: str, **units: str) -> Surrogate:
    """Make an object with inputs; they have no unit if none is given."""
    rows = mixing_rows(inputs, units)
    return cast(Surrogate, SimpleNamespace(inputs=inputs, units=units, mixings=rows))


def test_a_line_varies_one_input_alone() -> None:
    points = line(like(*NEUTRALINO), AT, "n12", np.linspace(-1, 1, 5))
    assert points[:, 2].tolist() == [-1, -0.5, 0, 0.5, 1]
    assert np.array_equal(np.delete(points, 2, axis=1), np.tile([300, 0.5, 0.5, 0.5], (5, 1)))


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


def test_what_cannot_be_scaled_stays() -> None:
    surrogate = like(*NEUTRALINO, m1="GeV")
    too_long = line(surrogate, AT, "n11", np.array([1.5, 2]))
    assert np.array_equal(with_unit_norm(surrogate, too_long, "n11"), too_long)
    nothing = line(surrogate, [300, 0, 0, 0, 0], "n11", np.array([0.5, 0.7]))
    assert np.array_equal(with_unit_norm(surrogate, nothing, "n11"), nothing)
    alone = line(surrogate, AT, "n11", np.ones(2))
    assert with_unit_norm(surrogate, alone, "n11").tolist() == [[300, 1, 0, 0, 0]] * 2


def test_numbers_that_overflow_are_left_as_they_are() -> None:
    """Their squares, and the distance of two ends of a line: no warning, no other number."""
    surrogate = like(*NEUTRALINO, m1="GeV")
    values = through(spread((-1.7e308, 1.7e308), 3), 1.0)
    points = line(surrogate, [300, 1e200, 0.1, 0.1, 0.1], "m1", values)
    assert not np.isfinite(points[:, 0]).all()
    assert np.array_equal(with_unit_norm(surrogate, points, "m1"), points, equal_nan=True)
