"""Functions for all laws: tables of the distribution function, and the check of the scale."""

from __future__ import annotations

import math

import numpy as np

from nlobayes.distributions.distribution import Law
from nlobayes.errors import InputError

_NODES = 8193
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
