"""The ladder of parallel tempering: step size and mass matrix of every rung, and the spacing.

For each rung, step sizes follow dual averaging (Hoffman & Gelman 2014, section 3.2) and mass
matrices Stan's windows of doubling length. At the end of each window the ladder is spaced anew so
that all neighbours have the same rejection rate: the sum of the mean rejections up to a rung
estimates the communication barrier, and the new rungs cut it into equal parts (Syed,
Bouchard-Cote, Deligiannidis & Doucet 2022, "Non-reversible parallel tempering"). Both ends are
fixed. At the end of adaptation everything is frozen.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from blackjax.adaptation.metric_recipes import MetricCore, lookup_recipe
from blackjax.adaptation.step_size import dual_averaging_adaptation

from nlobayes.inference.adaptation import Adaptation, Untuned, independent
from nlobayes.inference.adaptations.windows import FROZEN, SLOW, plan, search_from
from nlobayes.inference.kernel import Info
from nlobayes.inference.kernels.tempering import LadderState, TunedLadder

LEAST_SHARE = 1e-4


class Carry(NamedTuple):
    """State of the warm-up between steps; `rejection` sums over the steps of a window."""

    state: LadderState
    tuned: TunedLadder
    step_size: Any
    mass_matrix: Any
    rejection: jax.Array


def build(
    untuned: Untuned,
    *,
    steps: int,
    adaptation_share: float,
    target_acceptance: float,
    initial_step_size: float,
) -> Adaptation:
    """Build the warm-up of a tempering kernel, whose initial ladder is that of its first state."""
    kernel = untuned.kernel
    schedule = plan(steps, adaptation_share=adaptation_share, mass_matrix="diagonal")
    core = lookup_recipe("welford_diag").build_core()
    update = _updates(core, target_acceptance)
    stages, window_ends = jnp.asarray(schedule.stage), jnp.asarray(schedule.window_ends)

    def start(position: jax.Array) -> Carry:
        state = kernel.init(position)
        ladder = state.inverse_temperatures
        masses = jax.vmap(lambda _: core.init(position.size))(ladder)
        step_size = jnp.full_like(ladder, initial_step_size)
        tuned = TunedLadder(step_size, masses.inverse_mass_matrix, ladder)
        none = jnp.zeros_like(state.swap_acceptance)
        return Carry(state, tuned, jax.vmap(search_from)(step_size), masses, none)

    def step(key: jax.Array, carry: Carry, index: jax.Array) -> tuple[Carry, Info]:
        stage = stages[index]
        carry = jax.lax.cond(stage == FROZEN, _freeze, lambda same: same, carry)
        state, info = kernel.step(key, carry.state, carry.tuned)
        return update(carry._replace(state=state), info, stage, window_ends[index]), info

    return independent(start, step, lambda carry: (carry.state, _freeze(carry).tuned))


def respace(inverse_temperatures: jax.Array, rejection: jax.Array) -> jax.Array:
    """Space a ladder (rung,) so that each gap has the same part of the barrier; ends are fixed.

    Parameters
    ----------
    inverse_temperatures
        The ladder (rung,), falling from 1.
    rejection
        Rejection of each pair of neighbours, averaged or summed over steps (rung - 1,).
    """
    total = jnp.maximum(jnp.sum(rejection), jnp.finfo(rejection.dtype).tiny)
    gaps = jnp.maximum(rejection / total, LEAST_SHARE)
    barrier = jnp.concatenate([jnp.zeros(1, gaps.dtype), jnp.cumsum(gaps)])
    even = jnp.linspace(0.0, barrier[-1], len(barrier), dtype=gaps.dtype)
    offset = inverse_temperatures[-2]
    moved = jnp.exp(jnp.interp(even, barrier, jnp.log(inverse_temperatures + offset))) - offset
    return inverse_temperatures.at[1:-1].set(moved[1:-1])


def communication_barrier(swap_acceptance: np.ndarray) -> float:
    """Estimate the barrier from acceptance probabilities (..., rung - 1): the sum of rejections.

    The estimate is at most the number of gaps; it is too small if neighbours rarely exchange.
    """
    rejection = 1 - np.asarray(swap_acceptance)
    return float(rejection.reshape(-1, rejection.shape[-1]).mean(axis=0).sum())


def describe_ladder(swap_acceptance: np.ndarray) -> str:
    """Describe the ladder of a warm-up from its exchanges (..., rung - 1)."""
    barrier = communication_barrier(swap_acceptance)
    return (
        f"ladder of {swap_acceptance.shape[-1] + 1} rungs: communication barrier at least "
        f"{barrier:.1f}, best with {rungs_needed(barrier)} rungs or more"
    )


def rungs_needed(barrier: float) -> int:
    """Count the rungs of a ladder with two gaps per unit of the barrier, each rejecting half.

    That many make the most round trips per evaluation (Syed et al. 2022).
    """
    return int(np.ceil(2 * barrier)) + 1


def _freeze(carry: Carry) -> Carry:
    """Take the averaged step sizes; a second call changes nothing."""
    _, _, final_step = dual_averaging_adaptation(0.5)
    step_size = final_step(carry.step_size).astype(carry.tuned.step_size.dtype)
    return carry._replace(tuned=carry.tuned._replace(step_size=step_size))


def _updates(core: MetricCore, target_acceptance: float) -> Any:
    """Build the update of the carry after one step of each stage."""
    _, update_step, final_step = dual_averaging_adaptation(target_acceptance)

    def adapt(carry: Carry, info: Info) -> Carry:
        step_size = jax.vmap(update_step)(carry.step_size, info.extra["rung_acceptance"])
        return _use(carry._replace(step_size=step_size))

    def collect(carry: Carry, info: Info) -> Carry:
        return carry._replace(
            mass_matrix=jax.vmap(core.update)(carry.mass_matrix, carry.state.positions),
            rejection=carry.rejection + 1 - info.extra["swap_acceptance"],
        )

    def end_window(carry: Carry) -> Carry:
        masses = jax.vmap(core.final)(carry.mass_matrix)
        old = carry.tuned.inverse_temperatures
        new = respace(old, carry.rejection)
        step_size = jax.vmap(search_from)(_move(final_step(carry.step_size), old, new))
        masses = masses._replace(inverse_mass_matrix=_move(masses.inverse_mass_matrix, old, new))
        tuned = TunedLadder(carry.tuned.step_size, masses.inverse_mass_matrix, new)
        none = jnp.zeros_like(carry.rejection)
        return _use(Carry(carry.state, tuned, step_size, masses, none))

    def update(carry: Carry, info: Info, stage: Any, window_ends: Any) -> Carry:
        carry = jax.lax.cond(stage == SLOW, collect, lambda same, _: same, carry, info)
        carry = jax.lax.cond(stage == FROZEN, lambda same, _: same, adapt, carry, info)
        return jax.lax.cond(window_ends, end_window, lambda same: same, carry)

    return update


def _use(carry: Carry) -> Carry:
    step_size = jnp.exp(carry.step_size.log_step_size).astype(carry.tuned.step_size.dtype)
    return carry._replace(tuned=carry.tuned._replace(step_size=step_size))


def _move(values: jax.Array, old: jax.Array, new: jax.Array) -> jax.Array:
    """Interpolate positive values (rung, ...) to a moved ladder, both axes logarithmic."""
    offset = old[-2]

    def one(column: jax.Array) -> jax.Array:
        return jnp.interp(-jnp.log(new + offset), -jnp.log(old + offset), column)

    columns = jnp.log(values).reshape(len(old), -1)
    return jnp.exp(jax.vmap(one, in_axes=1, out_axes=1)(columns)).reshape(values.shape)
