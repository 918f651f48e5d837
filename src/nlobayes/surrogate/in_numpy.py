"""Evaluation of every draw of a network at every point with NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Literal, get_args

import numpy as np

from nlobayes.errors import InputError
from nlobayes.extras import needs_extra
from nlobayes.model.networks import Layer, Network, forward, layers_of, network_of
from nlobayes.surrogate import process
from nlobayes.types import SurrogateContent

Engine = Literal["numpy", "jax"]

_ROWS = 256
"""Points of one matrix product: larger products are split among threads, which is slower."""
_CELLS = 100_000
"""Activations of one layer that are in memory at once, so that they stay in the cache."""


def evaluator(exported: SurrogateContent, engine: Engine) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function from features to outputs of every draw, by the chosen library."""
    if engine not in get_args(Engine):
        raise InputError("surrogate.unknown_engine", engine=engine, known=get_args(Engine))
    is_process = process.is_process(exported)
    if engine == "numpy" and is_process:
        return process.evaluator(exported)
    if engine == "numpy":
        network = network_of(exported.variables, exported.facts["activation"])
        return partial(evaluate, network, exported.variables)
    with needs_extra("jax"):
        from nlobayes.surrogate import prediction

    if is_process:
        import jax.numpy as jnp

        function = prediction.process_function(exported)
        return lambda features: np.asarray(function(jnp.asarray(features)))
    network = network_of(exported.variables, exported.facts["activation"])
    return prediction.CompiledNetwork(network, exported.variables)


def evaluate(
    network: Network, variables: Mapping[str, np.ndarray], features: np.ndarray
) -> np.ndarray:
    """Evaluate every draw of the network at every point.

    Parameters
    ----------
    network
        Sizes and activation.
    variables
        Weights and biases by name, each with leading axis (draw,).
    features
        Inputs of the network (point, feature).

    Returns
    -------
    Outputs in the network's units and in the precision of the weights: (draw, point), or
    (draw, point, output) for a network with several outputs.
    """
    weights = variables["weights_1"]
    draws, points = len(weights), len(features)
    trailing = network.sizes[-1:] if network.sizes[-1] > 1 else ()
    outputs = np.empty((draws, points, *trailing), weights.dtype)
    inputs = np.ascontiguousarray(features, weights.dtype)
    widest = max(network.sizes)
    rows = max(1, min(points, _ROWS, _CELLS // widest))
    step = max(1, _CELLS // (rows * widest))
    for first in range(0, draws, step):
        part = {name: values[first : first + step] for name, values in variables.items()}
        layers = [for_all_points(layer) for layer in layers_of(network, part)]
        for start in range(0, points, rows):
            chunk = inputs[start : start + rows]
            outputs[first : first + step, start : start + rows] = forward(
                network, layers, chunk, xp=np
            )
    return outputs


def for_all_points(layer: Layer) -> Layer:
    """Insert an axis of points into the biases and slopes of several draws."""
    slopes = None if layer.slopes is None else layer.slopes[:, np.newaxis]
    return layer._replace(biases=layer.biases[:, np.newaxis], slopes=slopes)
