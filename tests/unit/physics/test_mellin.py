"""Harmonic sums against their definition; the contour against shapes known in x."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import polygamma

from nlobayes.physics.mellin import CONTOUR, beta, hurwitz_zeta, invert, s1, s2, s3

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
