"""A recalibrated Student-t: its tail is mapped, piecewise linearly, to the observed tail.

The tail is the probability of a larger residual of either sign. Between the nodes the density stays
that of the law, times a constant.

The residuals end where 2 % of the outer tail of the law are left, 0.1 % of the residuals.
Validation rows have no information beyond, and ten to the power of an unbounded Student-t has no
mean.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from nlobayes.distributions import distribution
from nlobayes.distributions.distribution import Rows, spread_over_points, values_at_points
from nlobayes.distributions.laws.student_t import StudentT
from nlobayes.errors import InputError
from nlobayes.untyped import Array

TAILS = (0.05, 0.32, 0.5, 0.75)
"""Tails of the intervals that are recalibrated, 95, 68, 50 and 25 %.

Fewer nodes are the first of these: files of earlier releases have two, of 95 and 68 %.
"""

END = 0.02
"""Share of the outer tail that is left where the residuals end."""


def recalibrate(tail: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Return the observed tail for a tail of the law; `nodes` (..., node) are tails of the law."""
    return _line(tail, ends(nodes), _observed(nodes))


def invert(tail: float | np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Return the tail of the law for an observed one."""
    return _line(tail, _observed(nodes), ends(nodes))


def slope(tail: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Return the factor on the density where the law has this tail."""
    *outer, found = factors(nodes)
    for place in reversed(range(len(outer))):
        found = np.where(tail < nodes[..., place], outer[place], found)
    return found


def factors(nodes: np.ndarray) -> list[np.ndarray]:
    """Return the factors on the density beyond the outermost node, between nodes, and within."""
    beyond, observed = ends(nodes), _observed(nodes)
    steps = zip(beyond, beyond[1:], observed, observed[1:], strict=False)
    return [(d - c) / (b - a) for a, b, c, d in steps]


def ends(nodes: np.ndarray) -> tuple[Array, ...]:
    """Return the tails of the law at the ends of the line segments."""
    return END * nodes[..., 0], *np.moveaxis(nodes, -1, 0), 1.0


def _observed(nodes: np.ndarray) -> tuple[float, ...]:
    """Return the observed tails at the ends of the line segments."""
    return 0.0, *TAILS[: np.shape(nodes)[-1]], 1.0


def _line(
    value: float | np.ndarray, x: tuple[float | np.ndarray, ...], y: tuple[float | np.ndarray, ...]
) -> np.ndarray:
    """Interpolate between nodes that may differ from point to point."""
    steps = zip(x, x[1:], y, y[1:], strict=False)
    parts = [(d - c) * np.clip((value - a) / (b - a), 0.0, 1.0) for a, b, c, d in steps]
    return y[0] + np.sum(np.broadcast_arrays(*parts), axis=0)


class RecalibratedStudentT(NamedTuple):
    """A Student-t with 5, 32, 50 and 75 % of residuals beyond its intervals with these `tails`.

    Tails are (node,), or (point, node), or (bin, node) for a law that is tabulated. Two nodes are
    those of 5 and 32 %. The residuals end where 2 % of the outer tail are left.
    """

    scale: Array
    degrees_of_freedom: float
    tails: np.ndarray

    @property
    def exponential_is_lognormal(self) -> bool:
        """Return False: ten to the power of it is not lognormal."""
        return False

    def logpdf(self, value: Array) -> Array:
        """Return the log density of residuals (..., point); beyond the end as if there was none.

        Its mass is 1.001 with what is beyond the ends, and 1 within.
        """
        plain = self._plain()
        factor = slope(2 * plain.cdf(-np.abs(value)), self.tails)
        return plain.logpdf(value) + np.log(factor)

    def cdf(self, value: Array) -> Array:
        """Return the probability of a smaller residual (..., point)."""
        tail = 2 * self._plain().cdf(-np.abs(value))
        half = recalibrate(tail, self.tails) / 2
        return np.where(value < 0, half, 1 - half)

    def quantile(self, probability: float) -> Array:
        """Return the residual that is exceeded with probability 1 - `probability`."""
        half = invert(2 * min(probability, 1 - probability), self.tails) / 2
        side = math.copysign(1.0, 0.5 - probability)
        return side * self.scale * stdtrit(self.degrees_of_freedom, half)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        """Draw residuals (point, ...) from the table of the recalibrated law."""
        nodes = np.reshape(self.tails, (-1, *(1 for _ in shape[1:]), self.tails.shape[-1]))
        residual, [probability] = self._plain().table()
        uniform = rng.random(shape)
        half = invert(2 * np.minimum(uniform, 1 - uniform), nodes) / 2
        standard = np.copysign(np.interp(half, probability, residual), uniform - 0.5)
        drawn: np.ndarray = spread_over_points(self.scale, shape) * standard
        return drawn

    def sd(self) -> Array:
        """Return the standard deviation, for each row of tails."""
        return self.scale * np.sqrt(variance(self.tails, self.degrees_of_freedom))

    def at(self, points: Rows) -> RecalibratedStudentT:
        """Return the law at some of its points."""
        tails = self.tails if self.tails.ndim == 1 else self.tails[points]
        return self._replace(scale=values_at_points(self.scale, points), tails=tails)

    def check(self) -> None:
        """Refuse parameters of a Student-t without a variance, and tails that do not increase."""
        self._plain().check()
        walls = np.insert(self.tails, [0, self.tails.shape[-1]], [0.0, 1.0], axis=-1)
        if not np.all(np.diff(walls, axis=-1) > 0):
            raise InputError("distributions.tails", tails=self.tails.tolist())

    def table(self) -> tuple[np.ndarray, np.ndarray]:
        """Tabulate the distribution function of each row of tails, up to its end."""
        bins, unit = np.atleast_2d(self.tails), self._replace(scale=1.0)
        ends = invert(0.0, bins)[:, np.newaxis]
        kinks = np.abs(stdtrit(self.degrees_of_freedom, np.hstack([ends, bins]) / 2)).ravel()
        residual = np.union1d(distribution.nodes(kinks.max()), [-kinks, kinks])
        return residual, np.stack([unit._replace(tails=each).cdf(residual) for each in bins])

    def _plain(self) -> StudentT:
        return StudentT(self.scale, self.degrees_of_freedom)


def build(
    *, scale: Array, degrees_of_freedom: Array = None, tails: Array = None
) -> RecalibratedStudentT:
    """Build the law from its scale, degrees of freedom and tails."""
    return RecalibratedStudentT(scale, degrees_of_freedom, np.asarray(tails))


def variance(tails: np.ndarray, degrees: float) -> np.ndarray:
    """Return the variance for each row of tails (..., node), in units of the squared scale."""
    nodes = [_second_moment(tail, degrees) for tail in ends(tails)[:-1]]
    parts = np.diff([*nodes, np.full_like(nodes[0], degrees / (degrees - 2))], axis=0)
    return sum(factor * part for factor, part in zip(factors(tails), parts, strict=True))


def _second_moment(tail: np.ndarray, degrees: float) -> np.ndarray:
    """Integrate the squared residual of a standard Student-t over its tail of both signs."""
    end = stdtrit(degrees, tail / 2)
    heavier = stdtr(degrees - 2, end * np.sqrt((degrees - 2) / degrees))
    return 2 * degrees * ((degrees - 1) / (degrees - 2) * heavier - tail / 2)
