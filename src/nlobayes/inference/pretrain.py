"""Pretraining: from one starting point to one maximum a posteriori (MAP), by gradient descent."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from math import inf, isfinite
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from nlobayes.inference.optimisers import OPTIMISERS, SCHEDULES, Optimiser, Schedule
from nlobayes.untyped import Tree

SNAPSHOTS = 50
ADAM, COSINE = OPTIMISERS["adam"](), SCHEDULES["cosine"]()


class Rows(NamedTuple):
    """Features (point, feature), target (point, ...) and, where known, its error (point,)."""

    features: jax.Array
    target: jax.Array
    error: jax.Array | None = None


class Problem(NamedTuple):
    """The functions to fit, of a position (parameter,), and of rows where stated.

    `log_likelihood(position, rows)` sums over the rows it is given; `misfit(position, rows)` is
    the error of the validation rows for early stopping, a scalar; smaller is better.
    `log_density(position)` is the log posterior of all train rows up to the evidence.
    """

    log_prior: Callable[[jax.Array], jax.Array]
    log_likelihood: Callable[[jax.Array, Rows], jax.Array]
    misfit: Callable[[jax.Array, Rows], jax.Array]
    log_density: Callable[[jax.Array], jax.Array]


class Fit(NamedTuple):
    """A MAP (parameter,), its history per epoch, and the path that led to it.

    The history is the loss per row and the validation error; `epochs` is the number that ran. The
    path is the position (snapshot, parameter) after `path_epochs` (snapshot,) epochs, from the
    start (epoch 0) to the last epoch. After an early stop both repeat their last values.
    """

    position: jax.Array
    loss: jax.Array
    validation_error: jax.Array
    epochs: jax.Array
    path_epochs: jax.Array
    path: jax.Array


class _Progress(NamedTuple):
    """State of a fit; `stale` and `age` count epochs of the cycle, `epochs` those of all cycles."""

    position: jax.Array
    optimiser: Any
    best_position: jax.Array
    best_error: jax.Array
    stale: jax.Array
    age: jax.Array
    cycle: jax.Array
    epochs: jax.Array
    history: jax.Array


class _Plan(NamedTuple):
    """The rules by which cycles end, and the fit with the last of them."""

    epochs: int
    patience: int | None
    cycles: int

    @property
    def runs_through(self) -> bool:
        """Whether all epochs run, and only the last position is used."""
        return self.patience is None and self.cycles == 1

    def cycle_ended(self, now: _Progress) -> jax.Array:
        worn = False if self.patience is None else now.stale >= self.patience
        return worn | (now.age >= self.epochs)

    def ended(self, now: _Progress) -> bool | jax.Array:
        if self.runs_through:
            return False
        return self.cycle_ended(now) & (now.cycle == self.cycles - 1)


def fit_map(
    key: jax.Array,
    start: jax.Array,
    problem: Problem,
    train: Rows,
    validation: Rows,
    *,
    epochs: int,
    batch: int | Literal["full"],
    learning_rate: float,
    patience: int | None,
    optimiser: Optimiser = ADAM,
    schedule: Schedule = COSINE,
) -> Fit:
    """Minimise the negative log posterior per row, over minibatches shuffled anew each epoch.

    Each minibatch estimates the full loss without bias: its likelihood is scaled by N / batch and
    the prior counts once. A remainder smaller than a batch is left out for one epoch. The batch
    `full` uses the loss itself: one step an epoch, without the key. Weight decay is not part of the
    loss: it leads to another position than the MAP.

    With `patience`, or in several cycles, the position of the best validation error is returned,
    otherwise the last one. A cycle ends after `epochs` epochs, or after `patience` epochs without
    a better validation error than any before; the next begins at the best position so far, with a
    fresh optimiser. The fit ends with its last cycle.

    Every epoch overwrites the next snapshot of the path, so that the memory is that of the path.
    """
    plan = _Plan(epochs, patience, schedule.cycles)
    loss, draw_batches, steps = loss_of_batches(problem, train, batch)
    descent = optax.with_extra_args_support(
        optimiser(schedule.within(learning_rate, epochs, steps))
    )
    run_epoch = _epoch(loss, draw_batches, descent, schedule)
    path_epochs = jnp.asarray(snapshot_epochs(epochs * plan.cycles))

    def advance(key: jax.Array, now: _Progress) -> _Progress:
        if plan.cycles > 1:
            now = jax.lax.cond(
                plan.cycle_ended(now), lambda old: _next_cycle(old, descent), lambda old: old, now
            )
        return _validate(*run_epoch(key, now), problem.misfit, validation)

    def one_epoch(carry: tuple[_Progress, jax.Array], index: jax.Array) -> tuple[Tree, jax.Array]:
        progress, path = carry
        progress = jax.lax.cond(
            plan.ended(progress),
            lambda same: same,
            lambda now: advance(jax.random.fold_in(key, index), now),
            progress,
        )
        path = path.at[jnp.searchsorted(path_epochs, index + 1)].set(progress.position)
        return (progress, path), progress.history

    carry = (_begin(start, descent), jnp.tile(start, (len(path_epochs), 1)))
    (end, path), history = jax.lax.scan(one_epoch, carry, jnp.arange(epochs * plan.cycles))
    position = end.position if plan.runs_through else end.best_position
    return Fit(position, history[:, 0], history[:, 1], end.epochs, path_epochs, path)


def snapshot_epochs(epochs: int) -> np.ndarray:
    """Spread at most 50 snapshots (snapshot,) evenly over the epochs, 0 and the last included."""
    return np.linspace(0, epochs, min(epochs + 1, SNAPSHOTS)).round().astype(np.int32)


def keep_best(
    fits: Iterable[Fit], loss: Callable[[jax.Array], float | jax.Array]
) -> tuple[Fit, list[float]]:
    """Keep the fit of the least loss at its position, and give the loss of each in their order.

    A loss that is not finite counts as infinite; where all are, the first fit is kept.
    """
    tried = [*fits]
    values = [float(loss(fit.position)) for fit in tried]
    losses = [value if isfinite(value) else inf for value in values]
    return tried[int(np.argmin(losses))], losses


def loss_of_batches(
    problem: Problem, train: Rows, batch: int | Literal["full"]
) -> tuple[Callable[..., jax.Array], Callable[[jax.Array], jax.Array], int]:
    """Return the loss per row of a batch, the draw of an epoch's batches, and their number.

    The loss is a function of a position (parameter,) and the numbers of the rows of a batch (row,).
    The batches are (batch, row); a remainder smaller than a batch is left out for one epoch.
    """
    rows = len(train.target)
    if batch == "full":
        return (
            lambda position, index: -problem.log_density(position) / rows,
            lambda _: jnp.zeros(1),
            1,
        )
    steps = rows // batch

    def loss(position: jax.Array, index: jax.Array) -> jax.Array:
        drawn = jax.tree.map(lambda column: column[index], train)
        likelihood = problem.log_likelihood(position, drawn)
        return -(likelihood / batch + problem.log_prior(position) / rows)

    def draw(key: jax.Array) -> jax.Array:
        return jax.random.permutation(key, rows)[: steps * batch].reshape(steps, batch)

    return loss, draw, steps


def _epoch(
    loss: Callable[..., jax.Array],
    draw_batches: Callable[[jax.Array], jax.Array],
    descent: optax.GradientTransformationExtraArgs,
    schedule: Schedule,
) -> Callable[[jax.Array, _Progress], tuple[_Progress, jax.Array]]:
    def epoch(key: jax.Array, progress: _Progress) -> tuple[_Progress, jax.Array]:
        def one_step(carry: Tree, batch: jax.Array) -> tuple[Tree, jax.Array]:
            position, state = carry
            value, gradient = jax.value_and_grad(loss)(position, batch)
            found = {"value": value, "grad": gradient, "value_fn": partial(loss, index=batch)}
            updates, state = descent.update(gradient, state, position, **found)
            if schedule.cycles > 1:  # every update is proportional to the learning rate
                updates *= jnp.asarray(schedule.factor, position.dtype) ** progress.cycle
            return (optax.apply_updates(position, updates), state), value

        carry = (progress.position, progress.optimiser)
        (position, state), losses = jax.lax.scan(one_step, carry, draw_batches(key))
        return progress._replace(position=position, optimiser=state), losses.mean()

    return epoch


def _begin(start: jax.Array, descent: optax.GradientTransformation) -> _Progress:
    zero = jnp.zeros((), int)
    return _Progress(
        position=start,
        optimiser=descent.init(start),
        best_position=start,
        best_error=jnp.asarray(jnp.inf, start.dtype),
        stale=zero,
        age=zero,
        cycle=zero,
        epochs=zero,
        history=jnp.zeros(2, start.dtype),
    )


def _next_cycle(ended: _Progress, descent: optax.GradientTransformation) -> _Progress:
    """Start from the best position so far, which the next cycle must improve."""
    return _begin(ended.best_position, descent)._replace(
        best_error=ended.best_error,
        cycle=ended.cycle + 1,
        epochs=ended.epochs,
        history=ended.history,
    )


def _validate(
    progress: _Progress,
    loss: jax.Array,
    misfit: Callable[[jax.Array, Rows], jax.Array],
    validation: Rows,
) -> _Progress:
    error = misfit(progress.position, validation)
    better = error < progress.best_error
    return progress._replace(
        best_position=jnp.where(better, progress.position, progress.best_position),
        best_error=jnp.where(better, error, progress.best_error),
        stale=jnp.where(better, 0, progress.stale + 1),
        age=progress.age + 1,
        epochs=progress.epochs + 1,
        history=jnp.stack([loss, error]),
    )
