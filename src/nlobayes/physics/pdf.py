"""Parton distributions at the input scale: published analytic shapes and their moments.

Every shape is x f(x) = Σ c x^a (1-x)^b, so a moment is a sum of Beta functions.
"""

from typing import NamedTuple

import numpy as np

from nlobayes.physics.mellin import beta


class Term(NamedTuple):
    """One summand c x^a (1-x)^b of x f(x)."""

    coefficient: float
    power: float
    falloff: float


Shape = tuple[Term, ...]


class InputDistributions(NamedTuple):
    """Shapes of x f(x) at the input scale, and the coupling and masses they were fitted with.

    `minus` holds q - qbar and `plus` holds q + qbar, both of (u, d, s); heavier quarks start at
    their mass. Scales are squares in GeV^2.
    """

    name: str
    minus: tuple[Shape, Shape, Shape]
    plus: tuple[Shape, Shape, Shape]
    gluon: Shape
    input_scale_gev2: float
    charm_scale_gev2: float
    bottom_scale_gev2: float
    alpha_s: float
    alpha_s_scale_gev2: float


def shape_moments(shape: Shape, n: np.ndarray) -> np.ndarray:
    """Return ∫_0^1 dx x^(n-1) f(x) of a shape of x f(x) at complex n."""
    return sum(
        (t.coefficient * beta(n - 1 + t.power, t.falloff + 1) for t in shape), np.zeros_like(n)
    )


def _series(norm: float, power: float, falloff: float, series: dict[float, float]) -> Shape:
    """Return the shape norm x^power (1-x)^falloff (1 + Σ c_k x^k), with the c_k keyed by k."""
    return tuple(Term(norm * c, power + k, falloff) for k, c in {0.0: 1.0, **series}.items())


def _scaled(factor: float, shape: Shape) -> Shape:
    return tuple(t._replace(coefficient=factor * t.coefficient) for t in shape)


def _mstw2008_nlo() -> InputDistributions:
    up = _series(0.25871, 0.29065, 3.2432, {0.5: 4.0603, 1: 30.687})
    down = _series(12.288, 0.96809, 3.2432 + 2.7003, {0.5: -3.8911, 1: 6.0542})
    sea = _series(0.31620, -0.21515, 9.2726, {0.5: -2.6022, 1: 30.785})
    asymmetry = _series(8.1084, 1.8691, 9.2726 + 2, {1: 13.609, 2: -59.289})
    strange = _series(0.047915, -0.21515, 9.7466, {0.5: -2.6022, 1: 30.785})
    strange_minus = _series(-0.011629, 0.2, 11.261, {1: -1 / 0.016050})
    gluon = _series(1.0805, -0.42848, 3.0225, {0.5: -2.2922, 1: 3.4894})
    light_sea = _scaled(0.5, sea) + _scaled(-0.5, strange)
    return InputDistributions(
        name="MSTW2008 NLO (arXiv:0901.0002)",
        minus=(up, down, strange_minus),
        plus=(up + light_sea + _scaled(-1, asymmetry), down + light_sea + asymmetry, strange),
        gluon=(*gluon, Term(-1.1168, -0.42776, 32.869)),
        input_scale_gev2=1.0,
        charm_scale_gev2=1.40**2,
        bottom_scale_gev2=4.75**2,
        alpha_s=0.12018,
        alpha_s_scale_gev2=91.1876**2,
    )


MSTW2008_NLO = _mstw2008_nlo()
