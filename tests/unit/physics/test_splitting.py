"""Conservation laws of the splitting moments, and LO moments against their x space forms."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import quad

from nlobayes.physics.splitting import CF, TR, Splitting, leading_order, next_to_leading_order

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
