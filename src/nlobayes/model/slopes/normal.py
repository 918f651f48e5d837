"""Normal slopes."""

from __future__ import annotations

from typing import Any, NamedTuple

import pymc as pm

from nlobayes.model.prior import WHITENED, Parameters


class NormalSlopes(NamedTuple):
    """Slopes N(mean, sd^2)."""

    mean: float
    sd: float

    def state(self, parameters: Parameters) -> Any:
        """Define the slopes of one layer."""
        name, dims = parameters.name, parameters.dims
        if not parameters.non_centered:
            return pm.Normal(name, self.mean, self.sd, dims=dims)
        standard = pm.Normal(name + WHITENED, 0.0, 1.0, dims=dims)
        return pm.Deterministic(name, self.mean + self.sd * standard, dims=dims)


build = NormalSlopes
