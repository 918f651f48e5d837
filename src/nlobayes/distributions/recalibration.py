"""Recalibration: a piecewise linear map from the tail of a symmetric law to the observed tail.

The tail is the probability of a larger residual of either sign. Between the nodes the density stays
that of the law, times a constant.

The residuals end where 2 % of the outer tail of the law are left, 0.1 % of the residuals.
Validation rows have no information beyond, and ten to the power of an unbounded Student-t has no
mean.
"""

import numpy as np

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
