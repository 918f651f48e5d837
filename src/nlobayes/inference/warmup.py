"""Warm-up: step size by dual averaging, mass matrix by windows, then everything is frozen.

The windows are Stan's (fast, doubling slow windows, fast; Stan Reference Manual, "HMC algorithm
parameters"); dual averaging is Hoffman & Gelman (2014), section 3.2. The building blocks are
BlackJAX's; they are driven here so that any kernel can warm up and every step leaves its info.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from blackjax.adaptation.mass_matrix import mass_matrix_adaptation
from blackjax.adaptation.staged_adaptation import build_schedule
from blackjax.adaptation.step_size import dual_averaging_adaptation

from nlobayes.inference.kernels.protocol import Info, Kernel, State, Tuned

FAST, SLOW, FROZEN = 0, 1, 2


class Adaptation(NamedTuple):
    """What warm-up carries from step to step."""

    state: State
    tuned: Tuned
    step_size: Any
    mass_matrix: Any


class Schedule(NamedTuple):
    """Stage of each step (FAST, SLOW or FROZEN) and whether a slow window ends with it."""

    stage: np.ndarray
    window_ends: np.ndarray


def plan(steps: int, *, adaptation_share: float, mass_matrix: str) -> Schedule:
    """Plan the stages of a warm-up; the identity mass matrix has no slow windows."""
    adapting = max(1, int(adaptation_share * steps))
    stage = np.full(steps, FROZEN)
    window_ends = np.zeros(steps, bool)
    stage[:adapting] = FAST
    if mass_matrix == "diagonal":
        stage[:adapting], window_ends[:adapting] = np.asarray(build_schedule(adapting)).T
    return Schedule(stage, window_ends)


def start(kernel: Kernel, position: jax.Array, *, initial_step_size: float) -> Adaptation:
    """Start from a position with the identity mass matrix."""
    init_mass, _, _ = mass_matrix_adaptation(is_diagonal_matrix=True)
    init_step, _, _ = dual_averaging_adaptation(0.5)
    mass = init_mass(position.size)
    step_size = jnp.asarray(initial_step_size, position.dtype)
    identity = jnp.ones_like(position)
    return Adaptation(
        state=kernel.init(position),
        tuned=Tuned(step_size, identity),
        step_size=init_step(step_size),
        mass_matrix=mass,
    )


def adapt(
    key: jax.Array,
    kernel: Kernel,
    adaptation: Adaptation,
    *,
    first: int,
    schedule: Schedule,
    target_acceptance: float,
) -> tuple[Adaptation, Info, jax.Array]:
    """Warm up for the given stages, the first of which is step number `first`.

    The key of step i is `fold_in(key, i)`, so that pieces of a warm-up equal one long warm-up.

    Returns
    -------
    The adaptation after the last step, the info of each step (step,) and its log density (step,).
    """
    update = _updates(target_acceptance)

    def freeze(carry: Adaptation) -> Adaptation:
        return carry._replace(tuned=finish(carry))

    def one_step(carry: Adaptation, inputs: Any) -> tuple[Adaptation, Any]:
        index, stage, window_ends = inputs
        carry = jax.lax.cond(stage == FROZEN, freeze, lambda same: same, carry)
        state, info = kernel.step(jax.random.fold_in(key, index), carry.state, carry.tuned)
        carry = update(carry._replace(state=state), info.acceptance_rate, stage, window_ends)
        return carry, (info, state.logdensity)

    indices = first + jnp.arange(len(schedule.stage))
    steps = (indices, jnp.asarray(schedule.stage), jnp.asarray(schedule.window_ends))
    adaptation, (info, logdensity) = jax.lax.scan(one_step, adaptation, steps)
    return adaptation, info, logdensity


def finish(adaptation: Adaptation) -> Tuned:
    """Freeze what was learned: the averaged step size and the last mass matrix."""
    _, _, final_step = dual_averaging_adaptation(0.5)
    step_size = jnp.asarray(final_step(adaptation.step_size), adaptation.tuned.step_size.dtype)
    return Tuned(step_size, adaptation.tuned.inverse_mass_matrix)


def _updates(target_acceptance: float) -> Any:
    """Build the update of the adaptation after one step of each stage."""
    init_step, update_step, final_step = dual_averaging_adaptation(target_acceptance)
    _, update_mass, final_mass = mass_matrix_adaptation(is_diagonal_matrix=True)

    def fast(carry: Adaptation, acceptance_rate: jax.Array) -> Adaptation:
        step_size = update_step(carry.step_size, acceptance_rate)
        tuned = carry.tuned._replace(step_size=_exp(step_size.log_step_size, carry))
        return carry._replace(step_size=step_size, tuned=tuned)

    def slow(carry: Adaptation, acceptance_rate: jax.Array) -> Adaptation:
        mass_matrix = update_mass(carry.mass_matrix, carry.state.position)
        return fast(carry._replace(mass_matrix=mass_matrix), acceptance_rate)

    def frozen(carry: Adaptation, acceptance_rate: jax.Array) -> Adaptation:
        del acceptance_rate
        return carry

    def end_window(carry: Adaptation) -> Adaptation:
        mass_matrix = final_mass(carry.mass_matrix)
        step_size = init_step(final_step(carry.step_size))
        tuned = Tuned(_exp(step_size.log_step_size, carry), mass_matrix.inverse_mass_matrix)
        return carry._replace(mass_matrix=mass_matrix, step_size=step_size, tuned=tuned)

    def update(carry: Adaptation, acceptance_rate: Any, stage: Any, window_ends: Any) -> Adaptation:
        carry = jax.lax.switch(stage, (fast, slow, frozen), carry, acceptance_rate)
        return jax.lax.cond(window_ends, end_window, lambda same: same, carry)

    return update


def _exp(log_step_size: jax.Array, carry: Adaptation) -> jax.Array:
    return jnp.exp(log_step_size).astype(carry.tuned.step_size.dtype)
