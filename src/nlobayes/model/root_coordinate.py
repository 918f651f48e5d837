"""The coordinate in which chains move a learned noise that the rows may not bound from below."""

from __future__ import annotations

from math import exp
from typing import Any

import pytensor.tensor as pt
from pymc.logprob.transforms import Transform


class RootCoordinate(Transform):
    """z of a positive scale x = (t softplus(z / t))^2: its root above t, a logarithm far below.

    Where a network can pass through all rows, the density of x is nearly constant from zero up to a
    wall. In log x that is a long tail, which chains seldom enter; in the root it is short. Here t^2
    is two sds below the median of the log-normal prior of x, which makes the tail below it short.
    """

    name = "root"

    def __init__(self, median: float, log_sd: float) -> None:
        self.turn = median**0.5 * exp(-log_sd)

    def forward(self, value: Any, *inputs: Any) -> Any:
        """Return z of a scale x."""
        del inputs
        root = pt.sqrt(value) / self.turn
        return self.turn * (root + pt.log(-pt.expm1(-root)))

    def backward(self, value: Any, *inputs: Any) -> Any:
        """Return x at z."""
        del inputs
        return (self.turn * pt.softplus(value / self.turn)) ** 2

    def log_jac_det(self, value: Any, *inputs: Any) -> Any:
        """Return log dx / dz of each z."""
        del inputs
        at = value / self.turn
        return pt.log(2 * self.turn * pt.softplus(at)) - pt.softplus(-at)
