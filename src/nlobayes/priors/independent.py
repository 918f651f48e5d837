"""Independent weights and biases of one family, centred at zero, with stated scales."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import ClassVar, Literal

from nlobayes.model.networks import WEIGHTS
from nlobayes.model.prior import Parameters, scaled
from nlobayes.priors import PriorSettings
from nlobayes.settings.values import Positive
from nlobayes.untyped import Array


class FanInScaled(PriorSettings):
    """Weights of one family whose scale falls with the fan-in; sampled non-centered."""

    scale: Positive = 1.0
    """Scale of the sum of all weights of a unit."""
    bias_scale: Positive | None = None
    """Scale of the hidden biases; null: `scale`."""
    output_bias_scale: Positive = 1.0
    """Scale of the biases of the output."""

    @property
    def fan_in_power(self) -> float:
        """Power of 1 / fan_in in the scale of the weights.

        1/2 keeps the input of a unit independent of the width. For weights of a stable law of index
        a < 2 it is 1/a (Neal 1996, *Bayesian Learning for Neural Networks*, chapter 2).
        """
        return 0.5

    def state(self, parameters: Parameters) -> Array:
        """Define one array as a PyMC variable."""
        from pymc.pytensorf import floatX

        if parameters.role == WEIGHTS:
            scale = self.scale / parameters.fan_in**self.fan_in_power
        elif parameters.output:
            scale = self.output_bias_scale
        else:
            scale = self.scale if self.bias_scale is None else self.bias_scale
        return scaled(parameters, floatX(scale), law=self.law)

    def law(self, name: str, centre: Array, scale: Array, *, dims: tuple[str, ...]) -> Array:
        """Define a PyMC variable of this family."""
        import pymc as pm

        return pm.Normal(name, centre, scale, dims=dims)


class FanInPrior(FanInScaled):
    """Weights N(0, scale^2 / fan_in), biases N(0, scale^2), of the output N(0, 1); non-centered."""

    output_is_gaussian: ClassVar[bool] = True

    kind: Literal["fan_in"]


class LaplacePrior(FanInScaled):
    """Laplace weights of scale b / sqrt(fan_in), biases of scale b."""

    kind: Literal["laplace"]

    def law(self, name: str, centre: Array, scale: Array, *, dims: tuple[str, ...]) -> Array:
        """Define a Laplace variable."""
        import pymc as pm

        return pm.Laplace(name, centre, scale, dims=dims)


class CauchyPrior(FanInScaled):
    """Cauchy weights of scale / fan_in, biases of scale; few chains mix in its tails."""

    kind: Literal["cauchy"]

    @property
    def fan_in_power(self) -> float:
        """Return 1: a Cauchy is stable of index 1."""
        return 1.0

    def law(self, name: str, centre: Array, scale: Array, *, dims: tuple[str, ...]) -> Array:
        """Define a Cauchy variable."""
        import pymc as pm

        return pm.Cauchy(name, centre, scale, dims=dims)


class StudentTPrior(FanInScaled):
    """Student-t weights of scale / fan_in^(1/2), fan_in^(1/nu) where nu < 2."""

    kind: Literal["student_t"]
    degrees_of_freedom: Positive = 4.0
    """nu; small values have heavy tails, 1 is Cauchy."""

    @property
    def fan_in_power(self) -> float:
        """Return 1/2, or 1/nu where nu < 2: sums of the weights have tails of this index."""
        return max(0.5, 1 / self.degrees_of_freedom)

    def law(self, name: str, centre: Array, scale: Array, *, dims: tuple[str, ...]) -> Array:
        """Define a Student-t variable."""
        import pymc as pm
        from pymc.pytensorf import floatX

        degrees = floatX(self.degrees_of_freedom)
        return pm.StudentT(name, nu=degrees, mu=centre, sigma=scale, dims=dims)


class GaussianPrior(PriorSettings):
    """All weights and biases N(0, 1 / precision), whatever the width."""

    RENAMED: ClassVar[Mapping[str, str]] = {"whitened": "non_centered"}

    output_is_gaussian: ClassVar[bool] = True

    kind: Literal["gaussian"]
    precision: Positive = 1.0
    """Inverse variance of every weight, and of every bias."""
    bias_precision: Positive | None = None
    """Inverse variance of every bias; null: `precision`."""
    non_centered: bool = True
    """Sample the weights in units of their prior sd."""

    def state(self, parameters: Parameters) -> Array:
        """Define one array as a PyMC variable."""
        from pymc.pytensorf import floatX

        precision = self.precision
        if parameters.role != WEIGHTS and self.bias_precision is not None:
            precision = self.bias_precision
        non_centered = self.non_centered and parameters.non_centered
        sd = floatX(1 / sqrt(precision))
        return scaled(parameters._replace(non_centered=non_centered), sd)
