"""The dense multilayer perceptron: one forward pass, for PyTensor, JAX and NumPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from nlobayes.model.activations import ACTIVATIONS as ACTIVATIONS
from nlobayes.model.activations import Activation, activate, has_slopes
from nlobayes.model.activations import is_known as is_known
from nlobayes.untyped import Array, Module

WEIGHTS, BIASES, SLOPES = "weights", "biases", "slopes"
UNITS, WIDTH, DEPTH = "units", "width", "depth"
"""Names in a varying network: the units in use, their number, the number of hidden layers."""


class Network(NamedTuple):
    """Sizes of all layers, inputs and outputs included, and the hidden activation.

    The activation is one name for all hidden layers, or one name for each; a function of the user
    may replace a name. The sizes of a network with one infinitely wide layer are those of inputs
    and outputs alone.
    """

    sizes: tuple[int, ...]
    activation: Activation | tuple[Activation, ...]
    is_infinite: bool = False


class Layer(NamedTuple):
    """Weights (units in, units out), biases (units out) and trained slopes (units out)."""

    weights: Array
    biases: Array
    slopes: Array = None


def activations_of(network: Network) -> tuple[Activation, ...]:
    """Name the activation of each hidden layer."""
    named = network.activation
    return named if isinstance(named, tuple) else (named,) * (len(network.sizes) - 2)


def layer_names(network: Network) -> list[Layer]:
    """Name the weights, biases and trained slopes of each layer, first layer first."""
    names = []
    for index, activation in enumerate((*activations_of(network), ""), start=1):
        slopes = f"{SLOPES}_{index}" if has_slopes(activation) else None
        names.append(Layer(f"{WEIGHTS}_{index}", f"{BIASES}_{index}", slopes))
    return names


def is_parameter(name: str) -> bool:
    """Return whether a variable is an array of a network; others belong to prior or likelihood."""
    return name.startswith((f"{WEIGHTS}_", f"{BIASES}_", f"{SLOPES}_"))


def is_size(name: str) -> bool:
    """Return whether a variable is a number of units or of hidden layers."""
    return name == DEPTH or name.startswith(f"{WIDTH}_")


def layers_of(network: Network, variables: Mapping[str, Array]) -> list[Layer]:
    """Pick the layers of a network from its named variables."""
    return [
        Layer(*(None if name is None else variables[name] for name in names))
        for names in layer_names(network)
    ]


def network_of(
    variables: Mapping[str, Array], activation: Activation | Sequence[Activation]
) -> Network:
    """Read the sizes of a network from its named weights (..., units in, units out)."""
    layers = sum(name.startswith(f"{WEIGHTS}_") for name in variables)
    sizes = [variables[f"{WEIGHTS}_{i}"].shape[-2:] for i in range(1, layers + 1)]
    is_one = isinstance(activation, str) or callable(activation)
    named: Any = activation if is_one else tuple(activation)  # type: ignore[arg-type]
    return Network((sizes[0][0], *(out for _, out in sizes)), named)


def parameters_in_use(sizes: Sequence[int], numbers: Mapping[str, Array]) -> Array:
    """Count the weights and biases of a network that are in use.

    Parameters
    ----------
    sizes
        Sizes of all layers of the largest network, inputs and outputs included.
    numbers
        Numbers of units (`width_1`, ...) and of hidden layers (`depth`) that are drawn: scalars, or
        arrays of one shape, which is that of the result.
    """
    total, entering = 0, sizes[0]
    for layer, most in enumerate(sizes[1:-1], start=1):
        width = numbers.get(f"{WIDTH}_{layer}", most)
        there = 1 * (layer <= numbers.get(DEPTH, layer))
        total = total + there * (entering + 1) * width
        entering = there * width + (1 - there) * entering
    return total + (entering + 1) * sizes[-1]


def forward(
    network: Network, layers: Sequence[Layer], features: Array, *, xp: Module, layout: str = "rows"
) -> Array:
    """Evaluate the network at every point.

    Parameters
    ----------
    network
        Sizes and activations.
    layers
        One per layer, the linear output last.
    features
        Inputs with axes (point, feature) in layout `rows`, (feature, point) in `columns`.
    xp
        `pytensor.tensor`, `jax.numpy` or `numpy`; with the last, layers may have a leading axis.
    layout
        `columns` keeps units first (`weights.T @ activations`), the faster order for narrow layers.

    Returns
    -------
    The output (point,) of a network with one, the outputs (point, output) of one with several.
    """
    hidden = last_hidden(network, layers, features, xp=xp, layout=layout)
    return read_out(network, layers[-1], hidden, layout=layout)


def last_hidden(
    network: Network, layers: Sequence[Layer], features: Array, *, xp: Module, layout: str = "rows"
) -> Array:
    """Evaluate the last hidden layer at every point; for a linear model, give the features.

    The axes are (point, unit) in layout `rows`, (unit, point) in `columns`.
    """
    columns = layout == "columns"
    affine = partial(_affine_with_ones, xp=xp) if columns else _affine_rows
    hidden = features
    for layer, name in zip(layers[:-1], activations_of(network), strict=True):
        if is_own_layer(name):
            hidden = _own_layer(name, layer, hidden, xp, columns=columns)
            continue
        slopes = layer.slopes
        if columns and slopes is not None:
            slopes = slopes[:, None]
        hidden = activate(name, xp, affine(layer, hidden), slopes)
    return hidden


def read_out(network: Network, layer: Layer, hidden: Array, *, layout: str = "rows") -> Array:
    """Evaluate the linear output of the last hidden layer, with the shape of `forward`."""
    columns = layout == "columns"
    output = (_affine_columns if columns else _affine_rows)(layer, hidden)
    if network.sizes[-1] == 1:
        return output[0] if columns else output[..., 0]
    return output.T if columns else output


def is_own_layer(activation: object) -> bool:
    """Return whether an activation is a function of the user in place of a whole layer."""
    return getattr(activation, "is_layer", False)


def _own_layer(function: Any, layer: Layer, hidden: Array, xp: Module, *, columns: bool) -> Array:
    """Evaluate a layer of the user, whose function has points first."""
    given = hidden.T if columns else hidden
    found = function(xp, given, layer.weights, layer.biases)
    return found.T if columns else found


def _affine_rows(layer: Layer, hidden: Array) -> Array:
    return hidden @ layer.weights + layer.biases


def _affine_columns(layer: Layer, hidden: Array) -> Array:
    return layer.weights.T @ hidden + layer.biases[:, None]


def _affine_with_ones(layer: Layer, hidden: Array, xp: Module) -> Array:
    """Evaluate an affine layer as one matrix product, with units first and biases as weights.

    Then its gradients are one product as well: XLA sums over points several times more slowly.
    """
    weights = xp.concatenate([layer.weights, layer.biases[None]])
    return weights.T @ xp.concatenate([hidden, xp.ones_like(hidden[0])[None]])
