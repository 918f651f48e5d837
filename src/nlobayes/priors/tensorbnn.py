"""The hyper-priors of TensorBNN: each layer has a learned mean or location, and a scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from nlobayes.model.prior import (
    WHITENED,
    Conditional,
    Parameters,
    positive_normal,
    scaled,
    scaled_by_learned,
)
from nlobayes.priors import PriorSettings
from nlobayes.settings.values import Positive
from nlobayes.untyped import Array

if TYPE_CHECKING:
    import jax


class TensorBNNPrior(PriorSettings):
    """TensorBNN's hyper-priors: N(a, b^2) of each layer with a ~ N(0, 0.1^2), b ~ N(1, 0.1^2)."""

    output_is_gaussian: ClassVar[bool] = True
    learns_hyperparameters: ClassVar[bool] = True

    kind: Literal["tensorbnn"]
    mean_sd: Positive = 0.1
    """Sd of a."""
    scale_mean: Positive = 1.0
    """Mean of b."""
    scale_sd: Positive = 0.1
    """Sd of b."""

    @property
    def is_conjugate(self) -> bool:
        """Return True: the means can be drawn exactly given their scales."""
        return True

    def state(self, parameters: Parameters) -> Array:
        """Define one array, its mean and its scale b > 0.

        TensorBNN's code (arXiv:2009.14393) states the hyper-priors for sqrt(b) as if they were for
        b; here log b is sampled, with its Jacobian.
        """
        return scaled_by_learned(
            parameters, mean_sd=self.mean_sd, scale_mean=self.scale_mean, scale_sd=self.scale_sd
        )

    def conditionals(self, arrays: Sequence[Parameters]) -> list[Conditional]:
        """List the mean of every array: given its scale, it is conjugate."""
        return [
            Conditional(one.name, f"mean_{one.name}", (one.name + WHITENED,), self.draw_mean)
            for one in arrays
        ]

    def draw_mean(
        self, key: jax.Array, c: jax.Array, scale: jax.Array
    ) -> tuple[jax.Array, jax.Array]:
        """Draw a mean with the prior N(0, mean_sd^2), given the scale."""
        import jax
        import jax.numpy as jnp

        precision = self.mean_sd**-2 + c.size * scale**-2
        centre = jnp.sum(c) * scale**-2 / precision
        mean = centre + jax.random.normal(key, (), c.dtype) / jnp.sqrt(precision)
        return mean, (c - mean) / scale


class TensorBNNCauchyPrior(PriorSettings):
    """Cauchy of location x and scale g of each layer, x ~ N(0, 0.2^2), g ~ N(0.5, 0.5^2), g > 0."""

    learns_hyperparameters: ClassVar[bool] = True

    kind: Literal["tensorbnn_cauchy"]
    location_sd: Positive = 0.2
    """Sd of x."""
    scale_mean: Positive = 0.5
    """Mean of g before truncation at zero."""
    scale_sd: Positive = 0.5
    """Sd of g before truncation at zero."""

    def state(self, parameters: Parameters) -> Array:
        """Define one array, its location and its scale.

        Table 3 of TensorBNN (arXiv:2009.14393). Its code gives the density of a Cauchy the wrong
        sign, and states the prior of g for sqrt(g), with the mean sqrt(0.5); here log g is sampled,
        with its Jacobian.
        """
        import pymc as pm
        from pymc.pytensorf import floatX

        location = pm.Normal(f"location_{parameters.name}", 0.0, floatX(self.location_sd))
        scale = positive_normal(f"scale_{parameters.name}", self.scale_mean, self.scale_sd)
        return scaled(parameters, scale, location, law=pm.Cauchy)
