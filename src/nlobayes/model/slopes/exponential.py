"""Exponential slopes with a fixed or learned rate."""

from __future__ import annotations

from typing import Any, NamedTuple

import pymc as pm

from nlobayes.model.prior import Parameters


class ExponentialSlopes(NamedTuple):
    """Exponential slopes; their rate is itself exponential if `hyper_rate` is given.

    TensorBNN's prior of PReLU slopes has both rates 0.3 (arXiv:2009.14393).
    """

    rate: float | None
    hyper_rate: float | None = None

    def state(self, parameters: Parameters) -> Any:
        """Define the slopes of one layer."""
        name, rate = parameters.name, self.rate
        if self.hyper_rate is not None:
            rate = pm.Exponential(f"rate_{name}", self.hyper_rate)
        return pm.Exponential(name, rate, dims=parameters.dims)


def build(*, rate: float | None, hyper_rate: float) -> ExponentialSlopes:
    """Return slopes with a fixed rate; if it is None, the rate is exponential with `hyper_rate`."""
    return ExponentialSlopes(rate, hyper_rate if rate is None else None)
