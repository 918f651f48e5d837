"""Priors of independent weights, in the units of the network.

A prior is a value that states each array of a network as a PyMC variable. Those with learned
scales are in `hierarchies`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

import pymc as pm

from nlobayes.errors import InputError
from nlobayes.model.networks import BIASES, SLOPES, WEIGHTS, Network, layer_names

WHITENED = "_whitened"


class Parameters(NamedTuple):
    """One array of a network: its name and dims, and where it stands.

    `role` is `weights`, `biases` or `slopes`; `fan_in` counts the units that enter; `output` tells
    the last layer; `whitened` asks for a variable in units of its scale.
    """

    name: str
    dims: tuple[str, ...]
    role: str
    fan_in: int
    output: bool
    whitened: bool = True


class Prior(Protocol):
    """What states the arrays of a network, one after the other, inside a PyMC model."""

    def state(self, parameters: Parameters) -> Any:
        """Name one array as a PyMC variable with these dims."""
        ...


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
        1/2 keeps what enters a unit independent of the width; for weights of a stable law of
        index a < 2, as a Cauchy's 1, it is 1/a (Neal 1996, *Bayesian Learning for Neural
        Networks*, chapter 2); 0 does not scale.
    whitened
        Whether arrays are sampled in units of their scales.
    degrees_of_freedom
        Of a Student-t.
    """

    family: str
    scale: float
    bias_scale: float
    output_bias_scale: float
    fan_in_power: float
    whitened: bool = True
    degrees_of_freedom: float | None = None

    def state(self, parameters: Parameters) -> Any:
        """Name one array as a PyMC variable."""
        name, dims = parameters.name, parameters.dims
        scale = self._scale(parameters)
        if not (self.whitened and parameters.whitened):
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


FAMILIES: dict[str, Any] = {"normal": pm.Normal, "laplace": pm.Laplace, "cauchy": pm.Cauchy}


def fan_in(
    scale: float, bias_scale: float | None = None, output_bias_scale: float = 1.0
) -> Independent:
    """Give the width-independent Gaussian prior of Neal (1996), chapter 2; whitened."""
    biases = scale if bias_scale is None else bias_scale
    return Independent("normal", scale, biases, output_bias_scale, fan_in_power=0.5)


def gaussian(sd: float, whitened: bool, bias_sd: float | None = None) -> Independent:
    """Give weights N(0, sd^2) and biases of the same or another sd, whatever the width."""
    biases = sd if bias_sd is None else bias_sd
    return Independent("normal", sd, biases, biases, fan_in_power=0.0, whitened=whitened)


class ExponentialSlopes(NamedTuple):
    """Slopes that are exponential with a rate, itself exponential where `hyper_rate` is given.

    TensorBNN's prior of PReLU slopes has both rates 0.3 (arXiv:2009.14393).
    """

    rate: float | None
    hyper_rate: float | None = None

    def state(self, parameters: Parameters) -> Any:
        """Name the slopes of one layer."""
        name, rate = parameters.name, self.rate
        if self.hyper_rate is not None:
            rate = pm.Exponential(f"rate_{name}", self.hyper_rate)
        return pm.Exponential(name, rate, dims=parameters.dims)


class NormalSlopes(NamedTuple):
    """Slopes N(mean, sd^2)."""

    mean: float
    sd: float

    def state(self, parameters: Parameters) -> Any:
        """Name the slopes of one layer."""
        name, dims = parameters.name, parameters.dims
        if not parameters.whitened:
            return pm.Normal(name, self.mean, self.sd, dims=dims)
        standard = pm.Normal(name + WHITENED, 0.0, 1.0, dims=dims)
        return pm.Deterministic(name, self.mean + self.sd * standard, dims=dims)


class Custom(NamedTuple):
    """A prior by a user's function of the parameters and settings, which names the variables."""

    function: Callable[..., Any]
    settings: Mapping[str, Any]

    def state(self, parameters: Parameters) -> Any:
        """Name one array as a PyMC variable; refuse what is not one with its dims."""
        name, dims, model = parameters.name, parameters.dims, pm.modelcontext(None)
        try:
            self.function(parameters, **self.settings)
        except (Exception, SystemExit) as error:
            raise InputError(
                f"custom prior of {name}: {type(error).__name__}: {error}; mend its function"
            ) from error
        if tuple(model.named_vars_to_dims.get(name, ())) != dims:
            raise InputError(
                f"custom prior: its function must name a PyMC variable {name!r} with dims {dims}; "
                f"the model has {sorted(model.named_vars)}"
            )
        return model[name]


def arrays_of(
    network: Network, dims: tuple[str, ...], *, whitened: bool = True
) -> list[Parameters]:
    """List the arrays of a network, layer by layer, whose units have these dims."""
    arrays = []
    for index, names in enumerate(layer_names(network)):
        into, out = dims[index], dims[index + 1]
        stands = (network.sizes[index], index == len(network.sizes) - 2, whitened)
        arrays.append(Parameters(names.weights, (into, out), WEIGHTS, *stands))
        arrays.append(Parameters(names.biases, (out,), BIASES, *stands))
        if names.slopes is not None:
            arrays.append(Parameters(names.slopes, (out,), SLOPES, *stands))
    return arrays
