"""A symmetric noise whose 68 and 95 % intervals are those that held-out residuals fill.

What is recalibrated is the tail, the probability of a larger residual of either sign: a line
between nodes takes the tail of a parametric noise to the one that was observed. Between the nodes
the density stays that of the parametric noise, times a constant.

The noise ends where 2 % of the outer tail of the parametric noise are left, 0.1 % of the residuals:
no validation rows tell what lies beyond, and ten to the power of an endless Student-t has no mean.
A residual beyond the end is scored by the density as if there were none.
"""

from typing import Any

import numpy as np
from scipy.special import stdtr, stdtrit

TAILS = (0.05, 0.32)
"""Tails of the intervals that are recalibrated."""

END = 0.02
"""Where the noise ends: the share of the outer tail that would be left there."""

FEWEST_ROWS = 40
ROWS_PER_BIN = 100
MOST_BINS = 10

_GAP = 1e-3
_SMALLEST = 1e-12


def recalibrate(tail: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Give the observed tail for one of the parametric noise, with `nodes` (..., 2) of it."""
    return _line(tail, _ends(nodes), (0.0, *TAILS, 1.0))


def invert(tail: float | np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Give the tail of the parametric noise for an observed one."""
    return _line(tail, (0.0, *TAILS, 1.0), _ends(nodes))


def slope(tail: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Give the factor on the density where the parametric noise has this tail."""
    first, second, third = _factors(nodes)
    outer = np.where(tail < nodes[..., 0], first, second)
    return np.where(tail < nodes[..., 1], outer, third)


def variance(nodes: np.ndarray, degrees: float) -> np.ndarray:
    """Give the variance of a recalibrated Student-t in units of its squared scale."""
    end, outer, inner = (_second_moment(tail, degrees) for tail in _ends(nodes)[:3])
    parts = outer - end, inner - outer, degrees / (degrees - 2) - inner
    return sum(factor * part for factor, part in zip(_factors(nodes), parts, strict=True))


def conformal_nodes(tails: np.ndarray) -> np.ndarray:
    """Take nodes (2,) from the tails of residuals (point,) that the noise was not fitted to.

    A new residual, exchangeable with these, lies beyond them with exactly the nominal probability.
    """
    outer, inner = np.quantile(tails, TAILS, method="weibull")
    inner = np.clip(inner, 2 * _GAP, 1 - _GAP)
    return np.array([np.clip(outer, _SMALLEST, (1 - _GAP) * inner), inner])


def edges_of(values: np.ndarray) -> np.ndarray:
    """Divide values (point,) into bins of equally many, 100 at least, and ten bins at most."""
    bins = max(1, min(MOST_BINS, len(values) // ROWS_PER_BIN))
    edges = np.unique(np.quantile(values, np.arange(1, bins) / bins))
    return edges[edges > values.min()]


def _factors(nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    outer, inner = nodes[..., 0], nodes[..., 1]
    low, high = TAILS
    return low / ((1 - END) * outer), (high - low) / (inner - outer), (1 - high) / (1 - inner)


def _ends(nodes: np.ndarray) -> tuple[Any, ...]:
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


def _second_moment(tail: np.ndarray, degrees: float) -> np.ndarray:
    """Integrate the squared residual of a standard Student-t over its tail of both signs."""
    end = stdtrit(degrees, tail / 2)
    heavier = stdtr(degrees - 2, end * np.sqrt((degrees - 2) / degrees))
    return 2 * degrees * ((degrees - 1) / (degrees - 2) * heavier - tail / 2)
