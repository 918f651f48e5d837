"""A plain ensemble of networks, trained for accuracy: Adam, a cosine schedule, early stopping.

Members differ in their start, in their batches, and in the train rows that stop them (deep
ensembles, Lakshminarayanan et al. 2017, without adversarial examples and learned noise).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import sqrt
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from pydantic import Field

from nlobayes.rivals import FittedRival, RivalOutput, RivalSettings
from nlobayes.settings.values import Fraction, Positive, PositiveInt, Width

if TYPE_CHECKING:
    import jax
    import numpy as np

Layers = list[tuple[Any, Any]]
CHECKS = 100
"""Number of checks on held-out rows during a training; `steps` is a multiple of it."""


class Training(NamedTuple):
    """State of a member: its weights, its optimiser, and the best weights so far."""

    layers: Any
    optimiser: Any
    best: Any
    loss: Any


class NetworkEnsembleRival(RivalSettings):
    """Networks that are trained for accuracy, independently of each other: tanh, Adam, no prior."""

    kind: Literal["network_ensemble"]
    members: Annotated[int, Field(ge=2, le=100)] = 5
    """Number of networks, each from its own start."""
    hidden: Annotated[tuple[Width, ...], Field(min_length=1, max_length=10)] = (64, 64)
    """Units of each hidden layer."""
    steps: Annotated[int, Field(ge=100, le=10_000_000, multiple_of=100)] = 10_000
    """Steps of Adam, a multiple of 100; the learning rate falls to zero along half a cosine."""
    batch: PositiveInt = 100
    """Train rows of each step."""
    learning_rate: Positive = 0.01
    """Learning rate of the first step."""
    held_out: Fraction = 0.1
    """Share of the train rows, different ones for each member, that select its best weights."""

    def fit(self, features: np.ndarray, target: np.ndarray) -> FittedRival:
        """Train the members in parallel; each keeps the weights of its best check."""
        import jax
        import jax.numpy as jnp
        import numpy as np
        import optax

        sizes = (features.shape[1], *self.hidden, 1)
        x, y = jnp.asarray(features, jnp.float32), jnp.asarray(target, jnp.float32)
        out = max(1, round(self.held_out * len(target)))
        adam = optax.adam(optax.cosine_decay_schedule(self.learning_rate, self.steps))

        def train(key: jax.Array) -> tuple[Layers, jax.Array]:
            shuffled, started, stepped = jax.random.split(key, 3)
            order = jax.random.permutation(shuffled, len(target))
            kept = order[out:], order[:out]
            layers = _start(started, sizes)
            begun = Training(layers, adam.init(layers), layers, jnp.inf)
            each = jax.random.split(stepped, (CHECKS, self.steps // CHECKS))
            ended, _ = jax.lax.scan(lambda at, keys: (_check(at, keys, kept), None), begun, each)
            return ended.best, ended.loss

        def _check(at: Training, keys: jax.Array, rows: tuple[jax.Array, jax.Array]) -> Training:
            """Take the steps up to the next check, and keep the weights if they are the best."""
            (layers, optimiser), _ = jax.lax.scan(
                lambda now, key: (_step(now, key, rows[0]), None), at[:2], keys
            )
            loss = _loss(layers, x[rows[1]], y[rows[1]])
            is_best = loss < at.loss
            best = jax.tree.map(lambda new, old: jnp.where(is_best, new, old), layers, at.best)
            return Training(layers, optimiser, best, jnp.minimum(loss, at.loss))

        def _step(now: tuple[Any, Any], key: jax.Array, rows: jax.Array) -> tuple[Any, Any]:
            layers, optimiser = now
            some = jax.random.choice(key, rows, (min(self.batch, len(rows)),))
            slope = jax.grad(_loss)(layers, x[some], y[some])
            change, optimiser = adam.update(slope, optimiser)
            return optax.apply_updates(layers, change), optimiser

        trained, losses = jax.jit(jax.vmap(train))(
            jax.random.split(jax.random.key(self.seed), self.members)
        )
        layers = [(np.asarray(w, np.float64), np.asarray(b, np.float64)) for w, b in trained]
        facts = {"rows": len(target), "held_out_rmse": np.sqrt(np.asarray(losses)).tolist()}
        return FittedRival(lambda points: RivalOutput(_outputs(layers, points)), facts)


def _start(key: jax.Array, sizes: Sequence[int]) -> Layers:
    """Draw weights of variance 1 / fan-in; biases start at zero."""
    import jax
    import jax.numpy as jnp

    keys = jax.random.split(key, len(sizes) - 1)
    shapes = zip(keys, pairwise(sizes), strict=True)
    return [
        (jax.random.normal(one, shape) / sqrt(shape[0]), jnp.zeros(shape[1]))
        for one, shape in shapes
    ]


def _loss(layers: Layers, x: jax.Array, y: jax.Array) -> jax.Array:
    """Compute the mean squared error of one member."""
    import jax.numpy as jnp

    for weights, biases in layers[:-1]:
        x = jnp.tanh(x @ weights + biases)
    return jnp.mean(jnp.square(x @ layers[-1][0] + layers[-1][1] - y[:, jnp.newaxis]))


def _outputs(layers: Sequence[tuple[np.ndarray, np.ndarray]], points: np.ndarray) -> np.ndarray:
    """Predict (member, point) at points (point, feature); layers have a leading axis (member,)."""
    import numpy as np

    found = np.asarray(points, np.float64)[np.newaxis]
    for weights, biases in layers[:-1]:
        found = np.tanh(found @ weights + biases[:, np.newaxis])
    weights, biases = layers[-1]
    return (found @ weights + biases[:, np.newaxis])[..., 0]
