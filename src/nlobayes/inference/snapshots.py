"""Snapshots of a gradient descent, and the Gaussian of their moments.

`methods/swag` describes the method and its source.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from nlobayes.inference.gaussians import Gaussian, diagonal_and_factor
from nlobayes.inference.pretrain import Problem, Rows, loss_of_batches

LEAST_VARIANCE = 1e-30
"""Least variance, as in the code of Maddox et al.; far below that of any entry that moves."""
Descend = Callable[[jax.Array, jax.Array], jax.Array]
"""Gives snapshots (snapshot, entry) of a path from a key and the start (entry,)."""


class Moments(NamedTuple):
    """Moments of the snapshots of a path."""

    mean: jax.Array
    """Mean of all snapshots (entry,)."""
    variance: jax.Array
    """Variance of each entry over all snapshots (entry,)."""
    deviations: jax.Array
    """The last snapshots, each minus the mean of all up to it (deviation, entry)."""

    def gaussian(self, scale: float) -> Gaussian:
        """Return the Gaussian with `scale` times the covariance of SWAG.

        An entry that no snapshot moves has the least variance, so that a density exists.
        """
        rank = len(self.deviations)
        own = jnp.maximum(self.variance, LEAST_VARIANCE) * scale / 2
        core = jnp.identity(rank, self.mean.dtype) * scale / (2 * (rank - 1))
        return diagonal_and_factor(self.mean, own, self.deviations.T, core)


def moments_of(snapshots: jax.Array, rank: int) -> Moments:
    """Take mean, variance and the last deviations of snapshots (snapshot, entry).

    All are taken about the first snapshot, so that no digits cancel.
    """
    about = snapshots - snapshots[0]
    counts = jnp.arange(1, len(about) + 1, dtype=about.dtype)[:, jnp.newaxis]
    means = jnp.cumsum(about, axis=0) / counts
    return Moments(snapshots[0] + means[-1], jnp.var(about, axis=0), (about - means)[-rank:])


def descent(
    problem: Problem,
    train: Rows,
    *,
    batch: int,
    learning_rate: float,
    snapshots: int,
    epochs_between: int,
) -> Descend:
    """Build the descent of the loss of pretraining per row, with a constant learning rate."""
    loss, draw_batches, _ = loss_of_batches(problem, train, batch)

    def step(position: jax.Array, rows: jax.Array) -> tuple[jax.Array, None]:
        return position - learning_rate * jax.grad(loss)(position, rows), None

    def epoch(position: jax.Array, key: jax.Array) -> tuple[jax.Array, None]:
        return jax.lax.scan(step, position, draw_batches(key))

    def to_snapshot(position: jax.Array, keys: jax.Array) -> tuple[jax.Array, jax.Array]:
        reached, _ = jax.lax.scan(epoch, position, keys)
        return reached, reached

    def descend(key: jax.Array, start: jax.Array) -> jax.Array:
        keys = jax.random.split(key, (snapshots, epochs_between))
        return jax.lax.scan(to_snapshot, start, keys)[1]

    return jax.jit(descend)
