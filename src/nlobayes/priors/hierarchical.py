"""Gaussian weights and biases whose scales are learned, non-centered; and the priors of scales.

Two priors of scales are conjugate. A draw keeps the weights fixed, hence the likelihood:
c = sqrt(fan_in) w, or w itself for biases, are N(0, s^2) given their scale s, whatever the data.
The arrays are sampled non-centered, so that z = c / s follows (Neal 1996, *Bayesian Learning for
Neural Networks*, chapter 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log, sqrt
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from nlobayes.model.networks import WEIGHTS
from nlobayes.model.prior import OUTPUT_BIAS_SCALE, WHITENED, Conditional, Parameters, scaled
from nlobayes.priors import PriorSettings
from nlobayes.settings.values import Frozen, Positive
from nlobayes.untyped import Array

if TYPE_CHECKING:
    import jax


class HalfNormalScale(Frozen):
    """Half-normal scales."""

    kind: Literal["half_normal"]
    scale: Positive = 1.0
    """Their scale."""

    def state(self, name: str, dims: str | None = None) -> Array:
        """Define a scale in PyMC, or one for each unit of a dimension."""
        import pymc as pm
        from pymc.pytensorf import floatX

        return pm.HalfNormal(f"scale_{name}", floatX(self.scale), dims=dims)


class HalfCauchyScale(Frozen):
    """Half-Cauchy scales."""

    variable: ClassVar[str] = "scale"
    """What `draw` draws the logarithm of."""

    kind: Literal["half_cauchy"]
    scale: Positive = 1.0
    """Their median."""

    def state(self, name: str, dims: str | None = None) -> Array:
        """Define a scale, or one for each unit (Gelman 2006, Bayesian Analysis 1, 515)."""
        import pymc as pm
        from pymc.pytensorf import floatX

        return pm.HalfCauchy(f"scale_{name}", floatX(self.scale), dims=dims)

    def draw(self, key: jax.Array, c: jax.Array, scale: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Draw the logarithm of a scale s with an auxiliary variable u.

        s^-2 given u is Gamma(1/2, u), u is Gamma(1/2, A^-2): u is drawn given s, then s given u and
        c (Makalic and Schmidt 2016, arXiv:1508.03884).
        """
        import jax
        import jax.numpy as jnp

        key_u, key_precision = jax.random.split(key)
        u = _gamma(key_u, 1.0, self.scale**-2 + scale**-2)
        precision = _gamma(key_precision, (c.size + 1) / 2, u + c @ c / 2)
        return -jnp.log(precision) / 2, c * jnp.sqrt(precision)


class LogNormalScale(Frozen):
    """Log-normal scales."""

    kind: Literal["log_normal"]
    median: Positive = 1.0
    """Their median."""
    log_sd: Positive = 1.0
    """Sd of their logarithm."""

    def state(self, name: str, dims: str | None = None) -> Array:
        """Define a scale in PyMC, or one for each unit of a dimension."""
        import pymc as pm
        from pymc.pytensorf import floatX

        mean, sd = floatX(log(self.median)), floatX(self.log_sd)
        return pm.LogNormal(f"scale_{name}", mean, sd, dims=dims)


class GammaPrecision(Frozen):
    """Gamma precisions: inverse squares of scales."""

    variable: ClassVar[str] = "precision"

    kind: Literal["gamma_precision"]
    shape: Positive = 1.0
    """Their shape."""
    rate: Positive = 1.0
    """Their rate; shape / rate is their mean."""

    def state(self, name: str, dims: str | None = None) -> Array:
        """Define a precision and its scale, or one for each unit (Neal 1996, chapter 3)."""
        import pymc as pm
        import pytensor.tensor as pt
        from pymc.pytensorf import floatX

        shape, rate = floatX(self.shape), floatX(self.rate)
        precision = pm.Gamma(f"precision_{name}", shape, rate, dims=dims)
        return pm.Deterministic(f"scale_{name}", 1 / pt.sqrt(precision), dims=dims)

    def draw(self, key: jax.Array, c: jax.Array, scale: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Draw the logarithm of a precision from Gamma(shape + n / 2, rate + c'c / 2)."""
        import jax.numpy as jnp

        del scale
        precision = _gamma(key, self.shape + c.size / 2, self.rate + c @ c / 2)
        return jnp.log(precision), c * jnp.sqrt(precision)


def _gamma(key: jax.Array, shape: float, rate: jax.Array) -> jax.Array:
    import jax

    return jax.random.gamma(key, shape, dtype=rate.dtype) / rate


Hyper = Annotated[HalfNormalScale | HalfCauchyScale | GammaPrecision, Field(discriminator="kind")]


class HierarchicalPrior(PriorSettings):
    """Weights N(0, s^2 / fan_in) and biases N(0, t^2) with learned s and t; output bias N(0, 1)."""

    output_is_gaussian: ClassVar[bool] = True
    learns_hyperparameters: ClassVar[bool] = True

    kind: Literal["hierarchical"]
    hyper: Hyper = HalfNormalScale(kind="half_normal")
    """Prior of the scales."""
    shared: Literal["layer", "network"] = "layer"
    """Whether each layer has an s and a t, or all share them."""

    @property
    def is_conjugate(self) -> bool:
        """Whether its scales can be drawn given the weights."""
        return not isinstance(self.hyper, HalfNormalScale)

    def state(self, parameters: Parameters) -> Array:
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

    def _scale_of(self, group: str) -> Array:
        """Define the scale of a group, or return the one that another array has defined."""
        import pymc as pm

        model, name = pm.modelcontext(None), f"scale_{group}"
        return model[name] if name in model else self.hyper.state(group)

    def conditionals(self, arrays: Sequence[Parameters]) -> list[Conditional]:
        """List the precision or the scale of every group of arrays, if its prior is conjugate."""
        hyper = self.hyper
        if isinstance(hyper, HalfNormalScale):
            return []
        groups: dict[str, list[str]] = {}
        for one in arrays:
            group = self.group_of(one)
            if group is not None:
                groups.setdefault(group, []).append(one.name + WHITENED)
        return [
            Conditional(group, f"{hyper.variable}_{group}", tuple(governed), hyper.draw)
            for group, governed in groups.items()
        ]
