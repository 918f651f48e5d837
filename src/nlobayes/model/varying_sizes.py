"""Networks whose number of units or layers is not fixed, as variables of the PyMC model.

The model has the arrays of the largest network, and indicators of the units and layers in use.
The others keep their prior, and the likelihood does not depend on them. A unit that is not in use
has weights zero; a layer that is not in use is the identity, which `relu` passes on unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pymc.pytensorf import floatX
from scipy.special import gammaln, logsumexp

from nlobayes.model.networks import DEPTH, UNITS, WIDTH, Layer
from nlobayes.untyped import Array

PADDED = "_padded"
"""Suffix of the name of an array that has entries not in use."""


class VaryingSizes(NamedTuple):
    """Log probabilities of the numbers of units of each layer and of hidden layers, from 0.

    A number that is fixed has None. `units` is a list (layer,) of arrays (unit + 1,); the array of
    the number of layers has shape (layer + 1,).
    """

    units: tuple[np.ndarray, ...] | None = None
    depth: np.ndarray | None = None


def log_probabilities(
    kind: str, fewest: int, most: int, mean: float = 1.0, ratio: float = 1.0
) -> np.ndarray:
    """Return the log probability of each number from 0 to `most`: -inf below `fewest`.

    `kind` is `uniform`, `poisson` with a `mean`, or `geometric` with a `ratio`.
    """
    number = np.arange(most + 1)
    weights = {
        "uniform": np.zeros(most + 1),
        "poisson": number * np.log(mean) - gammaln(number + 1),
        "geometric": number * np.log(ratio),
    }[kind]
    weights = np.where(number >= fewest, weights, -np.inf)
    return np.asarray(weights - logsumexp(weights))


def state_varying(
    varying: VaryingSizes, stated: Mapping[str, Array], layers: Sequence[Layer], dims: Sequence[str]
) -> dict[str, Array]:
    """Define the indicators, and name the arrays of the network that is in use.

    Parameters
    ----------
    varying
        Log probabilities of the numbers that vary.
    stated
        The arrays of the largest network, by the names of its layers.
    layers
        Names of the weights and biases of each layer.
    dims
        Names of the axes of the units of each layer, inputs and output included.
    """
    if varying.depth is not None:
        return _of_depth(varying.depth, stated, layers, dims)
    assert varying.units is not None
    used = [
        _state_units(f"{UNITS}_{number}", log_probability, dims[number])
        for number, log_probability in enumerate(varying.units, start=1)
    ]
    for number, units in enumerate(used, start=1):
        pm.Deterministic(f"{WIDTH}_{number}", pt.sum(units))
    named: dict[str, Array] = {}
    for number, names in enumerate(layers):
        weights, biases = stated[names.weights], stated[names.biases]
        if number > 0:
            weights = weights * used[number - 1][:, None]
        if number < len(used):
            weights, biases = weights * used[number], biases * used[number]
        named |= _name(names, weights, biases, dims[number : number + 2])
    return named


def _of_depth(
    log_probability: np.ndarray,
    stated: Mapping[str, Array],
    layers: Sequence[Layer],
    dims: Sequence[str],
) -> dict[str, Array]:
    depth = _state_depth(log_probability)
    named: dict[str, Array] = {}
    for number, names in enumerate(layers):
        weights, biases = stated[names.weights], stated[names.biases]
        if 0 < number < len(layers) - 1:
            there = pt.gt(depth, number)
            weights = pt.switch(there, weights, pt.eye(weights.shape[0], dtype=weights.dtype))
            biases = pt.switch(there, biases, pt.zeros_like(biases))
        named |= _name(names, weights, biases, dims[number : number + 2])
    return named


def _name(names: Layer, weights: Array, biases: Array, dims: Sequence[str]) -> dict[str, Array]:
    return {
        names.weights: pm.Deterministic(names.weights, weights, dims=tuple(dims)),
        names.biases: pm.Deterministic(names.biases, biases, dims=(dims[1],)),
    }


def _state_units(name: str, log_probability: np.ndarray, dim: str) -> Array:
    """State which units are in use: their number, then a uniform choice of that many units."""
    most = len(log_probability) - 1
    number = np.arange(most + 1)
    choices = gammaln(most + 1) - gammaln(number + 1) - gammaln(most - number + 1)
    each = floatX(log_probability - choices)

    def random(blank: np.ndarray, rng: np.random.Generator, size: Any) -> np.ndarray:
        del blank
        shape = () if size is None else tuple(size)
        drawn = np.zeros((*shape, most), np.int64)
        for index in np.ndindex(shape):
            count = rng.choice(most + 1, p=np.exp(log_probability))
            drawn[index][rng.permutation(most)[:count]] = 1
        return drawn

    return pm.CustomDist(
        name,
        np.zeros(most),
        logp=lambda value, blank: pt.constant(each)[pt.sum(value)],
        random=random,
        signature="(n)->(n)",
        dtype="int64",
        dims=dim,
    )


def _state_depth(log_probability: np.ndarray) -> Array:
    def random(blank: np.ndarray, rng: np.random.Generator, size: Any) -> np.ndarray:
        del blank
        return rng.choice(len(log_probability), size=size, p=np.exp(log_probability))

    return pm.CustomDist(
        DEPTH,
        0.0,
        logp=lambda value, blank: pt.constant(floatX(log_probability))[value],
        random=random,
        dtype="int64",
    )
