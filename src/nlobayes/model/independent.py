"""Independent weights and biases of one family, in the units of the network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import pymc as pm

from nlobayes.model.networks import WEIGHTS
from nlobayes.model.prior import WHITENED, Conditional, Parameters


class Independent(NamedTuple):
    """Independent weights and biases of one family, centred at zero.

    Attributes
    ----------
    family
        `normal`, `laplace`, `cauchy` or `student_t`.
    scale
        Scale of the weights, over fan_in^`fan_in_power`.
    bias_scale, output_bias_scale
        Scales of the hidden biases and of those of the output.
    fan_in_power
        1/2 keeps the input of a unit independent of the width; for weights of a stable law of
        index a < 2, as a Cauchy's 1, it is 1/a (Neal 1996, *Bayesian Learning for Neural
        Networks*, chapter 2); 0 does not scale.
    non_centered
        Whether arrays are sampled in units of their scales.
    degrees_of_freedom
        Of a Student-t.
    """

    family: str
    scale: float
    bias_scale: float
    output_bias_scale: float
    fan_in_power: float
    non_centered: bool = True
    degrees_of_freedom: float | None = None

    def state(self, parameters: Parameters) -> Any:
        """Define one array as a PyMC variable."""
        name, dims = parameters.name, parameters.dims
        scale = self._scale(parameters)
        if not (self.non_centered and parameters.non_centered):
            return self._draw(name, scale, dims)
        return pm.Deterministic(name, self._draw(name + WHITENED, 1.0, dims) * scale, dims=dims)

    def _draw(self, name: str, scale: float, dims: tuple[str, ...]) -> Any:
        scale = pm.floatX(scale)
        if self.family == "student_t":
            degrees = pm.floatX(self.degrees_of_freedom)
            return pm.StudentT(name, nu=degrees, mu=0.0, sigma=scale, dims=dims)
        return FAMILIES[self.family](name, 0.0, scale, dims=dims)

    def _scale(self, parameters: Parameters) -> float:
        if parameters.role == WEIGHTS:
            return self.scale / parameters.fan_in**self.fan_in_power
        return self.output_bias_scale if parameters.output else self.bias_scale

    def conditionals(self, arrays: Sequence[Parameters]) -> list[Conditional]:
        """Return an empty list: no scale is learned."""
        return []


FAMILIES: dict[str, Any] = {"normal": pm.Normal, "laplace": pm.Laplace, "cauchy": pm.Cauchy}


def fan_in(
    scale: float,
    bias_scale: float | None = None,
    output_bias_scale: float = 1.0,
    *,
    family: str = "normal",
    power: float = 0.5,
    degrees_of_freedom: float | None = None,
) -> Independent:
    """Return non-centered weights whose scale is proportional to 1 / fan_in^`power`.

    The default family, normal, is the width-independent prior of Neal (1996), chapter 2.
    """
    biases = scale if bias_scale is None else bias_scale
    return Independent(
        family, scale, biases, output_bias_scale, power, degrees_of_freedom=degrees_of_freedom
    )


def gaussian(sd: float, non_centered: bool, bias_sd: float | None = None) -> Independent:
    """Return weights N(0, sd^2) and biases of the same or another sd, whatever the width."""
    biases = sd if bias_sd is None else bias_sd
    return Independent("normal", sd, biases, biases, fan_in_power=0.0, non_centered=non_centered)
