"""Lines of points along one input, with mixings that remain unit vectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nlobayes.surrogate.surrogate import Surrogate

_overflowing = np.errstate(over="ignore", invalid="ignore")


@_overflowing
def spread(
    between: tuple[float, float], steps: int, gap: tuple[float, float] | None = None
) -> np.ndarray:
    """Return evenly spaced values (value,) between two ends, except in a gap between them.

    If the distance between the ends overflows, the values are not finite.
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
def through(values: np.ndarray, requested: float | None) -> np.ndarray:
    """Replace the value that is nearest to a requested one by the requested one."""
    if requested is None:
        return values
    moved = values.copy()
    moved[np.argmin(np.abs(values - requested))] = requested
    return moved


def line(surrogate: Surrogate, at: Sequence[float], along: str, values: np.ndarray) -> np.ndarray:
    """Make points (point, input) with these values of one input and the other inputs of `at`."""
    points = np.tile(np.asarray(at, np.float64), (len(values), 1))
    points[:, surrogate.inputs.index(along)] = values
    return points


@_overflowing
def with_unit_norm(surrogate: Surrogate, points: np.ndarray, along: str) -> np.ndarray:
    """Scale each row of mixings to norm 1 by changing all of its inputs except `along`.

    A row stays unchanged if these inputs are zero, if their squares overflow, or if `along` is
    above 1.
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
