"""Splitting-function moments to next-to-leading order, MSbar, in powers of alpha_s / 4 pi.

Sources of the NLO moments: Floratos, Kounnas and Lacaze, Nucl. Phys. B192 (1981) 417; Glueck, Reya
and Vogt, Z. Phys. C48 (1990) 471. d f / d ln mu^2 = (a_s P0 + a_s^2 P1) f.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import digamma

from nlobayes.physics.mellin import ZETA_2, ZETA_3, s1, s2, s3

CA, CF, TR = 3.0, 4 / 3, 0.5

_FIT_DEGREE = 14


class Splitting(NamedTuple):
    """Moments of one order: non-singlets (node,) and the (quarks, gluon) matrix (2, 2, node)."""

    plus: np.ndarray
    minus: np.ndarray
    singlet: np.ndarray


class _Sums(NamedTuple):
    """Harmonic sums of one continuation: from even N (sign +1) or odd N (sign -1)."""

    s1: np.ndarray
    s2: np.ndarray
    half_s2: np.ndarray
    half_s3: np.ndarray
    s_tilde: np.ndarray


def leading_order(n: np.ndarray, flavours: int) -> Splitting:
    """Return the LO moments at complex n, shape (node,), for 3 to 6 active flavours."""
    d = n * (n + 1)
    q = n**2 + n + 2
    qq = CF * (3 - 4 * s1(n) + 2 / d)
    qg = 4 * flavours * TR * q / (d * (n + 2))
    gq = 2 * CF * q / ((n - 1) * d)
    gg = CA * (11 / 3 - 4 * s1(n) + 4 / (n * (n - 1)) + 4 / ((n + 1) * (n + 2)))
    gg = gg - 4 / 3 * flavours * TR
    return Splitting(qq, qq, np.array([[qq, qg], [gq, gg]]))


def next_to_leading_order(n: np.ndarray, flavours: int) -> Splitting:
    """Return the NLO moments at complex n, shape (node,), for 3 to 6 active flavours."""
    sums = _sums(n, +1)
    plus = _non_singlet(n, flavours, +1)
    to_quarks = [plus + _pure_singlet(n, flavours), _quark_gluon(n, sums, flavours)]
    to_gluon = [_gluon_quark(n, sums, flavours), _gluon_gluon(n, sums, flavours)]
    return Splitting(plus, _non_singlet(n, flavours, -1), np.array([to_quarks, to_gluon]))


def _sums(n: np.ndarray, sign: int) -> _Sums:
    half = n / 2 if sign > 0 else (n - 1) / 2
    difference = digamma((n + 1) / 2) - digamma(n / 2)
    bracket = s1(n) / n**2 - ZETA_2 / 2 * difference + _dilogarithm_moment(n)
    s_tilde = -5 / 8 * ZETA_3 + sign * bracket
    return _Sums(s1(n), s2(n), s2(half), s3(half), s_tilde)


def _dilogarithm_moment(n: np.ndarray) -> np.ndarray:
    """Return ∫_0^1 dx x^(n-1) Li2(x) / (1+x), with 1/(1+x) as its Chebyshev interpolant."""
    fit = np.polynomial.Chebyshev.interpolate(lambda x: 1 / (1 + x), _FIT_DEGREE, domain=[0, 1])
    powers = fit.convert(kind=np.polynomial.Polynomial, domain=[-1, 1], window=[-1, 1]).coef
    return sum(
        c * (ZETA_2 / m - s1(m) / m**2) for c, m in ((c, n + k) for k, c in enumerate(powers))
    )


def _non_singlet(n: np.ndarray, flavours: int, sign: int) -> np.ndarray:
    s = _sums(n, sign)
    d = n * (n + 1)
    crossed = (
        16 * s.s1 * (2 * n + 1) / d**2
        + 16 * (2 * s.s1 - 1 / d) * (s.s2 - s.half_s2)
        + 64 * s.s_tilde
        + 24 * s.s2
        - 3
        - 8 * s.half_s3
        - 8 * (3 * n**3 + n**2 - 1) / d**3
        - sign * 16 * (2 * n**2 + 2 * n + 1) / d**3
    )
    planar = (
        s.s1 * (536 / 9 + 8 * (2 * n + 1) / d**2)
        - (16 * s.s1 + 52 / 3 - 8 / d) * s.s2
        - 43 / 6
        - 4 / 9 * (151 * n**4 + 263 * n**3 + 97 * n**2 + 3 * n + 9) / d**3
    )
    quark_loop = -160 / 9 * s.s1 + 32 / 3 * s.s2 + 4 / 3 + 16 / 9 * (11 * n**2 + 5 * n - 3) / d**2
    return -CF / 2 * ((CF - CA / 2) * crossed + CA * planar + flavours * TR * quark_loop)


def _pure_singlet(n: np.ndarray, flavours: int) -> np.ndarray:
    d = n * (n + 1)
    polynomial = 5 * n**5 + 32 * n**4 + 49 * n**3 + 38 * n**2 + 28 * n + 8
    return 8 * flavours * TR * CF * polynomial / ((n - 1) * d**3 * (n + 2) ** 2)


def _quark_gluon(n: np.ndarray, s: _Sums, flavours: int) -> np.ndarray:
    d = n * (n + 1)
    kernel = (n**2 + n + 2) / (d * (n + 2))
    polynomial = np.polyval([1, 6, 15, 25, 36, 85, 128, 104, 64, 16], n)
    gluonic = (
        (-2 * s.s1**2 + 2 * s.s2 - 2 * s.half_s2) * kernel
        + 8 * s.s1 * (2 * n + 3) / ((n + 1) * (n + 2)) ** 2
        + 2 * polynomial / ((n - 1) * (d * (n + 2)) ** 3)
    )
    abelian = (
        (2 * s.s1**2 - 2 * s.s2 + 5) * kernel
        - 4 * s.s1 / n**2
        + np.polyval([11, 26, 15, 8, 4], n) / (d**3 * (n + 2))
    )
    return 4 * flavours * TR * (CA * gluonic + CF * abelian)


def _gluon_quark(n: np.ndarray, s: _Sums, flavours: int) -> np.ndarray:
    d = n * (n + 1)
    kernel = (n**2 + n + 2) / ((n - 1) * d)
    abelian = (
        (-(s.s1**2) + 5 * s.s1 - s.s2) * kernel
        - 2 * s.s1 / (n + 1) ** 2
        - np.polyval([12, 30, 43, 28, -1, -12, -4], n) / (2 * (n - 1) * d**3)
    )
    polynomial = np.polyval([109, 621, 1400, 1678, 695, -1031, -1304, -152, 432, 144], n)
    gluonic = (
        (s.s1**2 + s.s2 - s.half_s2) * kernel
        - s.s1 * np.polyval([17, 0, 41, -22, -12], n) / (3 * (n - 1) ** 2 * n**2 * (n + 1))
        + polynomial / (9 * (n - 1) ** 2 * d**3 * (n + 2) ** 2)
    )
    quark_loop = (s.s1 - 8 / 3) * kernel + 1 / (n + 1) ** 2
    return 4 * CF * (CF * abelian + CA * gluonic + 4 / 3 * flavours * TR * quark_loop)


def _gluon_gluon(n: np.ndarray, s: _Sums, flavours: int) -> np.ndarray:
    d = n * (n + 1)
    e = (n - 1) * d * (n + 2)
    planar_loop = -160 / 9 * s.s1 + 32 / 3
    planar_loop = planar_loop + 16 / 9 * np.polyval([38, 76, 94, 56, 12], n) / (e * d)
    abelian_loop = 8 + 16 * np.polyval([2, 4, 1, -10, -5, -4, -4], n) / (e * d**2)
    polynomial = np.polyval([457, 2742, 6040, 6098, 1567, -2344, -1632, 560, 1488, 576], n)
    gluonic = (
        536 / 9 * s.s1
        + 64 * s.s1 * np.polyval([2, 5, 8, 7, -2, -2], n) / e**2
        - 64 / 3
        + 32 * s.half_s2 * (n**2 + n + 1) / e
        - 16 * s.s1 * s.half_s2
        + 32 * s.s_tilde
        - 4 * s.half_s3
        - 4 / 9 * polynomial / ((n - 1) ** 2 * (d * (n + 2)) ** 3)
    )
    return -0.5 * (flavours * TR * (CA * planar_loop + CF * abelian_loop) + CA**2 * gluonic)
