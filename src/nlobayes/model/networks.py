"""The dense multilayer perceptron: one forward pass, for PyTensor and for JAX."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple


class Network(NamedTuple):
    """Sizes of all layers, inputs and output included, and the hidden activation."""

    sizes: tuple[int, ...]
    activation: str


class Layer(NamedTuple):
    """Weights (units in, units out) and biases (units out)."""

    weights: Any
    biases: Any


def weight_names(network: Network) -> list[tuple[str, str]]:
    """Name the weights and biases of each layer, first layer first."""
    return [(f"weights_{i}", f"biases_{i}") for i in range(1, len(network.sizes))]


def layers_of(network: Network, variables: Mapping[str, Any]) -> list[Layer]:
    """Pick the layers of a network from its named variables."""
    return [Layer(variables[w], variables[b]) for w, b in weight_names(network)]


def network_of(variables: Mapping[str, Any], activation: str) -> Network:
    """Read the sizes of a network off its named weights (..., units in, units out)."""
    layers = sum(name.startswith("weights_") for name in variables)
    sizes = [variables[f"weights_{i}"].shape[-2:] for i in range(1, layers + 1)]
    return Network((sizes[0][0], *(out for _, out in sizes)), activation)


def _tanh(xp: Any, x: Any) -> Any:
    return xp.tanh(x)


def _relu(xp: Any, x: Any) -> Any:
    return xp.maximum(x, 0)


def _sigmoid(xp: Any, x: Any) -> Any:
    return 0.5 * (1 + xp.tanh(0.5 * x))


def _swish(xp: Any, x: Any) -> Any:
    return x * _sigmoid(xp, x)


ACTIVATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "tanh": _tanh,
    "relu": _relu,
    "sigmoid": _sigmoid,
    "swish": _swish,
}


def forward(
    layers: Sequence[Layer], features: Any, activation: str, *, xp: Any, layout: str = "rows"
) -> Any:
    """Evaluate the network at every point.

    Parameters
    ----------
    layers
        One pair of weights and biases per layer, the linear output last.
    features
        Inputs with axes (point, feature) in layout `rows`, (feature, point) in `columns`.
    activation
        Name of the hidden activation.
    xp
        `pytensor.tensor`, `jax.numpy` or `numpy`; with the last, layers may have a leading axis.
    layout
        `columns` keeps units first (`weights.T @ activations`), the faster order for narrow layers.

    Returns
    -------
    Output with axis (point,).
    """
    activate = ACTIVATIONS[activation]
    affine = _affine_columns if layout == "columns" else _affine_rows
    hidden = features
    for layer in layers[:-1]:
        hidden = activate(xp, affine(layer, hidden))
    output = affine(layers[-1], hidden)
    return output[0] if layout == "columns" else output[..., 0]


def _affine_rows(layer: Layer, hidden: Any) -> Any:
    return hidden @ layer.weights + layer.biases


def _affine_columns(layer: Layer, hidden: Any) -> Any:
    return layer.weights.T @ hidden + layer.biases[:, None]
