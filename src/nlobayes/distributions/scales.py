"""The scale of the noise at a point, as a function of the draws there and its features.

Arrays of points are of NumPy or of JAX; results are of the same library.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np

_SMALLEST_SD = 1e-3


class SlopedScale(Protocol):
    """Parameters of a log scale that is linear in the mean of the draws.

    The scale is `scale` where that mean is `reference_mean`, and clipped to its range, if any.
    """

    @property
    def scale(self) -> float: ...  # noqa: D102
    @property
    def slope(self) -> float: ...  # noqa: D102
    @property
    def reference_mean(self) -> float: ...  # noqa: D102
    @property
    def scale_range(self) -> Sequence[float]: ...  # noqa: D102


class Scales(Protocol):
    """Parameters of a log scale that is linear in functions of the sd of the draws and features.

    It is the log of `scale`, plus `exponent` times the log of the sd of the draws over
    `reference_sd`, plus for each feature a piecewise linear function with `coefficients` at
    `knots`. That sd and the scale are clipped to their ranges.
    """

    @property
    def scale(self) -> float: ...  # noqa: D102
    @property
    def exponent(self) -> float: ...  # noqa: D102
    @property
    def reference_sd(self) -> float: ...  # noqa: D102
    @property
    def knots(self) -> Sequence[Sequence[float]]: ...  # noqa: D102
    @property
    def coefficients(self) -> Sequence[Sequence[float]]: ...  # noqa: D102
    @property
    def spread_range(self) -> Sequence[float]: ...  # noqa: D102
    @property
    def scale_range(self) -> Sequence[float]: ...  # noqa: D102


def scales_at(fitted: Scales, spread: np.ndarray, features: np.ndarray | None = None) -> np.ndarray:
    """Return the scale at points with sds of the draws (point,) and features (point, feature)."""
    xp = spread.__array_namespace__()
    within = _within(fitted.spread_range, spread)
    log_scale = math.log(fitted.scale) + fitted.exponent * log_spread(within, fitted.reference_sd)
    for column, knots in enumerate(fitted.knots):
        assert features is not None
        log_scale += _line(features[:, column], knots, fitted.coefficients[column])
    return _within(fitted.scale_range, xp.exp(log_scale))


def scale_along(fitted: SlopedScale, mean: np.ndarray) -> np.ndarray:
    """Return the scale at points with means of the draws (point,)."""
    exp = mean.__array_namespace__().exp
    scale = fitted.scale * exp(fitted.slope * (mean - fitted.reference_mean))
    return _within(fitted.scale_range, scale) if len(fitted.scale_range) else scale


def log_spread(spread: np.ndarray, reference: float) -> np.ndarray:
    """Return the log of the sd of the draws (point,) over a reference, at least that of 1e-3."""
    xp = spread.__array_namespace__()
    logarithm: np.ndarray = xp.log(xp.maximum(spread / reference, _SMALLEST_SD))
    return logarithm


def bins_at(
    edges: Sequence[float], column: int, features: np.ndarray | None, points: int
) -> np.ndarray:
    """Return the bin (point,) of each point between the edges along a column of its features."""
    if not len(edges):
        return np.zeros(points, int)
    assert features is not None
    search = features.__array_namespace__().searchsorted
    found: np.ndarray = search(np.asarray(edges), features[:, column], side="right")
    return found


def _line(
    values: np.ndarray, knots: Sequence[float], coefficients: Sequence[float]
) -> np.ndarray | float:
    """Interpolate coefficients at knots to values (point,); one knot gives a constant."""
    if len(knots) == 1:
        return coefficients[0]
    interpolate = values.__array_namespace__().interp
    heights: np.ndarray = interpolate(values, np.asarray(knots), np.asarray(coefficients))
    return heights


def _within(limits: Sequence[float], values: np.ndarray) -> np.ndarray:
    low, high = limits
    kept: np.ndarray = values.__array_namespace__().clip(values, low, high)
    return kept
