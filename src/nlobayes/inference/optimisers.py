"""Optimisers that find a MAP, and schedules of their learning rate, by kind.

An optimiser is a function of its learning rate, fixed or scheduled, as Optax has them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import optax

from nlobayes.untyped import Tree

Optimiser = Callable[[Any], optax.GradientTransformation]


class Schedule(NamedTuple):
    """A schedule of the learning rate: within a cycle, and by `factor` from one cycle to the next.

    `within(learning_rate, epochs, steps)` is a schedule of Optax over a cycle of `epochs` epochs
    of `steps` steps each.
    """

    within: Callable[[Tree, int, int], optax.Schedule]
    cycles: int = 1
    factor: float = 1.0


def adam() -> Optimiser:
    """Scale the gradient by its first two moments."""
    return optax.adam


def amsgrad() -> Optimiser:
    """Use Adam with the largest second moment so far."""
    return optax.amsgrad


def adamw(weight_decay: float) -> Optimiser:
    """Use Adam, and shrink the position by `weight_decay` times the learning rate each step."""
    return partial(optax.adamw, weight_decay=weight_decay)


def sgd(momentum: float) -> Optimiser:
    """Follow the gradient plus earlier gradients, which decay by `momentum` a step."""
    return partial(optax.sgd, momentum=momentum or None)


def lbfgs() -> Optimiser:
    """Follow the quasi-Newton direction as far as a line search finds best."""
    return optax.lbfgs


def constant() -> Schedule:
    """Keep the learning rate constant."""
    return Schedule(lambda rate, epochs, steps: optax.constant_schedule(rate))


def cosine() -> Schedule:
    """Decrease the learning rate to zero along half a cosine."""
    return Schedule(lambda rate, epochs, steps: optax.cosine_decay_schedule(rate, epochs * steps))


def exponential(decay_rate: float, decay_epochs: int | None = None) -> Schedule:
    """Multiply the learning rate by `decay_rate` in every `decay_epochs`, None for all epochs."""

    def within(rate: Tree, epochs: int, steps: int) -> optax.Schedule:
        period = float((decay_epochs or epochs) * steps)
        return optax.exponential_decay(rate, period, decay_rate)

    return Schedule(within)


def cycles(cycles: int, factor: float) -> Schedule:
    """Keep the learning rate within a cycle and multiply it by `factor` for the next."""
    return Schedule(constant().within, cycles, factor)


OPTIMISERS: dict[str, Callable[..., Optimiser]] = {
    "adam": adam,
    "amsgrad": amsgrad,
    "adamw": adamw,
    "lbfgs": lbfgs,
    "sgd": sgd,
}
SCHEDULES: dict[str, Callable[..., Schedule]] = {
    "constant": constant,
    "cosine": cosine,
    "exponential": exponential,
    "cycles": cycles,
}
