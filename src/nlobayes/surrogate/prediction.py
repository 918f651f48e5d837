"""Evaluation of every draw of a network at every point with JAX."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from scipy.special import entr

from nlobayes.model.conditioning import differentiable_curve
from nlobayes.model.networks import Network, forward, layer_names, layers_of
from nlobayes.surrogate import process
from nlobayes.surrogate.conditioned import Conditioned
from nlobayes.surrogate.nodes import spread
from nlobayes.types import Plane, SurrogateContent

ACTIVATIONS_AT_ONCE = 200_000
"""Activations of one layer in one matrix product: for fewer points it takes more draws."""


class CompiledNetwork:
    """A network whose draws stay on the device.

    It is compiled once for each number of points that is a power of two.
    """

    def __init__(self, network: Network, variables: Mapping[str, np.ndarray]) -> None:
        names = [name for layer in layer_names(network) for name in layer if name is not None]
        self._network = network
        self._draws = {name: jnp.asarray(variables[name]) for name in names}

    def __call__(self, features: np.ndarray) -> np.ndarray:
        """Evaluate every draw at every point; see `predict`."""
        outputs = _evaluate(self._network, self._draws, self._placed(features))
        return np.asarray(outputs)[:, : len(features)]

    def mean_and_sd(self, features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Compute mean and standard deviation (point,) over the draws, both on the device."""
        found = _mean_and_sd(self._network, self._draws, self._placed(features))
        mean, sd = (np.asarray(values)[: len(features)] for values in found)
        return mean, sd

    def _placed(self, features: np.ndarray) -> jax.Array:
        """Copy points to the device, padded to a power of two."""
        points = len(features)
        room = 1 << max(points - 1, 0).bit_length()
        padded = np.pad(features, ((0, room - points), (0, 0)))
        return jnp.asarray(padded, self._draws["weights_1"].dtype)


def predict(
    network: Network, variables: Mapping[str, np.ndarray], features: np.ndarray
) -> np.ndarray:
    """Evaluate every draw of the network at every point, as `evaluation.evaluate` does."""
    return CompiledNetwork(network, variables)(features)


@partial(jax.jit, static_argnums=0)
def _evaluate(network: Network, draws: dict[str, jax.Array], points: jax.Array) -> jax.Array:
    def one_draw(draw: dict[str, jax.Array]) -> jax.Array:
        return forward(network, layers_of(network, draw), points, xp=jnp)

    activations = max(1, len(points)) * max(network.sizes)
    together = max(1, ACTIVATIONS_AT_ONCE // activations)
    return jax.lax.map(one_draw, draws, batch_size=min(together, len(draws["biases_1"])))


@partial(jax.jit, static_argnums=0)
def _mean_and_sd(
    network: Network, draws: dict[str, jax.Array], points: jax.Array
) -> tuple[jax.Array, jax.Array]:
    outputs = _evaluate(network, draws, points)
    return outputs.mean(axis=0), outputs.std(axis=0)


def process_function(content: SurrogateContent) -> Callable[[jax.Array], jax.Array]:
    """Build the function from features (point, feature) to the nodes of an infinitely wide network.

    It is `process.evaluator` in JAX, and may be traced.
    """
    activation, each, warp = process.conditioned(content)
    curve = differentiable_curve(activation)

    def of_target(draws: list[Conditioned], features: jax.Array) -> jax.Array:
        seen = [process.see(activation, draw, warp, features, jnp, curve) for draw in draws]
        found = [process.moments(*both, jnp) for both in zip(draws, seen, strict=True)]
        means, sds = map(jnp.stack, zip(*found, strict=True))
        values: jax.Array = spread(means, sds, jnp)
        return values

    return process.stacked([partial(of_target, draws) for draws in each], jnp)


ROWS_OF_GRID = 61
"""Points along each side of the grid."""
MARGIN = 0.1
"""Margin of the grid beyond the rows on every side, as a share of their range."""


def grid_over(inputs: np.ndarray) -> np.ndarray:
    """Make a grid (grid_point, 2) over rows of two inputs (row, 2); the second varies fastest."""
    low, high = inputs.min(axis=0), inputs.max(axis=0)
    margin = MARGIN * (high - low)
    axes = np.linspace(low - margin, high + margin, ROWS_OF_GRID).T
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)


def plane_of(grid: np.ndarray, parts: Iterable[np.ndarray]) -> Plane:
    """Average the probabilities (draw, point, class) over the draws for each part of the grid."""
    means, entropies = [], []
    for part in parts:
        each = part.astype(np.float64)
        means.append(each.mean(axis=0))
        entropies.append(entr(each).sum(axis=2).mean(axis=0))
    return Plane(grid, np.concatenate(means), np.concatenate(entropies))
