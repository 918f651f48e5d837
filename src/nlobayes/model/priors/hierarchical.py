"""Gaussian weights and biases whose scales are learned, non-centered.

Two hyper-priors are conjugate. A draw keeps the weights fixed, hence the likelihood:
c = sqrt(fan_in) w, or w itself for biases, are N(0, s^2) given their scale s, whatever the data.
The arrays are sampled non-centered, so that z = c / s follows (Neal 1996, *Bayesian Learning for
Neural Networks*, chapter 3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import sqrt
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import pymc as pm
import pytensor.tensor as pt

from nlobayes.model.networks import WEIGHTS
from nlobayes.model.prior import (
    OUTPUT_BIAS_SCALE,
    WHITENED,
    Conditional,
    Parameters,
    scaled,
)


class HalfNormal(NamedTuple):
    """A scale that is half-normal."""

    scale: float

    def state(self, name: str, dims: str | None = None) -> Any:
        """Define a scale, or one for each unit of a dimension."""
        return pm.HalfNormal(f"scale_{name}", pm.floatX(self.scale), dims=dims)


class HalfCauchy(NamedTuple):
    """A scale that is half-Cauchy (Gelman 2006, Bayesian Analysis 1, 515)."""

    scale: float

    def state(self, name: str, dims: str | None = None) -> Any:
        """Define a scale, or one for each unit of a dimension."""
        return pm.HalfCauchy(f"scale_{name}", pm.floatX(self.scale), dims=dims)


class GammaPrecision(NamedTuple):
    """A scale whose inverse square is Gamma of a shape and a rate (Neal 1996, chapter 3)."""

    shape: float
    rate: float

    def state(self, name: str, dims: str | None = None) -> Any:
        """Define a precision and its scale, or one for each unit of a dimension."""
        shape, rate = pm.floatX(self.shape), pm.floatX(self.rate)
        precision = pm.Gamma(f"precision_{name}", shape, rate, dims=dims)
        return pm.Deterministic(f"scale_{name}", 1 / pt.sqrt(precision), dims=dims)


class Hierarchical(NamedTuple):
    """Gaussian weights and biases with learned scales, of each layer or of the whole network.

    Weights are N(0, s_w^2 / fan_in), hidden biases N(0, s_b^2), the output bias N(0, 1). The
    scales s_w and s_b follow `hyper`; `shared` is `layer` or `network`.
    """

    hyper: HalfNormal | HalfCauchy | GammaPrecision
    shared: str

    def state(self, parameters: Parameters) -> Any:
        """Define one array, and its scale if no other array has defined it."""
        group = self.group_of(parameters)
        if group is None:
            return scaled(parameters, OUTPUT_BIAS_SCALE)
        root = sqrt(parameters.fan_in) if parameters.role == WEIGHTS else 1.0
        return scaled(parameters, self._scale_of(group) / root)

    def group_of(self, parameters: Parameters) -> str | None:
        """Name the group that shares an array's learned scale; None if the scale is fixed."""
        if parameters.role != WEIGHTS and parameters.output:
            return None
        return parameters.name if self.shared == "layer" else parameters.role

    def _scale_of(self, group: str) -> Any:
        """Define the scale of a group, or return the one that another array has defined."""
        model = pm.modelcontext(None)
        name = f"scale_{group}"
        return model[name] if name in model else self.hyper.state(group)

    def conditionals(self, arrays: Sequence[Parameters]) -> list[Conditional]:
        """List the precision or the scale of every group of arrays, if its prior is conjugate."""
        if isinstance(self.hyper, GammaPrecision):
            name, draw = "precision", partial(draw_precision, self.hyper)
        elif isinstance(self.hyper, HalfCauchy):
            name, draw = "scale", partial(draw_scale, self.hyper)
        else:
            return []
        groups: dict[str, list[str]] = {}
        for one in arrays:
            group = self.group_of(one)
            if group is not None:
                groups.setdefault(group, []).append(one.name + WHITENED)
        return [
            Conditional(group, f"{name}_{group}", tuple(governed), draw)
            for group, governed in groups.items()
        ]


HYPER: dict[str, Any] = {
    "half_normal": HalfNormal,
    "half_cauchy": HalfCauchy,
    "gamma_precision": GammaPrecision,
}


def build(*, hyper: Mapping[str, Any], shared: str) -> Hierarchical:
    """Return a prior with learned scales; `hyper` has the `kind` and constants of their prior."""
    return Hierarchical(build_hyper(hyper), shared)


def build_hyper(settings: Mapping[str, Any]) -> HalfNormal | HalfCauchy | GammaPrecision:
    """Build the prior of a scale from its `kind` and its constants."""
    constants = {name: value for name, value in settings.items() if name != "kind"}
    built: HalfNormal | HalfCauchy | GammaPrecision = HYPER[settings["kind"]](**constants)
    return built


def draw_precision(
    prior: GammaPrecision, key: jax.Array, c: jax.Array, scale: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Draw the logarithm of a precision from Gamma(shape + n / 2, rate + c'c / 2)."""
    del scale
    precision = _gamma(key, prior.shape + c.size / 2, prior.rate + c @ c / 2)
    return jnp.log(precision), c * jnp.sqrt(precision)


def draw_scale(
    prior: HalfCauchy, key: jax.Array, c: jax.Array, scale: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Draw the logarithm of a half-Cauchy scale s with an auxiliary variable u.

    s^-2 given u is Gamma(1/2, u), u is Gamma(1/2, A^-2): u is drawn given s, then s given u and c
    (Makalic and Schmidt 2016, arXiv:1508.03884).
    """
    key_u, key_precision = jax.random.split(key)
    u = _gamma(key_u, 1.0, prior.scale**-2 + scale**-2)
    precision = _gamma(key_precision, (c.size + 1) / 2, u + c @ c / 2)
    return -jnp.log(precision) / 2, c * jnp.sqrt(precision)


def _gamma(key: jax.Array, shape: float, rate: jax.Array) -> jax.Array:
    return jax.random.gamma(key, shape, dtype=rate.dtype) / rate
