"""The protocol of a prior: an object that defines each array of a network in PyMC."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from nlobayes.model.networks import BIASES, SLOPES, WEIGHTS, Network, layer_names
from nlobayes.untyped import Array

if TYPE_CHECKING:
    import jax

WHITENED = "_whitened"
"""Suffix of the name of an array that is sampled in units of its scale."""

INPUT = "feature"
"""The dimension of the inputs of the first layer."""

OUTPUT_BIAS_SCALE = 1.0
"""Default scale of the biases of the output; the target is standardised."""


class Parameters(NamedTuple):
    """One array of a network: its name, dims and role.

    `role` is `weights`, `biases` or `slopes`; `fan_in` counts the inputs of a unit; `output` marks
    the last layer; `non_centered` requests a variable in units of its scale.
    """

    name: str
    dims: tuple[str, ...]
    role: str
    fan_in: int
    output: bool
    non_centered: bool = True

    @property
    def whitened(self) -> bool:
        """Return `non_centered` under its old name, which custom functions may still use."""
        warnings.warn(
            "parameters.whitened is now parameters.non_centered; the next release has not the old "
            "name",
            FutureWarning,
            stacklevel=2,
        )
        return self.non_centered


class Conditional(NamedTuple):
    """A hyperparameter that can be drawn given all others: its group, its name, its arrays.

    `draw(key, c, scale)` gives its new value, as in a position, and the arrays in units of the
    new scale.
    """

    group: str
    name: str
    arrays: tuple[str, ...]
    draw: Callable[[jax.Array, jax.Array, jax.Array], tuple[jax.Array, jax.Array]]


class Statement(Protocol):
    """An object that defines the arrays of a network one by one in a PyMC model."""

    def state(self, parameters: Parameters) -> Array:
        """Define one array as a PyMC variable with these dims."""
        ...


class Prior(Statement, Protocol):
    """The prior of weights and biases; some of its scales and means may be conjugate."""

    def conditionals(self, arrays: Sequence[Parameters]) -> list[Conditional]:
        """List the conjugate hyperparameters of these arrays, if there are any."""
        ...


def arrays_of(
    network: Network, dims: tuple[str, ...], *, non_centered: bool = True
) -> list[Parameters]:
    """List the arrays of a network, layer by layer; `dims` names the axes of their units."""
    arrays = []
    for index, names in enumerate(layer_names(network)):
        into, out = dims[index], dims[index + 1]
        stands = (network.sizes[index], index == len(network.sizes) - 2, non_centered)
        arrays.append(Parameters(names.weights, (into, out), WEIGHTS, *stands))
        arrays.append(Parameters(names.biases, (out,), BIASES, *stands))
        if names.slopes is not None:
            arrays.append(Parameters(names.slopes, (out,), SLOPES, *stands))
    return arrays


def scaled(
    parameters: Parameters,
    scale: Array,
    mean: Array = None,
    law: Callable[..., Array] | None = None,
) -> Array:
    """Define one array with a scale and a mean, non-centered where requested.

    `law(name, mean, scale, dims=...)` defines a variable of another family than the normal.
    """
    import pymc as pm
    from pymc.pytensorf import floatX

    define, name, dims = law or pm.Normal, parameters.name, parameters.dims
    if not parameters.non_centered:
        return define(name, 0.0 if mean is None else mean, scale, dims=dims)
    one = floatX(1.0)  # PyTensor takes 1.0 for single precision, also within logarithms
    spread = define(name + WHITENED, 0.0, one, dims=dims) * scale
    return pm.Deterministic(name, spread if mean is None else mean + spread, dims=dims)


def scaled_by_learned(
    parameters: Parameters, *, mean_sd: float, scale_mean: float, scale_sd: float
) -> Array:
    """Define an array N(a, b^2), a ~ N(0, mean_sd^2) and b ~ N(scale_mean, scale_sd^2) > 0."""
    import pymc as pm
    from pymc.pytensorf import floatX

    mean = pm.Normal(f"mean_{parameters.name}", 0.0, floatX(mean_sd))
    scale = positive_normal(f"scale_{parameters.name}", scale_mean, scale_sd)
    return scaled(parameters, scale, mean)


def positive_normal(name: str, mean: float, sd: float) -> Array:
    """Define a normal truncated at zero."""
    import pymc as pm
    from pymc.pytensorf import floatX

    return pm.TruncatedNormal(name, floatX(mean), floatX(sd), lower=floatX(0.0))
