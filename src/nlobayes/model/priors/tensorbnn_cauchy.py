"""The hyper-priors of TensorBNN's Cauchy layer, with a learned location and scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import pymc as pm

from nlobayes.model.prior import WHITENED, Conditional, Parameters
from nlobayes.model.priors.tensorbnn import positive_normal


class TensorBNNCauchy(NamedTuple):
    """Weights and biases Cauchy(x, g) of each layer, x ~ N(0, 0.2^2), g ~ N(0.5, 0.5^2), g > 0.

    Table 3 of TensorBNN (arXiv:2009.14393). Its code gives the density of a Cauchy the wrong sign,
    and states the prior of g for sqrt(g), with the mean sqrt(0.5); here log g is sampled, with its
    Jacobian.
    """

    location_sd: float = 0.2
    scale_mean: float = 0.5
    scale_sd: float = 0.5

    def state(self, parameters: Parameters) -> Any:
        """Define one array, its location and its scale."""
        name, dims = parameters.name, parameters.dims
        location = pm.Normal(f"location_{name}", 0.0, pm.floatX(self.location_sd))
        scale = positive_normal(f"scale_{name}", self.scale_mean, self.scale_sd)
        if not parameters.non_centered:
            return pm.Cauchy(name, location, scale, dims=dims)
        spread = pm.Cauchy(name + WHITENED, 0.0, 1.0, dims=dims) * scale
        return pm.Deterministic(name, location + spread, dims=dims)

    def conditionals(self, arrays: Sequence[Parameters]) -> list[Conditional]:
        """Return an empty list: neither is conjugate to a Cauchy."""
        return []


build = TensorBNNCauchy
