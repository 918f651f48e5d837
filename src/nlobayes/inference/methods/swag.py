"""SWAG: a Gaussian from snapshots of a gradient descent that starts at a MAP.

Maddox et al. (2019, NeurIPS 32, algorithm 1) take the mean of the snapshots (SWA), half of their
variances, and half of the covariance of the last of them. Draws from several MAPs are multi-SWAG
(Wilson and Izmailov 2020, NeurIPS 33). The descent has a constant learning rate and minibatches of
the loss of pretraining: the learning rate, not the posterior, determines the width of its path.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from nlobayes.errors import InputError
from nlobayes.inference.method import Approached, Drawn
from nlobayes.inference.methods._gaussian import Gaussian, diagonal_and_factor
from nlobayes.inference.methods._mixture import Mixture, check_starts, deal
from nlobayes.inference.pretrain import Problem, Rows, loss_of_batches

LEAST_VARIANCE = 1e-30
"""Least variance, as in the code of Maddox et al.; far below that of any entry that moves."""
Descend = Callable[[jax.Array, jax.Array], jax.Array]
"""Gives snapshots (snapshot, entry) of a path from a key and the start (entry,)."""


class Moments(NamedTuple):
    """Moments of the snapshots of a path.

    Attributes
    ----------
    mean
        Mean of all snapshots (entry,).
    variance
        Variance of each entry over all snapshots (entry,).
    deviations
        The last snapshots, each minus the mean of all up to it (deviation, entry).
    """

    mean: jax.Array
    variance: jax.Array
    deviations: jax.Array

    def gaussian(self, scale: float) -> Gaussian:
        """Return the Gaussian with `scale` times the covariance of SWAG.

        An entry that no snapshot moves has the least variance, so that a density exists.
        """
        rank = len(self.deviations)
        own = jnp.maximum(self.variance, LEAST_VARIANCE) * scale / 2
        core = jnp.identity(rank, self.mean.dtype) * scale / (2 * (rank - 1))
        return diagonal_and_factor(self.mean, own, self.deviations.T, core)


class Swag(NamedTuple):
    """Draws of the Gaussians of paths from several MAPs."""

    modes: int
    draws: int
    epochs: int
    batch: int
    learning_rate: float
    snapshot_epochs: int
    rank: int
    scale: float

    def sample(self, key: jax.Array, posterior: Approached) -> Drawn:
        """Draw positions, those of the first MAP first; the log density of each mean is kept.

        Raises
        ------
        InputError
            If there are more or fewer MAPs than modes, the likelihood is no sum over rows, train
            rows are fewer than a batch, or a path diverges.
        """
        check_starts(posterior.starts, self.modes)
        descend, density = self._descent(posterior), jax.jit(posterior.logdensity_fn)
        key_draws, *keys = jax.random.split(key, self.modes + 1)
        parts, reached = [], []
        for mode, (own, start) in enumerate(zip(keys, posterior.starts, strict=True)):
            parts.append(moments_of(descend(own, start), self.rank).gaussian(self.scale))
            reached.append(float(density(parts[-1].mean)))
            least = min(float(density(start)), float(density(jnp.zeros_like(start))))
            self._check_descended(mode, reached[-1], least)
        mixture = Mixture(parts, deal(self.draws, reached, "equal"))
        return mixture.drawn(key_draws, posterior, {"log_density_of_means": reached})

    def _descent(self, posterior: Approached) -> Descend:
        if posterior.train is None:
            raise InputError("inference.no_sum_over_rows")
        rows = len(posterior.train.target)
        if rows < self.batch:
            raise InputError("inference.batch_of_rows", batch=self.batch, rows=rows)
        snapshots = self.epochs // self.snapshot_epochs
        return descent(
            posterior.problem,
            posterior.train,
            batch=self.batch,
            learning_rate=self.learning_rate,
            snapshots=snapshots,
            epochs_between=self.snapshot_epochs,
        )

    def _check_descended(self, mode: int, reached: float, least: float) -> None:
        """Refuse a path whose mean fits worse than both its start and a network of zeros."""
        if not reached >= least:
            raise InputError(
                "inference.diverged", mode=mode, learning_rate=self.learning_rate, value=reached
            )


build = Swag


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
