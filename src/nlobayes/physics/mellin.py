"""Mellin moments: harmonic sums at complex N, and the contour of the inverse transform to x.

A moment is f(N) = ∫_0^1 dx x^(N-1) f(x); products of moments are convolutions in x.
"""

import numpy as np
from scipy.special import digamma, loggamma

ZETA_2 = np.pi**2 / 6
ZETA_3 = 1.2020569031595942

# B_2j / (2j)! for j = 1..6.
_EULER_MACLAURIN = (1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000)
_SUMMED_TERMS = 12

_ABSCISSA = 1.9
_DIRECTION = np.exp(0.75j * np.pi)
_PANEL_EDGES = (0.0, 1.0, 2.5, 5.0, 9.0, 15.0, 25.0, 42.0, 68.0, 110.0)
_NODES_PER_PANEL = 24


def hurwitz_zeta(order: int, n: np.ndarray) -> np.ndarray:
    """Return Σ_{k>=0} (n + k)^(-order) at complex n for an integer order of at least 2.

    The first twelve terms are summed; the rest is the Euler-Maclaurin formula.
    """
    end = n + _SUMMED_TERMS
    total = end ** (1 - order) / (order - 1) + end**-order / 2
    for k in range(_SUMMED_TERMS):
        total = total + (n + k) ** -order
    rising = float(order)
    for j, weight in enumerate(_EULER_MACLAURIN):
        total = total + weight * rising * end ** -(order + 2 * j + 1)
        rising *= (order + 2 * j + 1) * (order + 2 * j + 2)
    return total


def s1(n: np.ndarray) -> np.ndarray:
    """Return the harmonic sum S_1(n) = Σ_{k<=n} 1/k, continued to complex n."""
    return digamma(n + 1) + np.euler_gamma


def s2(n: np.ndarray) -> np.ndarray:
    """Return the harmonic sum S_2(n) = Σ_{k<=n} 1/k^2, continued to complex n."""
    return ZETA_2 - hurwitz_zeta(2, n + 1)


def s3(n: np.ndarray) -> np.ndarray:
    """Return the harmonic sum S_3(n) = Σ_{k<=n} 1/k^3, continued to complex n."""
    return ZETA_3 - hurwitz_zeta(3, n + 1)


def beta(a: np.ndarray, b: float) -> np.ndarray:
    """Return Euler's B(a, b) at complex a."""
    return np.exp(loggamma(a) + loggamma(b) - loggamma(a + b))


def _contour() -> tuple[np.ndarray, np.ndarray]:
    """Return the nodes N on the upper half of the contour, and the weights of Im(... x^-N) / pi."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES_PER_PANEL)
    start, width = np.array(_PANEL_EDGES[:-1]), np.diff(_PANEL_EDGES)
    distance = (start[:, None] + width[:, None] * (nodes + 1) / 2).ravel()
    weight = (width[:, None] * weights / 2).ravel()
    return _ABSCISSA + _DIRECTION * distance, _DIRECTION * weight / np.pi


CONTOUR, _CONTOUR_WEIGHTS = _contour()


def invert(moments: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return f(x) from the moments f(N) at the nodes `CONTOUR`.

    Parameters
    ----------
    moments
        Shape (..., node); poles must lie left of Re N = 1.9.
    x
        Shape (...), broadcast against the leading axes; from about 1e-7 to 0.8.
    """
    powers = np.exp(-np.log(x)[..., None] * CONTOUR)
    return (powers * moments * _CONTOUR_WEIGHTS).sum(axis=-1).imag
