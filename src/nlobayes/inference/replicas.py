"""Replicas of a chain at a ladder of inverse temperatures: their moves, exchanges and spacing.

`kernels/tempering` states the target and why the exchanges leave it invariant. The spacing follows
Syed, Bouchard-Cote, Deligiannidis & Doucet (2022, "Non-reversible parallel tempering").
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from nlobayes.inference.kernel import Info, State

Evaluate = Callable[[jax.Array, jax.Array], tuple[jax.Array, jax.Array]]
"""Log densities and gradients of positions (rung, parameter) at inverse temperatures (rung,)."""

LEAST_SHARE = 1e-4


class LadderState(NamedTuple):
    """Replicas from the coldest to the hottest, and the state of the exchanges."""

    positions: jax.Array
    """Position of every replica (rung, parameter)."""
    logdensities: jax.Array
    """Its log density at its temperature (rung,)."""
    gradients: jax.Array
    """Gradient of that (rung, parameter)."""
    inverse_temperatures: jax.Array
    """Inverse temperatures at which densities and gradients were evaluated (rung,)."""
    swap_acceptance: jax.Array
    """Acceptance probability of the last exchange tried between rungs k and k + 1 (rung - 1,)."""
    from_hottest: jax.Array
    """Whether a replica visited the hottest rung after the coldest one (rung,)."""
    odd: jax.Array
    """Whether the next exchanges are between odd pairs."""

    @property
    def position(self) -> jax.Array:
        """Position of the cold replica (parameter,)."""
        return self.positions[..., 0, :]

    @property
    def logdensity(self) -> jax.Array:
        """Log density of the cold replica."""
        return self.logdensities[..., 0]


class TunedLadder(NamedTuple):
    """The tuned step size, diagonal mass matrix and temperature of every rung.

    Shapes (rung,), (rung, parameter) and (rung,).
    """

    step_size: jax.Array
    inverse_mass_matrix: jax.Array
    inverse_temperatures: jax.Array


def start_replicas(ladder: jax.Array, position: jax.Array, evaluate: Evaluate) -> LadderState:
    """Place all replicas at one position."""
    positions = jnp.tile(position, (len(ladder), 1))
    logdensities, gradients = evaluate(positions, ladder)
    return LadderState(
        positions,
        logdensities,
        gradients,
        inverse_temperatures=ladder,
        swap_acceptance=jnp.zeros(len(ladder) - 1, position.dtype),
        from_hottest=jnp.arange(len(ladder)) == len(ladder) - 1,
        odd=jnp.zeros((), bool),
    )


def swap(key: jax.Array, state: LadderState, evaluate: Evaluate) -> LadderState:
    """Try to exchange the pairs of this sweep, each on its own."""
    ladder, rung = state.inverse_temperatures, jnp.arange(len(state.logdensities))
    partner = _partners(state.odd, len(rung))
    crossed = State(state.positions, *evaluate(state.positions, ladder[partner]))
    gain = crossed.logdensity - state.logdensities
    log_alpha = gain + gain[partner]
    level = jnp.log(jax.random.uniform(key, log_alpha.shape, log_alpha.dtype))
    accepted = (partner != rung) & (level[jnp.minimum(rung, partner)] < log_alpha)

    def exchange(own: jax.Array, theirs: jax.Array) -> jax.Array:
        return jnp.where(accepted.reshape(-1, *[1] * (own.ndim - 1)), theirs[partner], own)

    replicas = jax.tree.map(exchange, State(*state[:3]), crossed)
    probability = jnp.nan_to_num(jnp.exp(jnp.minimum(log_alpha, 0.0)), nan=0.0)
    tried = partner[:-1] == rung[1:]
    return state._replace(
        positions=replicas.position,
        logdensities=replicas.logdensity,
        gradients=replicas.logdensity_grad,
        swap_acceptance=jnp.where(tried, probability[:-1], state.swap_acceptance),
        from_hottest=exchange(state.from_hottest, state.from_hottest),
        odd=~state.odd,
    )


def _partners(odd: jax.Array, number: int) -> jax.Array:
    """Pair rungs (0, 1), (2, 3), ... or (1, 2), (3, 4), ...; a rung without a pair is its own."""
    rung = jnp.arange(number)
    partner = rung + jnp.where((rung + odd) % 2 == 0, 1, -1)
    return jnp.where((partner < 0) | (partner >= number), rung, partner)


def mark_ends(state: LadderState) -> LadderState:
    """Mark the replica on the hottest rung, and unmark the cold one."""
    marked = state.from_hottest.at[0].set(False).at[-1].set(True)
    return state._replace(from_hottest=marked)


def describe(info: Info, moved: LadderState, swapped: LadderState) -> Info:
    """Describe the cold replica, and the ladder in `extra`.

    `swap_acceptance` (rung - 1,) is that of the last exchange tried: each value represents the
    two steps of an even and an odd sweep, so that plain means over steps are right.
    `rung_acceptance` (rung,) is that of HMC on every rung; `restart` is true if a replica from
    the hottest rung has just become the cold one, whose mean over steps is the round trip rate.
    The gradients at the temperature of the partner are counted with those of the leapfrog steps.
    """
    cold = jax.tree.map(lambda field: field[0], info)
    return cold._replace(
        energy=cold.energy + moved.logdensity - swapped.logdensity,
        num_integration_steps=jnp.sum(info.num_integration_steps + 1),
        extra={
            "swap_acceptance": swapped.swap_acceptance,
            "rung_acceptance": info.acceptance_rate,
            "restart": swapped.from_hottest[0],
        },
    )


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


def move_to(values: jax.Array, old: jax.Array, new: jax.Array) -> jax.Array:
    """Interpolate positive values (rung, ...) to a moved ladder, both axes logarithmic."""
    offset = old[-2]

    def one(column: jax.Array) -> jax.Array:
        return jnp.interp(-jnp.log(new + offset), -jnp.log(old + offset), column)

    columns = jnp.log(values).reshape(len(old), -1)
    return jnp.exp(jax.vmap(one, in_axes=1, out_axes=1)(columns)).reshape(values.shape)
