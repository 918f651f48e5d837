"""Stan's windows of a warm-up, and the step size by dual averaging within them.

The windows are Stan's (fast, doubling slow windows, fast; Stan Reference Manual, "HMC algorithm
parameters"); dual averaging is Hoffman & Gelman (2014), section 3.2. The building blocks are
BlackJAX's; this module drives them so that any kernel can warm up and every step returns its info.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from blackjax.adaptation.metric_recipes import MetricCore, lookup_recipe
from blackjax.adaptation.staged_adaptation import build_schedule
from blackjax.adaptation.step_size import dual_averaging_adaptation

from nlobayes.errors import InputError
from nlobayes.inference.curvature import Curvature, gauss_newton
from nlobayes.inference.kernel import Tuned
from nlobayes.untyped import Tree

FAST, SLOW, FROZEN = 0, 1, 2
STAN_LAST_WINDOW = 50
"""Steps of the last window, of the step size alone, as in Stan."""
MU_OVER_START = 10.0
"""Step size that dual averaging shrinks towards, over the one it starts from, as in Stan."""
RECIPES = {
    "identity": "welford_diag",
    "diagonal": "welford_diag",
    "dense": "welford_dense",
    "low_rank": "fisher_low_rank",
}


class Carry(NamedTuple):
    """State of the warm-up between steps."""

    state: Tree
    tuned: Tuned
    step_size: Tree
    mass_matrix: Tree


class Schedule(NamedTuple):
    """Stage of each step (FAST, SLOW or FROZEN) and whether a slow window ends with it."""

    stage: np.ndarray
    window_ends: np.ndarray


def plan(
    steps: int, *, adaptation_share: float, mass_matrix: str, last_window: int = STAN_LAST_WINDOW
) -> Schedule:
    """Plan the stages of a warm-up; the identity mass matrix has no slow windows.

    The `last_window` of the adapting steps learns the step size alone.
    """
    # A warm-up whose share rounds to nothing still learns one step size: no average of none exists.
    adapting = max(1, int(adaptation_share * steps))
    stage = np.full(steps, FROZEN)
    window_ends = np.zeros(steps, bool)
    stage[:adapting] = FAST
    if mass_matrix != "identity":
        # The plan is needed as numbers, also where JAX traces the caller.
        with jax.ensure_compile_time_eval():
            windows = build_schedule(adapting, final_buffer_size=last_window)
        stage[:adapting], window_ends[:adapting] = np.asarray(windows).T
    return Schedule(stage, window_ends)


def mass_matrix_core(
    mass_matrix: str, schedule: Schedule, curvature: Curvature | None
) -> MetricCore:
    """Pick the estimator; the buffer of the low-rank one is as long as the longest window."""
    if mass_matrix == "gauss_newton":
        return gauss_newton(_require(curvature))
    recipe = lookup_recipe(RECIPES[mass_matrix])
    if mass_matrix != "low_rank":
        return recipe.build_core()
    slow = np.flatnonzero(schedule.stage == SLOW)
    ends = np.flatnonzero(schedule.window_ends)
    longest = max(np.diff([slow[0] - 1, *ends]), default=1) if len(slow) else 1
    return recipe.build_core(buffer_size=int(longest))


def _require(curvature: Curvature | None) -> Curvature:
    if curvature is None:
        raise InputError("inference.no_curvature")
    return curvature


def search_from(step_size: jax.Array, mu_over_start: float = MU_OVER_START) -> Tree:
    """Start dual averaging at a step size, which is also its average before the first update."""
    init_step, _, _ = dual_averaging_adaptation(0.5)
    begin = init_step(step_size)
    mu = jnp.log(mu_over_start * step_size)
    return begin._replace(log_step_size_avg=begin.log_step_size, mu=mu)


def freeze(carry: Carry) -> Carry:
    """Take the averaged step size; a second call changes nothing."""
    _, _, final_step = dual_averaging_adaptation(0.5)
    step_size = jnp.asarray(final_step(carry.step_size), carry.tuned.step_size.dtype)
    return carry._replace(tuned=carry.tuned._replace(step_size=step_size))


def updates_of(core: MetricCore, averaging: Tree, search: Callable[[jax.Array], Tree]) -> Tree:
    """Build the update of the carry after one step of each stage."""
    _, update_step, final_step = averaging

    def fast(carry: Carry, acceptance_rate: jax.Array) -> Carry:
        step_size = update_step(carry.step_size, acceptance_rate)
        tuned = carry.tuned._replace(step_size=_exp(step_size.log_step_size, carry))
        return carry._replace(step_size=step_size, tuned=tuned)

    def slow(carry: Carry, acceptance_rate: jax.Array) -> Carry:
        gradient = getattr(carry.state, "logdensity_grad", None)
        mass_matrix = core.update(carry.mass_matrix, carry.state.position, gradient)
        return fast(carry._replace(mass_matrix=mass_matrix), acceptance_rate)

    def frozen(carry: Carry, acceptance_rate: jax.Array) -> Carry:
        del acceptance_rate
        return carry

    def end_window(carry: Carry) -> Carry:
        mass_matrix = core.final(carry.mass_matrix)
        # Step sizes are in units of the mass matrix: with a new one the search starts again.
        step_size = search(final_step(carry.step_size))
        tuned = Tuned(_exp(step_size.log_step_size, carry), mass_matrix.inverse_mass_matrix)
        return carry._replace(mass_matrix=mass_matrix, step_size=step_size, tuned=tuned)

    def update(carry: Carry, acceptance_rate: Tree, stage: Tree, window_ends: Tree) -> Carry:
        carry = jax.lax.switch(stage, (fast, slow, frozen), carry, acceptance_rate)
        return jax.lax.cond(window_ends, end_window, lambda same: same, carry)

    return update


def _exp(log_step_size: jax.Array, carry: Carry) -> jax.Array:
    return jnp.exp(log_step_size).astype(carry.tuned.step_size.dtype)
