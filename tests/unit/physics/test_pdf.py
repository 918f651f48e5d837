"""The published input shapes: sum rules, and moments against quadrature."""

import numpy as np
import pytest
from scipy.integrate import quad

from nlobayes.physics.pdf import (
    MSTW2008_NLO,
    InputDistributions,
    Term,
    shape_moments,
)
from tests.les_houches import LES_HOUCHES_TOY

INPUTS = pytest.mark.parametrize("inputs", [MSTW2008_NLO, LES_HOUCHES_TOY], ids=["mstw", "toy"])


def shape_values(shape: tuple[Term, ...], x: np.ndarray) -> np.ndarray:
    return sum((t.coefficient * x**t.power * (1 - x) ** t.falloff for t in shape), 0 * x)


@INPUTS
def test_quark_numbers(inputs: InputDistributions) -> None:
    numbers = [shape_moments(shape, np.array([1.0 + 0j]))[0] for shape in inputs.minus]
    np.testing.assert_allclose(numbers, [2, 1, 0], atol=1e-4)


@INPUTS
def test_momentum_is_shared_out(inputs: InputDistributions) -> None:
    shapes = [*inputs.plus, inputs.gluon]
    momentum = sum(shape_moments(shape, np.array([2.0 + 0j]))[0] for shape in shapes)
    assert momentum == pytest.approx(1, abs=1e-4)


@INPUTS
def test_moments_are_integrals_of_the_shapes(inputs: InputDistributions) -> None:
    for shape in (*inputs.minus, *inputs.plus, inputs.gluon):
        moment = shape_moments(shape, np.array([3.2 + 0j]))[0].real
        integral = quad(lambda x, s=shape: x**1.2 * shape_values(s, np.array(x)), 0, 1)[0]
        assert moment == pytest.approx(integral, rel=1e-7, abs=1e-12)


def test_the_sea_of_mstw_is_positive_and_down_exceeds_up() -> None:
    """At x = 0.1 and the input scale dbar > ubar > 0, as the asymmetry of the fit implies."""
    x = np.array(0.1)
    plus = [shape_values(shape, x) for shape in MSTW2008_NLO.plus]
    minus = [shape_values(shape, x) for shape in MSTW2008_NLO.minus]
    up_bar, down_bar = ((p - m) / 2 for p, m in list(zip(plus, minus, strict=True))[:2])
    expected = 8.1084 * x**1.8691 * (1 - x) ** 11.2726 * (1 + 13.609 * x - 59.289 * x**2)
    assert 0 < up_bar < down_bar
    assert down_bar - up_bar == pytest.approx(expected, rel=1e-10)
