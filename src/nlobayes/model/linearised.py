"""A network that is linear in its weights: the first-order expansion at a centre c.

f(x, w) = f(x, c) + J(x) (w - c), with J the Jacobian of the outputs by the weights at the centre c.
The Gauss-Newton curvature is exact for this model, so the Laplace approximation uses it for
predictions (the "GLM predictive" of Immer, Korzepa and Bauer 2021, AISTATS, PMLR 130).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from nlobayes.model.networks import Layer, Network, forward, layers_of


def predict(
    network: Network,
    variables: Mapping[str, np.ndarray],
    centres: Mapping[str, np.ndarray],
    features: np.ndarray,
) -> np.ndarray:
    """Evaluate the linearised network of every draw at every point.

    Parameters
    ----------
    network
        Sizes and activations.
    variables, centres
        Weights, biases and slopes by name, of draws and of the centre of each, with leading axis
        (draw,).
    features
        Inputs of the network (point, feature).

    Returns
    -------
    Outputs in the network's units (draw, point), of a network with several (draw, point, output),
    in the precision of the weights.
    """
    pairs = (layers_of(network, variables), layers_of(network, centres))
    draws, about = jax.tree.map(jnp.asarray, pairs)
    return np.asarray(
        _evaluate(network, draws, about, jnp.asarray(features, draws[0].weights.dtype))
    )


@partial(jax.jit, static_argnums=0)
def _evaluate(
    network: Network, draws: Sequence[Layer], centres: Sequence[Layer], points: jax.Array
) -> jax.Array:
    def outputs(layers: Sequence[Layer]) -> jax.Array:
        return forward(network, layers, points, xp=jnp)

    def one_draw(pair: tuple[Sequence[Layer], Sequence[Layer]]) -> jax.Array:
        draw, centre = pair
        moved = jax.tree.map(jnp.subtract, draw, centre)
        value, change = jax.jvp(outputs, (centre,), (moved,))
        return value + change

    return jax.lax.map(one_draw, (draws, centres))
