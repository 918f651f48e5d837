"""The hyper-priors of TensorBNN: each layer has a learned mean and a learned scale."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import pymc as pm

from nlobayes.model.prior import WHITENED, Conditional, Parameters, scaled


class TensorBNN(NamedTuple):
    """Weights and biases N(a, b^2) of each layer, with a ~ N(0, 0.1^2) and b ~ N(1, 0.1^2), b > 0.

    The hyper-priors of TensorBNN's Gaussian layer (arXiv:2009.14393). Its code states them for
    sqrt(b) as if they were for b; here log b is sampled, with its Jacobian.
    """

    mean_sd: float = 0.1
    scale_mean: float = 1.0
    scale_sd: float = 0.1

    def state(self, parameters: Parameters) -> Any:
        """Define one array, its mean and its scale."""
        name = parameters.name
        mean = pm.Normal(f"mean_{name}", 0.0, pm.floatX(self.mean_sd))
        scale = positive_normal(f"scale_{name}", self.scale_mean, self.scale_sd)
        return scaled(parameters, scale, mean)

    def conditionals(self, arrays: Sequence[Parameters]) -> list[Conditional]:
        """List the mean of every array: given its scale, it is conjugate."""
        return [
            Conditional(
                one.name, f"mean_{one.name}", (one.name + WHITENED,), partial(draw_mean, self)
            )
            for one in arrays
        ]


build = TensorBNN


def draw_mean(
    prior: TensorBNN, key: jax.Array, c: jax.Array, scale: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Draw a mean with the prior N(0, mean_sd^2), given the scale."""
    precision = prior.mean_sd**-2 + c.size * scale**-2
    centre = jnp.sum(c) * scale**-2 / precision
    mean = centre + jax.random.normal(key, (), c.dtype) / jnp.sqrt(precision)
    return mean, (c - mean) / scale


def positive_normal(name: str, mean: float, sd: float) -> Any:
    """Define a normal truncated at zero."""
    return pm.TruncatedNormal(name, pm.floatX(mean), pm.floatX(sd), lower=pm.floatX(0.0))
