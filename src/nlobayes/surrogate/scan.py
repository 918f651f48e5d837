"""A line of points along one input, and mixings that stay a unit vector on the way."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nlobayes.surrogate.surrogate import Surrogate

_overflowing = np.errstate(over="ignore", invalid="ignore")


@_overflowing
def spread(
    between: tuple[float, float], steps: int, gap: tuple[float, float] | None = None
) -> np.ndarray:
    """Spread values evenly between two ends, without a gap that lies between them (value,).

    Where the distance between the ends overflows, values are not finite.
    """
    low, high = between
    if gap is None or not low <= gap[0] < gap[1] <= high:
        return np.linspace(low, high, steps)
    left, right = gap[0] - low, high - gap[1]
    share = left / (left + right) if left + right else 0.5
    first = min(max(round(share * steps), 1), steps - 1)
    parts = np.linspace(low, gap[0], first), np.linspace(high, gap[1], steps - first)[::-1]
    return np.concatenate(parts)


@_overflowing
def through(values: np.ndarray, wanted: float | None) -> np.ndarray:
    """Move the nearest of the values to a requested one."""
    if wanted is None:
        return values
    moved = values.copy()
    moved[np.argmin(np.abs(values - wanted))] = wanted
    return moved


def line(surrogate: Surrogate, at: Sequence[float], along: str, values: np.ndarray) -> np.ndarray:
    """Give one input these values and keep the others: points (point, input)."""
    points = np.tile(np.asarray(at, np.float64), (len(values), 1))
    points[:, surrogate.inputs.index(along)] = values
    return points


@_overflowing
def with_unit_norm(surrogate: Surrogate, points: np.ndarray, along: str) -> np.ndarray:
    """Scale each row of mixings to a norm of one, by all of its inputs but `along`.

    A row that this cannot do, for they are zero, their squares overflow or `along` alone is above
    one, stays as it is.
    """
    points = points.copy()
    for row in surrogate.mixings:
        others = [surrogate.inputs.index(name) for name in row if name != along]
        left = np.ones(len(points))
        if along in row:
            left -= np.square(points[:, surrogate.inputs.index(along)])
        squares = np.square(points[:, others]).sum(axis=1)
        possible = (left >= 0) & (squares > 0) & np.isfinite(squares)
        factors = np.sqrt(np.divide(left, squares, out=np.ones_like(left), where=possible))
        points[:, others] *= np.where(possible, factors, 1.0)[:, np.newaxis]
    return points
