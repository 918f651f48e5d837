"""A line between nodes that takes the tail of a symmetric law to the one that was observed.

The tail is the probability of a larger residual of either sign. Between the nodes the density stays
that of the law, times a constant.

The residuals end where 2 % of the outer tail of the law are left, 0.1 % of the residuals: no
validation rows tell what lies beyond, and ten to the power of an endless Student-t has no mean.
"""

from typing import Any

import numpy as np

TAILS = (0.05, 0.32)
"""Tails of the intervals that are recalibrated."""

END = 0.02
"""Where the residuals end: the share of the outer tail that would be left there."""


def recalibrate(tail: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Give the observed tail for one of the law, with `nodes` (..., 2) of it."""
    return _line(tail, ends(nodes), (0.0, *TAILS, 1.0))


def invert(tail: float | np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Give the tail of the law for an observed one."""
    return _line(tail, (0.0, *TAILS, 1.0), ends(nodes))


def slope(tail: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Give the factor on the density where the law has this tail."""
    first, second, third = factors(nodes)
    outer = np.where(tail < nodes[..., 0], first, second)
    return np.where(tail < nodes[..., 1], outer, third)


def factors(nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give the factors on the density beyond the outer node, between both, and within."""
    outer, inner = nodes[..., 0], nodes[..., 1]
    low, high = TAILS
    return low / ((1 - END) * outer), (high - low) / (inner - outer), (1 - high) / (1 - inner)


def ends(nodes: np.ndarray) -> tuple[Any, ...]:
    """Give the tails of the law between which lines lie."""
    return END * nodes[..., 0], nodes[..., 0], nodes[..., 1], 1.0


def _line(
    value: float | np.ndarray,
    x: tuple[float | np.ndarray, ...],
    y: tuple[float | np.ndarray, ...],
) -> np.ndarray:
    """Interpolate between nodes that may differ from point to point."""
    steps = zip(x, x[1:], y, y[1:], strict=False)
    parts = [(d - c) * np.clip((value - a) / (b - a), 0.0, 1.0) for a, b, c, d in steps]
    return y[0] + np.sum(np.broadcast_arrays(*parts), axis=0)
