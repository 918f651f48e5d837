"""Gaussian."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from nlobayes.distributions import distribution
from nlobayes.distributions.distribution import Rows, spread_over_points, values_at_points
from nlobayes.untyped import Array


class Gaussian(NamedTuple):
    """Gaussian of standard deviation `scale`: a number, (point,) or (draw, point)."""

    scale: Array

    @property
    def exponential_is_lognormal(self) -> bool:
        """Return True: ten to the power of it is lognormal."""
        return True

    def logpdf(self, value: Array) -> Array:
        """Return the log density of residuals (..., point)."""
        return -0.5 * np.square(value / self.scale) - np.log(self.scale * math.sqrt(2 * math.pi))

    def cdf(self, value: Array) -> Array:
        """Return the probability of a smaller residual (..., point)."""
        return ndtr(value / self.scale)

    def quantile(self, probability: float) -> Array:
        """Return the residual that is exceeded with probability 1 - `probability`."""
        return self.scale * ndtri(probability)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        """Draw residuals (point, ...)."""
        drawn: np.ndarray = spread_over_points(self.scale, shape) * rng.standard_normal(shape)
        return drawn

    def sd(self) -> Array:
        """Return the standard deviation, which is the scale."""
        return self.scale

    def at(self, points: Rows) -> Gaussian:
        """Return the law at some of its points."""
        return Gaussian(values_at_points(self.scale, points))

    def check(self) -> None:
        """Refuse a scale that is not positive and finite."""
        distribution.check_scale(self)

    def table(self) -> tuple[np.ndarray, np.ndarray]:
        """Tabulate the distribution function in units of the scale."""
        return distribution.to_the_tail(Gaussian(1.0))


def build(*, scale: Array, degrees_of_freedom: Array = None, tails: Array = None) -> Gaussian:
    """Build the law from its scale."""
    return Gaussian(scale)
