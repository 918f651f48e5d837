"""The priors of the trained slopes of activations, one for each unit."""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, Literal

from pydantic import Field

from nlobayes.model.prior import Parameters, scaled, scaled_by_learned
from nlobayes.settings.values import Choice, Positive
from nlobayes.untyped import Array


class SlopeSettings(Choice):
    """Prior of the trained slopes of activations."""

    @property
    def learns_hyperparameters(self) -> bool:
        """Whether it learns more parameters than the slopes."""
        return False

    @abstractmethod
    def state(self, parameters: Parameters) -> Array:
        """Define the slopes of one layer in PyMC."""


class ExponentialSlopes(SlopeSettings):
    """Exponential prior of the slopes of an activation."""

    kind: Literal["exponential"]
    rate: Positive | None = 0.3
    """Inverse mean; null learns one for each layer."""
    hyper_rate: Positive = 0.3
    """Inverse mean of the exponential prior of a learned rate."""

    @property
    def learns_hyperparameters(self) -> bool:
        """Whether its rate is learned."""
        return self.rate is None

    def state(self, parameters: Parameters) -> Array:
        """Define the slopes of one layer; TensorBNN's PReLU has both rates 0.3."""
        import pymc as pm

        name, rate = parameters.name, self.rate
        if rate is None:
            rate = pm.Exponential(f"rate_{name}", self.hyper_rate)
        return pm.Exponential(name, rate, dims=parameters.dims)


class NormalSlopes(SlopeSettings):
    """Prior N(mean, sd^2) of the slopes of an activation."""

    kind: Literal["normal"]
    mean: float = 0.2
    """Mean of every slope."""
    sd: Positive = 0.3
    """Standard deviation of every slope."""

    def state(self, parameters: Parameters) -> Array:
        """Define the slopes of one layer."""
        return scaled(parameters, self.sd, self.mean)


class TensorBNNSlopes(SlopeSettings):
    """TensorBNN's prior: slopes N(a, b^2) of each layer with a ~ N(0, 0.3^2), b ~ N(0.3, 0.1^2)."""

    kind: Literal["tensorbnn"]

    @property
    def learns_hyperparameters(self) -> bool:
        """Whether it learns more than the slopes: True for means and scales."""
        return True

    def state(self, parameters: Parameters) -> Array:
        """Define the slopes of one layer, their mean and their scale b > 0.

        The constants are those of TensorBNN's code for SquarePReLU, which its Table 4 swaps
        (arXiv:2009.14393).
        """
        return scaled_by_learned(parameters, mean_sd=0.3, scale_mean=0.3, scale_sd=0.1)


Slopes = Annotated[ExponentialSlopes | NormalSlopes | TensorBNNSlopes, Field(discriminator="kind")]
