"""Predictions of sampled networks: every draw at every point."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from nlobayes.model.networks import Network, forward, layers_of, weight_names

DRAWS_AT_ONCE = 16


def network_of(variables: Mapping[str, np.ndarray], activation: str) -> Network:
    """Read the sizes of a network off its named weights (..., units in, units out)."""
    layers = sum(name.startswith("weights_") for name in variables)
    sizes = [variables[f"weights_{i}"].shape[-2:] for i in range(1, layers + 1)]
    return Network((sizes[0][0], *(out for _, out in sizes)), activation)


def predict(
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
    Outputs in the network's units (draw, point).
    """
    names = [name for pair in weight_names(network) for name in pair]
    draws = {name: jnp.asarray(variables[name]) for name in names}
    points = jnp.asarray(features, draws[names[0]].dtype)
    return np.asarray(_evaluate(network, draws, points))


@partial(jax.jit, static_argnums=0)
def _evaluate(network: Network, draws: dict[str, jax.Array], points: jax.Array) -> jax.Array:
    def one_draw(draw: dict[str, jax.Array]) -> jax.Array:
        return forward(layers_of(network, draw), points, network.activation, xp=jnp)

    return jax.lax.map(one_draw, draws, batch_size=DRAWS_AT_ONCE)
