"""The protocols of predictive distributions and of laws of the noise, and what all laws share."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Protocol, Self

import numpy as np

from nlobayes.errors import InputError
from nlobayes.untyped import Array

Rows = slice | np.ndarray
"""A choice of points: a slice, a mask or indices."""


class PredictiveDistribution(Protocol):
    """A distribution at every point, on the model scale.

    Values, densities and probabilities have the points along their last axis, samples along their
    first.
    """

    def logpdf(self, value: Array) -> Array:
        """Return the log density at values (..., point), elementwise."""
        ...

    def cdf(self, value: Array) -> Array:
        """Return the probability of a smaller value than each of (..., point), elementwise."""
        ...

    def quantile(self, probability: float) -> Array:
        """Return the value (point,) that is exceeded with probability 1 - `probability`.

        It is one number where all points are alike.
        """
        ...

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        """Draw values of a shape (point, ...)."""
        ...

    def sd(self) -> Array:
        """Return the standard deviation (point,), or one number where all points are alike."""
        ...


class Law(PredictiveDistribution, Protocol):
    """A distribution of the noise, whose values are residuals about a centre.

    A law is symmetric about zero.
    """

    @property
    def scale(self) -> Array:
        """Scale on the model scale: a number, (point,) or (draw, point)."""
        ...

    @property
    def exponential_is_lognormal(self) -> bool:
        """Whether ten to the power of it is lognormal, so that it has a mean and a variance."""
        ...

    def at(self, points: Rows) -> Self:
        """Return the law at some of its points."""
        ...

    def check(self) -> None:
        """Refuse a scale or a shape without a variance (`InputError`)."""
        ...

    def table(self) -> tuple[np.ndarray, np.ndarray]:
        """Tabulate the distribution function in units of the scale.

        Residuals (node,) are dense around zero. Linear between them, the probabilities of a smaller
        residual (bin, node) err by less than 1e-6.
        """
        ...


def values_at_points(values: Array, points: Rows) -> Array:
    """Choose points along the last axis of values, unless all points share one."""
    alike = np.ndim(values) == 0 or values.shape[-1] == 1
    return values if alike else values[..., points]


def spread_over_points(scale: Array, shape: tuple[int, ...]) -> Array:
    """Give a scale the axes of samples (point, ...)."""
    return scale if np.ndim(scale) == 0 else np.reshape(scale, (-1, *(1 for _ in shape[1:])))


_ELEMENTS = 200_000


def point_chunks(samples: int, points: int) -> Iterator[slice]:
    """Yield slices of points that keep (sample, point) temporaries near 2 MB, within a cache."""
    width = max(1, _ELEMENTS // samples)
    for start in range(0, points, width):
        yield slice(start, start + width)


_NODES = 1025
"""Quantiles between the nodes are interpolated, which moves them by less than 1e-4."""
_TAIL = 1e-8


def to_the_tail(law: Law) -> tuple[np.ndarray, np.ndarray]:
    """Tabulate a smooth law of scale one up to a probability of 1e-8 on each side."""
    residual = nodes(float(law.quantile(1 - _TAIL)))
    return residual, law.cdf(residual)[np.newaxis]


def nodes(furthest: float) -> np.ndarray:
    """Space residuals (node,) densely around zero, to the furthest on both sides."""
    return np.sinh(np.linspace(-1, 1, _NODES) * math.asinh(furthest))


def check_scale(law: Law) -> None:
    """Refuse a scale that is not positive and finite.

    Raises InputError if a scale is not.
    """
    scale = np.asarray(law.scale)
    if not np.all((scale > 0) & np.isfinite(scale)):
        raise InputError("distributions.scale", law=law)
