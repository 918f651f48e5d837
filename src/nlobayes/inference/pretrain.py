"""Pretraining: minibatch Adam from one starting point to one maximum a posteriori (MAP)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

SNAPSHOTS = 50


class Rows(NamedTuple):
    """Features (point, feature), target (point,) and, where known, its error (point,)."""

    features: jax.Array
    target: jax.Array
    error: jax.Array | None = None


class Problem(NamedTuple):
    """What is fitted: functions of a position (parameter,) and rows of the train split.

    `log_likelihood(position, rows)` sums over the rows it is given; `predict(position, features)`
    is the network's output (point,).
    """

    log_prior: Callable[[jax.Array], jax.Array]
    log_likelihood: Callable[[jax.Array, Rows], jax.Array]
    predict: Callable[[jax.Array, jax.Array], jax.Array]


class Fit(NamedTuple):
    """A MAP (parameter,), its history per epoch, and the path that led to it.

    The history is the loss per row and the validation RMSE; `epochs` counts those that ran. The
    path is the position (snapshot, parameter) after `path_epochs` (snapshot,) epochs, from the
    start (epoch 0) to the last epoch. After an early stop both repeat their last values.
    """

    position: jax.Array
    loss: jax.Array
    validation_rmse: jax.Array
    epochs: jax.Array
    path_epochs: jax.Array
    path: jax.Array


class _Progress(NamedTuple):
    position: jax.Array
    optimizer: Any
    best_position: jax.Array
    best_rmse: jax.Array
    stale: jax.Array
    epochs: jax.Array
    history: jax.Array


def fit_map(
    key: jax.Array,
    start: jax.Array,
    problem: Problem,
    train: Rows,
    validation: Rows,
    *,
    epochs: int,
    batch: int,
    learning_rate: float,
    patience: int | None,
) -> Fit:
    """Minimise the negative log posterior per row, shuffled anew each epoch.

    Each minibatch estimates the full loss without bias: its likelihood is scaled by N / batch and
    the prior counts once. A remainder smaller than a batch sits out one epoch. With `patience` the
    position of the best validation RMSE is returned, without it the last one.

    Every epoch overwrites the next snapshot of the path, so that the memory is that of the path.
    """
    steps = len(train.target) // batch
    optimizer = optax.adam(optax.cosine_decay_schedule(learning_rate, epochs * steps))
    run_epoch = _epoch(problem, train, optimizer, batch=batch, steps=steps)
    path_epochs = jnp.asarray(snapshot_epochs(epochs))

    def one_epoch(carry: tuple[_Progress, jax.Array], index: jax.Array) -> tuple[Any, jax.Array]:
        progress, path = carry
        stopped = progress.stale >= patience if patience is not None else False
        progress = jax.lax.cond(
            stopped,
            lambda same: same,
            lambda now: _judge(
                *run_epoch(jax.random.fold_in(key, index), now), problem.predict, validation
            ),
            progress,
        )
        path = path.at[jnp.searchsorted(path_epochs, index + 1)].set(progress.position)
        return (progress, path), progress.history

    never = jnp.asarray(jnp.inf, start.dtype)
    zero = jnp.zeros((), int)
    begin = _Progress(
        start, optimizer.init(start), start, never, zero, zero, jnp.zeros(2, start.dtype)
    )
    path = jnp.tile(start, (len(path_epochs), 1))
    (end, path), history = jax.lax.scan(one_epoch, (begin, path), jnp.arange(epochs))
    position = end.position if patience is None else end.best_position
    return Fit(position, history[:, 0], history[:, 1], end.epochs, path_epochs, path)


def snapshot_epochs(epochs: int) -> np.ndarray:
    """Spread at most 50 snapshots (snapshot,) evenly over the epochs, 0 and the last included."""
    return np.linspace(0, epochs, min(epochs + 1, SNAPSHOTS)).round().astype(np.int32)


def _epoch(
    problem: Problem, train: Rows, optimizer: Any, *, batch: int, steps: int
) -> Callable[[jax.Array, _Progress], tuple[_Progress, jax.Array]]:
    rows = len(train.target)

    def loss(position: jax.Array, index: jax.Array) -> jax.Array:
        drawn = jax.tree.map(lambda column: column[index], train)
        likelihood = problem.log_likelihood(position, drawn)
        return -(likelihood / batch + problem.log_prior(position) / rows)

    def one_step(carry: Any, index: jax.Array) -> tuple[Any, jax.Array]:
        position, state = carry
        value, gradient = jax.value_and_grad(loss)(position, index)
        updates, state = optimizer.update(gradient, state)
        return (optax.apply_updates(position, updates), state), value

    def epoch(key: jax.Array, progress: _Progress) -> tuple[_Progress, jax.Array]:
        shuffled = jax.random.permutation(key, rows)[: steps * batch].reshape(steps, batch)
        carry = (progress.position, progress.optimizer)
        (position, state), losses = jax.lax.scan(one_step, carry, shuffled)
        return progress._replace(position=position, optimizer=state), losses.mean()

    return epoch


def _judge(
    progress: _Progress, loss: jax.Array, predict: Callable[..., jax.Array], validation: Rows
) -> _Progress:
    residual = predict(progress.position, validation.features) - validation.target
    rmse = jnp.sqrt(jnp.mean(residual**2))
    better = rmse < progress.best_rmse
    return progress._replace(
        best_position=jnp.where(better, progress.position, progress.best_position),
        best_rmse=jnp.where(better, rmse, progress.best_rmse),
        stale=jnp.where(better, 0, progress.stale + 1),
        epochs=progress.epochs + 1,
        history=jnp.stack([loss, rmse]),
    )
