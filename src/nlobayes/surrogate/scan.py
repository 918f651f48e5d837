"""A line of points along one input, and mixings that stay a unit vector on the way."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nlobayes.surrogate.limits import mixing_rows
from nlobayes.surrogate.surrogate import Surrogate

_overflowing = np.errstate(over="ignore", invalid="ignore")


def mixings(surrogate: Surrogate) -> list[list[str]]:
    """Find inputs that are rows of a mixing matrix."""
    return mixing_rows(surrogate.inputs, surrogate.units)


@_overflowing
def line(
    surrogate: Surrogate, at: Sequence[float], along: str, between: tuple[float, float], steps: int
) -> np.ndarray:
    """Vary one input between two values and keep the others: points (point, input).

    Where the distance between the values overflows, the input is not finite.
    """
    points = np.tile(np.asarray(at, np.float64), (steps, 1))
    points[:, surrogate.inputs.index(along)] = np.linspace(*between, steps)
    return points


@_overflowing
def with_unit_norm(surrogate: Surrogate, points: np.ndarray, along: str) -> np.ndarray:
    """Scale each row of mixings to a norm of one, by all of its inputs but `along`.

    A row that this cannot do, for they are zero, their squares overflow or `along` alone is above
    one, stays as it is.
    """
    points = points.copy()
    for row in mixings(surrogate):
        others = [surrogate.inputs.index(name) for name in row if name != along]
        left = np.ones(len(points))
        if along in row:
            left -= np.square(points[:, surrogate.inputs.index(along)])
        squares = np.square(points[:, others]).sum(axis=1)
        possible = (left >= 0) & (squares > 0) & np.isfinite(squares)
        factors = np.sqrt(np.divide(left, squares, out=np.ones_like(left), where=possible))
        points[:, others] *= np.where(possible, factors, 1.0)[:, np.newaxis]
    return points
