"""A network of one hidden layer in the limit of infinitely many units: a Gaussian process.

f(x) = c + a / sqrt(W) sum_j v_j g(w_j . s u(x) + b_j) with c, v_j, w_jk ~ N(0, 1), b_j ~ N(0, b^2)
is Gaussian as the width W grows, given the scale s of each input, the scales b and a, and the
warps u of the inputs (Neal 1996, *Bayesian Learning for Neural Networks*, chapter 2). These few
numbers are its parameters. The weights are integrated out exactly.

Cosine units may be added, h sqrt(2 / W) sum_j v'_j cos(w'_j . s u(x) / sqrt(b^2 + 1/2) + phase_j)
with uniform phases: their covariance is h^2 exp(-|s u(x) - s u(x')|^2 / (2 b^2 + 1)) (Rahimi and
Recht 2007, NIPS 20, 1177), whose functions are smoother. The divisor gives them the length over
which the covariance of erf changes.

The covariance is closed for g = erf (Rasmussen and Williams 2006, *Gaussian Processes for Machine
Learning*, eq. 4.29) and for g = relu (Cho and Saul 2009, NIPS 22, 342, eq. 6).
"""

from __future__ import annotations

from collections.abc import Callable
from math import pi
from typing import NamedTuple

from nlobayes.untyped import Array, Facts, Module

ERF, RELU = "erf", "relu"
NEARLY_LOGARITHM = 1e-8
ROUNDING = 1e-15
"""Relative rounding of an eigenvalue in double precision."""
INPUTS, EXPONENTS, BIASES, OUTPUT = "scale_inputs", "exponents", "scale_biases", "scale_output"
COSINES = "scale_cosines"
"""Names of the parameters: s and e of each input (feature,), b, a; and h, if there are cosines."""
PARAMETERS = (INPUTS, EXPONENTS, BIASES, OUTPUT, COSINES)


class Warp(NamedTuple):
    """The constants by which a positive input x, stored as z = (x - mean) / sd, is warped.

    Attributes
    ----------
    ratios
        r = sd / mean of each input (feature,), so that 1 + r z is x over its mean; 0 leaves an
        input as it is.
    floors
        Least x over its mean (feature,); smaller ones, zero among them, count as this.
    """

    ratios: Array
    floors: Array


class Scales(NamedTuple):
    """Scales b of the hidden biases, a of the output, and h of the output of cosine units."""

    bias: Array
    output: Array
    cosines: Array | None = None

    @property
    def size(self) -> Array:
        """Return the variance of f that large scales have at most, a^2 + h^2."""
        return self.output**2 + (0.0 if self.cosines is None else self.cosines**2)


class Curve(NamedTuple):
    """The covariance of two hidden units as a function of the cosine between them, and its slope.

    It is multiplied by the product of their sizes if `is_homogeneous`. Both functions take the
    cosine and an array module.
    """

    value: Callable[[Array, Module], Array]
    slope: Callable[[Array, Module], Array]
    is_homogeneous: bool


def _relu(cosine: Array, xp: Module) -> Array:
    angle = xp.arccos(cosine)
    return (xp.sqrt(1 - cosine * cosine) + (pi - angle) * cosine) / (2 * pi)


CURVES = {
    ERF: Curve(
        lambda cosine, xp: 2 / pi * xp.arcsin(cosine),
        lambda cosine, xp: 2 / pi / xp.sqrt(1 - cosine * cosine),
        is_homogeneous=False,
    ),
    RELU: Curve(_relu, lambda cosine, xp: (pi - xp.arccos(cosine)) / (2 * pi), True),
}
"""The activations whose infinite layer has a closed covariance."""


def warp_of(features: Array, constants: Facts) -> Warp:
    """Find which standardised train inputs (row, feature) are positive, and their warps.

    `constants` are the mean and the scale (feature,) of the standardisation. Zeros are allowed
    beside positive values: they count as a tenth of the smallest one. Principal components of
    several inputs are not warped.
    """
    import numpy as np  # not before: studies import the names of this module, and no numerics

    if "components" in constants:
        return Warp(np.zeros(features.shape[1]), np.ones(features.shape[1]))
    mean, scale = np.asarray(constants["mean"]), np.asarray(constants["scale"])
    x = mean + scale * features
    rounding = 1e-9 * scale
    is_positive = (x > -rounding).all(axis=0) & (mean > rounding)
    smallest = np.where(x > rounding, x, np.inf).min(axis=0)
    safe = np.where(is_positive, mean, 1.0)
    return Warp(
        np.where(is_positive, scale / safe, 0.0), np.where(is_positive, 0.1 * smallest / safe, 1.0)
    )


def scaled_inputs(variables: Facts, features: Array, warp: Warp, xp: Module) -> Array:
    """Return s u(x) (row, feature) of standardised features, by the named parameters.

    The warp of a positive input is ((1 + r z)^e - 1) / (e r), the transform of Box and Cox (1964,
    J. Roy. Stat. Soc. B 26, 211) with slope 1 at the mean: e = 1 is the identity, e = 0 the
    logarithm.
    """
    if EXPONENTS not in variables:
        return features * variables[INPUTS]
    is_warped = warp.ratios > 0
    size = warp.ratios + 1.0 * ~is_warped
    log_x = xp.log(xp.maximum(1.0 + size * features, warp.floors))
    power = variables[EXPONENTS] * log_x
    is_small = xp.abs(power) < NEARLY_LOGARITHM
    growth = xp.where(is_small, 1.0, xp.expm1(power) / xp.where(is_small, 1.0, power))
    warped = xp.where(is_warped, log_x * growth / size, features)
    return warped * variables[INPUTS]


def scales_of(variables: Facts) -> Scales:
    """Pick the scales of biases and outputs from the named parameters."""
    return Scales(variables[BIASES], variables[OUTPUT], variables.get(COSINES))


def rounding(scales: Scales, rows: int) -> Array:
    """Return the variance to add to the noise of each row, so that double precision has a root.

    A covariance is known to rounding of its largest eigenvalue, about its rows times a^2 + h^2.
    Targets without noise would otherwise lead to scales at which its factorisation fails.
    """
    return ROUNDING * rows * (1.0 + scales.size)


def covariance(
    activation: str,
    left: Array,
    right: Array,
    scales: Scales,
    xp: Module,
    curve: Callable[[Array], Array] | None = None,
) -> Array:
    """Return the covariance (row, row) of f at two sets of scaled inputs s u(x) (row, feature).

    `curve` replaces the function of the cosine, for example by one that JAX can differentiate.
    """
    across = left @ right.T + scales.bias**2
    own = _own(left, scales)[:, None], _own(right, scales)[None, :]
    return covariance_of_sums(activation, across, *own, scales, xp, curve)


def variance(
    activation: str,
    inputs: Array,
    scales: Scales,
    xp: Module,
    curve: Callable[[Array], Array] | None = None,
) -> Array:
    """Return the prior variance (row,) of f at scaled inputs (row, feature); see `covariance`."""
    own = _own(inputs, scales)
    return covariance_of_sums(activation, own, own, own, scales, xp, curve)


def _own(inputs: Array, scales: Scales) -> Array:
    return (inputs * inputs).sum(axis=1) + scales.bias**2


def covariance_of_sums(
    activation: str,
    across: Array,
    left: Array,
    right: Array,
    scales: Scales,
    xp: Module,
    curve: Callable[[Array], Array] | None = None,
) -> Array:
    """Return the covariance of f at two sets of points from that of the sums into hidden units.

    `across` is the covariance of w . s u(x) + b at a point of each, `left` and `right` the variance
    at these points.
    """
    whole = 1.0 + scales.output**2 * _of_units(activation, across, left, right, xp, curve)
    if scales.cosines is None:
        return whole
    apart = (left + right - 2 * across) / (1 + 2 * scales.bias**2)
    return whole + scales.cosines**2 * xp.exp(-apart)


def _of_units(
    activation: str,
    across: Array,
    left: Array,
    right: Array,
    xp: Module,
    curve: Callable[[Array], Array] | None,
) -> Array:
    known = CURVES[activation]
    of_cosine = curve or (lambda cosine: known.value(cosine, xp))
    if not known.is_homogeneous:
        return of_cosine(2 * across / xp.sqrt((1 + 2 * left) * (1 + 2 * right)))
    size = xp.sqrt(left * right)
    return size * of_cosine(xp.clip(across / size, -1.0, 1.0))
