"""The law of the noise that a surrogate stores as a table; it needs only NumPy.

Quantiles and sd are JAX arrays if the scale is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from nlobayes.distributions.distribution import Rows, values_at_points
from nlobayes.untyped import Array


class TabulatedLaw(NamedTuple):
    """A symmetric law whose distribution function is linear between nodes.

    Scale and `bins` are (point,). In each bin the probability of a smaller residual is
    `probability` (bin, node) at `residual` (node,), in units of the scale.
    """

    scale: np.ndarray
    bins: np.ndarray
    residual: np.ndarray
    probability: np.ndarray
    sd_per_scale: np.ndarray

    @property
    def exponential_is_lognormal(self) -> bool:
        """Return False: ten to the power of it is not lognormal."""
        return False

    def logpdf(self, value: Array) -> Array:
        """Return the log density of residuals (..., point), minus infinity beyond the table."""
        heights = np.diff(self.probability, axis=1) / np.diff(self.residual)
        padded = np.pad(heights, ((0, 0), (1, 1)))
        node = np.searchsorted(self.residual, value / self.scale, side="right")
        with np.errstate(divide="ignore"):
            return np.log(padded[np.broadcast_to(self.bins, node.shape), node] / self.scale)

    def cdf(self, value: Array) -> Array:
        """Return the probability of a smaller residual (..., point)."""
        standardised = value / self.scale
        probability = np.empty_like(standardised)
        for here, known in self._bins():
            probability[..., here] = np.interp(standardised[..., here], self.residual, known)
        return probability

    def quantile(self, probability: Array) -> Array:
        """Return the residual (..., point) that is exceeded with probability 1 - `probability`.

        The probability may be one number, or one for each point.
        """
        if np.ndim(probability) == 0:
            return self._by_bin(self.single_quantiles(probability))
        standard = np.empty_like(probability)
        for here, known in self._bins():
            standard[..., here] = np.interp(probability[..., here], known, self.residual)
        return self.scale * standard

    def single_quantiles(self, probability: float) -> np.ndarray:
        """Return a quantile in each bin (bin,), in units of the scale."""
        return np.array([np.interp(probability, each, self.residual) for each in self.probability])

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        """Draw residuals (point, ...)."""
        drawn: np.ndarray = self.quantile(rng.random(shape).T).T
        return drawn

    def sd(self) -> np.ndarray:
        """Return the standard deviation (point,)."""
        return self._by_bin(self.sd_per_scale)

    def at(self, points: Rows) -> TabulatedLaw:
        """Return the law at some of its points."""
        return self._replace(
            scale=values_at_points(self.scale, points), bins=values_at_points(self.bins, points)
        )

    def check(self) -> None:
        """Do nothing: a surrogate's file is checked when it is loaded."""

    def table(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the table."""
        return self.residual, self.probability

    def _by_bin(self, known: np.ndarray) -> np.ndarray:
        """Return values of the bins (bin,), in units of the scale, at each point (point,)."""
        values: np.ndarray = self.scale.__array_namespace__().asarray(known)[self.bins]
        return self.scale * values

    def _bins(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the points (point,) and the probabilities (node,) of each bin."""
        for index, probability in enumerate(self.probability):
            yield self.bins == index, probability
