"""Langevin chains on gradients of minibatches.

`methods/sgld` describes the method and its source.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
from blackjax.sgmcmc import sgld

from nlobayes.inference.pretrain import Problem, Rows, loss_of_batches

Path = Callable[[jax.Array, jax.Array], jax.Array]
"""Gives positions (draw, entry) of a chain from a key and the start (entry,)."""


def langevin(
    problem: Problem, train: Rows, *, batch: int, step_size: float, draws: int, epochs_between: int
) -> Path:
    """Build a chain whose draws are so many epochs of minibatches apart.

    A step adds `step_size` times the gradient of the log posterior, with the likelihood of the
    batch for that of all rows, and noise of variance 2 `step_size`.
    """
    loss, draw_batches, _ = loss_of_batches(problem, train, batch)
    kernel, rows = sgld.build_kernel(), len(train.target)

    def gradient(position: jax.Array, index: jax.Array) -> jax.Array:
        return -rows * jax.grad(loss)(position, index)

    def step(position: jax.Array, given: tuple[jax.Array, jax.Array]) -> tuple[Any, None]:
        key, index = given
        return kernel(key, position, gradient, index, step_size), None

    def epoch(position: jax.Array, key: jax.Array) -> tuple[jax.Array, None]:
        of_batches, of_noise = jax.random.split(key)
        batches = draw_batches(of_batches)
        return jax.lax.scan(step, position, (jax.random.split(of_noise, len(batches)), batches))

    def to_draw(position: jax.Array, keys: jax.Array) -> tuple[jax.Array, jax.Array]:
        reached, _ = jax.lax.scan(epoch, position, keys)
        return reached, reached

    def path(key: jax.Array, start: jax.Array) -> jax.Array:
        return jax.lax.scan(to_draw, start, jax.random.split(key, (draws, epochs_between)))[1]

    return jax.jit(path)
