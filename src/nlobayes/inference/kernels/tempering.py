"""Parallel tempering with Hamiltonian Monte Carlo, for separated modes.

One chain is a ladder of replicas at inverse temperatures 1 = b_0 > b_1 > ... >= 0; replica k
targets pi_k(q) proportional to exp(logdensity_fn(q, b_k)), and the draws are those of the cold
replica, k = 0. The ladder targets the product of all pi_k. A step composes two kernels that leave
it invariant: every replica makes one HMC transition of its own, with a number of leapfrog steps
drawn independently of the state; then neighbours i and j exchange places with probability
min(1, alpha), the Metropolis step of a symmetric proposal, where with l(q, b) the log density

    log alpha = l(q_j, b_i) + l(q_i, b_j) - l(q_i, b_i) - l(q_j, b_j).

The pairs of a step are disjoint, so their exchanges commute. The pairs of even and of odd i
alternate, whatever the state. Each of the two sweeps is invariant, hence so is the alternation,
which is not reversible and moves replicas along the ladder faster than a random choice (Syed,
Bouchard-Cote, Deligiannidis & Doucet 2022, "Non-reversible parallel tempering").
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from nlobayes.errors import InputError
from nlobayes.inference.kernel import Info, Kernel, LogDensity, Posterior, State
from nlobayes.inference.kernels.hmc import Transition, build_transition

Evaluate = Callable[[jax.Array, jax.Array], tuple[jax.Array, jax.Array]]


class LadderState(NamedTuple):
    """Replicas from the coldest to the hottest, and the state of the exchanges.

    Attributes
    ----------
    positions, logdensities, gradients
        Values of every replica (rung, parameter), (rung,) and (rung, parameter) at its temperature.
    inverse_temperatures
        Inverse temperatures at which densities and gradients were evaluated (rung,).
    swap_acceptance
        Acceptance probability of the last exchange tried between rungs k and k + 1 (rung - 1,).
    from_hottest
        Whether a replica visited the hottest rung after the coldest one (rung,).
    odd
        Whether the next exchanges are between odd pairs.
    """

    positions: jax.Array
    logdensities: jax.Array
    gradients: jax.Array
    inverse_temperatures: jax.Array
    swap_acceptance: jax.Array
    from_hottest: jax.Array
    odd: jax.Array

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


def build(
    posterior: Posterior,
    *,
    integration_steps: int,
    jitter: float,
    divergence_threshold: float,
    num_temperatures: int | None = None,
    min_inverse_temperature: float | None = None,
    inverse_temperatures: Sequence[float] | None = None,
) -> Kernel:
    """Build tempered HMC whose ladder starts geometric, or at the given inverse temperatures.

    Each replica makes `integration_steps` leapfrog steps, uniform within `jitter` of that number;
    the number is the same on all rungs, so that they run side by side.

    Raises
    ------
    InputError
        If the ladder is invalid, or none is given.
    """
    ladder = make_ladder(num_temperatures, min_inverse_temperature, inverse_temperatures)
    logdensity_fn = posterior.logdensity_fn
    evaluate = jax.vmap(jax.value_and_grad(logdensity_fn))
    move = jax.vmap(_build_move(logdensity_fn, divergence_threshold), in_axes=(0, 0, 0, None))
    fewest = max(1, round(integration_steps * (1 - jitter)))
    most = max(fewest, round(integration_steps * (1 + jitter)))

    def init(position: jax.Array) -> LadderState:
        return _start(jnp.asarray(ladder, position.dtype), position, evaluate)

    def heat(state: LadderState, tuned: TunedLadder) -> LadderState:
        values = evaluate(state.positions, tuned.inverse_temperatures)
        return LadderState(state.positions, *values, tuned.inverse_temperatures, *state[4:])

    def step(key: jax.Array, state: LadderState, tuned: TunedLadder) -> tuple[LadderState, Info]:
        key_steps, key_moves, key_swaps = jax.random.split(key, 3)
        unchanged = jnp.array_equal(state.inverse_temperatures, tuned.inverse_temperatures)
        state = jax.lax.cond(unchanged, lambda state, _: state, heat, state, tuned)
        steps = jax.random.randint(key_steps, (), fewest, most + 1)
        keys = jax.random.split(key_moves, len(ladder))
        replicas, info = move(keys, State(*state[:3]), tuned, steps)
        moved = LadderState(*replicas, *state[3:])
        swapped = _swap(key_swaps, moved, evaluate)
        return _mark_ends(swapped), _describe(info, moved, swapped)

    return Kernel(init, step, exact=True)


def make_ladder(
    num_temperatures: int | None,
    min_inverse_temperature: float | None,
    inverse_temperatures: Sequence[float] | None,
) -> np.ndarray:
    """Make inverse temperatures (rung,): those that are listed, or else a geometric ladder.

    The geometric ladder falls from 1 to `min_inverse_temperature`.

    Raises
    ------
    InputError
        If they do not fall strictly from 1, end below 0, or none are given.
    """
    if inverse_temperatures is not None:
        return _check_ladder(np.asarray(inverse_temperatures, float))
    number, least = num_temperatures or 0, min_inverse_temperature or 0.0
    if number < 2 or not 0 < least < 1:
        raise InputError(
            "inference.geometric_ladder", number=num_temperatures, least=min_inverse_temperature
        )
    return _check_ladder(np.geomspace(1.0, least, number))


def _check_ladder(ladder: np.ndarray) -> np.ndarray:
    falls = ladder.ndim == 1 and len(ladder) >= 2 and bool((np.diff(ladder) < 0).all())
    if not falls or ladder[0] != 1 or ladder[-1] < 0:
        raise InputError("inference.listed_ladder", ladder=ladder.tolist())
    return ladder


def _start(ladder: jax.Array, position: jax.Array, evaluate: Evaluate) -> LadderState:
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


def _build_move(logdensity_fn: LogDensity, divergence_threshold: float) -> Transition:
    """Build the HMC transition of one replica, at the temperature of its rung."""

    def move(
        key: jax.Array, state: State, tuned: TunedLadder, integration_steps: jax.Array
    ) -> tuple[State, Info]:
        def tempered(
            position: jax.Array, inverse_temperature: float | jax.Array = 1.0
        ) -> jax.Array:
            return logdensity_fn(position, inverse_temperature * tuned.inverse_temperatures)

        transition = build_transition(tempered, divergence_threshold)
        return transition(key, state, tuned, integration_steps)

    return move


def _swap(key: jax.Array, state: LadderState, evaluate: Evaluate) -> LadderState:
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


def _mark_ends(state: LadderState) -> LadderState:
    marked = state.from_hottest.at[0].set(False).at[-1].set(True)
    return state._replace(from_hottest=marked)


def _describe(info: Info, moved: LadderState, swapped: LadderState) -> Info:
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
