"""The PyMC model: the single statement of the statistics, with named variables and dims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from nlobayes.model import likelihoods, priors
from nlobayes.model.networks import Layer, Network, forward, weight_names

FEATURES = "features"


class Posterior(NamedTuple):
    """A PyMC model whose data are placeholders, and its layout of the features."""

    model: pm.Model
    layout: str


def unit_dims(network: Network) -> tuple[str, ...]:
    """Name the axis of the units of each layer, inputs and output included."""
    hidden = (f"hidden_{i}" for i in range(1, len(network.sizes) - 1))
    return ("feature", *hidden, "output")


def build_posterior(
    network: Network,
    prior: priors.Prior,
    likelihood: likelihoods.Likelihood,
    *,
    feature_names: Sequence[str],
    layout: str,
    errors: bool = False,
) -> Posterior:
    """State prior and likelihood of a network for data given later.

    The features are placed as (point, feature) in layout `rows` and as (feature, point) in
    layout `columns`; features and target, and with `errors` the sd of the numerical noise of
    every target, are `pm.Data` that `density` turns into arguments.
    """
    dims = unit_dims(network)
    coords: dict[str, Any] = {"feature": list(feature_names)}
    coords |= {dim: np.arange(size) for dim, size in zip(dims[1:], network.sizes[1:], strict=True)}
    with pm.Model(coords=coords) as model:
        shape = (1, network.sizes[0])
        features = pm.Data(FEATURES, np.zeros(shape if layout == "rows" else shape[::-1]))
        target = pm.Data(f"{likelihoods.TARGET}_data", np.zeros(1))
        layers = _draw_layers(network, prior, dims)
        output = forward(layers, features, network.activation, xp=pt, layout=layout)
        error = pm.Data(likelihoods.ERROR, np.zeros(1)) if errors else None
        likelihoods.observe(likelihood, output, target, error)
    return Posterior(model, layout)


def _draw_layers(network: Network, prior: priors.Prior, dims: tuple[str, ...]) -> list[Layer]:
    layers = []
    for index, (weights, biases) in enumerate(weight_names(network)):
        last = index == len(network.sizes) - 2
        into, out = dims[index], dims[index + 1]
        layers.append(
            Layer(
                priors.weights(prior, weights, (into, out), fan_in=network.sizes[index]),
                priors.biases(prior, biases, (out,), output=last),
            )
        )
    return layers
