"""Moments: the contour, harmonic sums, splitting functions and input shapes, against quadrature."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import polygamma

from nlobayes.physics.mellin import CONTOUR, beta, hurwitz_zeta, invert, s1, s2, s3
from nlobayes.physics.pdf import MSTW2008_NLO, InputDistributions, Term, shape_moments
from nlobayes.physics.splitting import CF, TR, Splitting, leading_order, next_to_leading_order
from tests.les_houches import LES_HOUCHES_TOY

Sum = Callable[[np.ndarray], np.ndarray]


@pytest.mark.parametrize(("order", "harmonic"), [(1, s1), (2, s2), (3, s3)])
def test_harmonic_sums_at_integers_are_finite_sums(order: int, harmonic: Sum) -> None:
    n = np.arange(1, 12)
    expected = np.cumsum(1.0 / n**order)
    np.testing.assert_allclose(harmonic(n + 0j), expected, rtol=1e-13)


@pytest.mark.parametrize(("order", "harmonic"), [(1, s1), (2, s2), (3, s3)])
def test_harmonic_sums_obey_their_recurrence_on_the_contour(order: int, harmonic: Sum) -> None:
    steps = harmonic(CONTOUR) - harmonic(CONTOUR - 1)
    np.testing.assert_allclose(steps, CONTOUR**-order, rtol=0, atol=1e-13)


def test_hurwitz_zeta_is_the_trigamma_function_on_the_real_line() -> None:
    x = np.linspace(0.1, 20, 50)
    np.testing.assert_allclose(hurwitz_zeta(2, x + 0j), polygamma(1, x), rtol=1e-13)


def test_inversion_returns_the_shape_whose_moments_it_gets() -> None:
    x = np.array([1e-5, 1e-3, 0.1, 0.5, 0.7])
    moments = beta(CONTOUR - 0.4, 3.5)
    np.testing.assert_allclose(invert(moments, x), x**-0.4 * (1 - x) ** 2.5, rtol=1e-9)


def test_inversion_broadcasts_over_leading_axes() -> None:
    moments = np.stack([beta(CONTOUR, 4.0), beta(CONTOUR + 1, 4.0)])
    x = np.array([[0.01], [0.1], [0.4]])
    expected = (1 - x) ** 3 * x ** np.array([0, 1])
    np.testing.assert_allclose(invert(moments, x), expected, rtol=1e-9)


Order = Callable[[np.ndarray, int], Splitting]

FLAVOURS = pytest.mark.parametrize("flavours", [3, 4, 5])
ORDERS = pytest.mark.parametrize("order", [leading_order, next_to_leading_order])


@ORDERS
@FLAVOURS
def test_momentum_is_conserved(order: Order, flavours: int) -> None:
    """Σ over the daughters of quark and gluon vanishes at N = 2."""
    singlet = order(np.array([2.0 + 0j]), flavours).singlet[..., 0]
    np.testing.assert_allclose(singlet.sum(axis=0), 0, atol=1e-9)


@ORDERS
@FLAVOURS
def test_quark_number_is_conserved(order: Order, flavours: int) -> None:
    """P_minus(1) = 0, taken as the mean over a circle around the removable pole of its parts."""
    circle = 1 + 0.1 * np.exp(2j * np.pi * np.arange(32) / 32)
    assert abs(order(circle, flavours).minus.mean()) < 1e-8


@ORDERS
def test_moments_are_real_analytic(order: Order) -> None:
    n = np.array([2.3 + 1.7j, -3.4 + 20j])
    above, below = order(n, 5), order(n.conj(), 5)
    for up, down in zip(above, below, strict=True):
        np.testing.assert_allclose(up, down.conj(), rtol=1e-12)


@pytest.mark.parametrize("n", [1.7, 2.0, 4.5])
def test_leading_order_moments_are_integrals(n: float) -> None:
    """In a_s = alpha_s / 4 pi the kernels carry a factor of two, and P_qg one of 2 n_f."""
    (qq, qg), (gq, _) = leading_order(np.array([n + 0j]), 4).singlet[..., 0].real
    plus = quad(lambda x: CF * ((1 + x**2) * x ** (n - 1) - 2) / (1 - x), 0, 1)[0] + 1.5 * CF
    to_quark = quad(lambda x: TR * (x**2 + (1 - x) ** 2) * x ** (n - 1), 0, 1)[0]
    to_gluon = quad(lambda x: CF * (1 + (1 - x) ** 2) * x ** (n - 2), 0, 1)[0]
    np.testing.assert_allclose([qq, qg, gq], [2 * plus, 16 * to_quark, 2 * to_gluon], rtol=1e-8)


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
