"""Laplace."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from nlobayes.distributions import distribution
from nlobayes.distributions.distribution import Rows, spread_over_points, values_at_points
from nlobayes.untyped import Array


class Laplace(NamedTuple):
    """Laplace distribution of density exp(-|r| / scale) / (2 scale)."""

    scale: Array

    @property
    def exponential_is_lognormal(self) -> bool:
        """Return False: ten to the power of it is not lognormal."""
        return False

    def logpdf(self, value: Array) -> Array:
        """Return the log density of residuals (..., point)."""
        return -np.abs(value / self.scale) - np.log(2) - np.log(self.scale)

    def cdf(self, value: Array) -> Array:
        """Return the probability of a smaller residual (..., point)."""
        z = value / self.scale
        tail = 0.5 * np.exp(-np.abs(z))
        return np.where(z < 0, tail, 1 - tail)

    def quantile(self, probability: float) -> Array:
        """Return the residual that is exceeded with probability 1 - `probability`."""
        distance = -math.log(2 * min(probability, 1 - probability))
        return math.copysign(distance, probability - 0.5) * self.scale

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        """Draw residuals (point, ...)."""
        drawn: np.ndarray = spread_over_points(self.scale, shape) * rng.laplace(size=shape)
        return drawn

    def sd(self) -> Array:
        """Return the standard deviation, sqrt(2) times the scale."""
        return self.scale * math.sqrt(2)

    def at(self, points: Rows) -> Laplace:
        """Return the law at some of its points."""
        return Laplace(values_at_points(self.scale, points))

    def check(self) -> None:
        """Refuse a scale that is not positive and finite."""
        distribution.check_scale(self)

    def table(self) -> tuple[np.ndarray, np.ndarray]:
        """Tabulate the distribution function in units of the scale."""
        return distribution.to_the_tail(Laplace(1.0))


def build(*, scale: Array, degrees_of_freedom: Array = None, tails: Array = None) -> Laplace:
    """Build the law from its scale."""
    return Laplace(scale)
