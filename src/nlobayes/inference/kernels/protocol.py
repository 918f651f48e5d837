"""What every kernel is: two pure functions and three types."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax

LogDensity = Callable[[jax.Array], jax.Array]


class State(NamedTuple):
    """What the next step needs: position (parameter,), its log density and gradient."""

    position: jax.Array
    logdensity: jax.Array
    logdensity_grad: jax.Array


class Tuned(NamedTuple):
    """What warm-up learns, frozen before the first draw: step size, inverse mass (parameter,)."""

    step_size: jax.Array
    inverse_mass_matrix: jax.Array


class Info(NamedTuple):
    """What diagnostics need of one step, each a scalar.

    `energy` is the Hamiltonian of the state that was kept, as E-BFMI needs it; `tree_depth` counts
    doublings and is 0 for kernels without a tree.
    """

    acceptance_rate: jax.Array
    energy: jax.Array
    is_divergent: jax.Array
    num_integration_steps: jax.Array
    tree_depth: jax.Array
    step_size: jax.Array


class Kernel(NamedTuple):
    """A Markov kernel that leaves exp(log density) invariant.

    `init(position)` gives a state; `step(key, state, tuned)` gives the next state and its info.
    `exact` tells whether the target is left invariant without approximation.
    """

    init: Callable[[jax.Array], State]
    step: Callable[[jax.Array, State, Tuned], tuple[State, Info]]
    exact: bool


def init_with_gradient(logdensity_fn: LogDensity) -> Callable[[jax.Array], State]:
    """Build the `init` of a gradient-based kernel."""

    def init(position: jax.Array) -> State:
        return State(position, *jax.value_and_grad(logdensity_fn)(position))

    return init
