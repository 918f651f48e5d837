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

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from nlobayes.errors import InputError
from nlobayes.inference.kernel import Info, Kernel, LogDensity, Posterior, State
from nlobayes.kernels import KernelSettings
from nlobayes.kernels.hmc import Transition, build_transition, range_of_steps
from nlobayes.settings.values import Fraction, Jitter, Positive, PositiveInt

if TYPE_CHECKING:
    import jax
    import numpy as np

    from nlobayes.inference.replicas import LadderState, TunedLadder


class TemperingKernel(KernelSettings):
    """Parallel tempering over HMC, for chains that stay in different modes; exact."""

    RENAMED: ClassVar[Mapping[str, str]] = {
        "rungs": "num_temperatures",
        "hottest": "min_inverse_temperature",
    }
    warmup: ClassVar[str] = "ladder"

    kind: Literal["tempering"]
    num_temperatures: Annotated[int, Field(ge=2)] = 16
    """Replicas per chain, and gradients per leapfrog step."""
    min_inverse_temperature: Fraction = 1e-3
    """Power of the likelihood at the hottest temperature; initially those between are geometric."""
    inverse_temperatures: tuple[float, ...] | None = None
    """Initial inverse temperatures, from 1 falling to 0 or above; replaces the two keys above."""
    integration_steps: PositiveInt = 64
    """Leapfrog steps of every replica per draw."""
    jitter: Jitter = 0.2
    """Relative half-width of the uniform distribution of the number of steps around
    `integration_steps`."""
    divergence_threshold: Positive = 1000.0
    """Energy error above which a draw counts as divergent."""

    @model_validator(mode="after")
    def _is_a_ladder(self) -> TemperingKernel:
        ladder = self.inverse_temperatures
        if ladder is not None and not (
            len(ladder) >= 2
            and ladder[0] == 1
            and ladder[-1] >= 0
            and all(hot < cold for cold, hot in pairwise(ladder))
        ):
            raise InputError("study.no_ladder", given=list(ladder))
        return self

    @property
    def replicas(self) -> int:
        """Number of temperatures."""
        return len(self.inverse_temperatures or ()) or self.num_temperatures

    @property
    def fixed_integration_steps(self) -> int:
        """Leapfrog steps per draw."""
        return self.integration_steps

    @property
    def gradients_per_draw(self) -> int:
        """One per leapfrog step."""
        return self.integration_steps

    def ladder(self) -> np.ndarray:
        """Return the initial inverse temperatures (rung,): those listed, or a geometric series."""
        import numpy as np

        if self.inverse_temperatures is not None:
            return np.asarray(self.inverse_temperatures, float)
        return np.geomspace(1.0, self.min_inverse_temperature, self.num_temperatures)

    def build(self, posterior: Posterior) -> Kernel:
        """Build tempered HMC; the number of leapfrog steps is the same on all rungs."""
        import jax
        import jax.numpy as jnp

        from nlobayes.inference import replicas
        from nlobayes.inference.replicas import LadderState

        ladder, logdensity_fn = self.ladder(), posterior.logdensity_fn
        evaluate = jax.vmap(jax.value_and_grad(logdensity_fn))
        move = _build_move(logdensity_fn, self.divergence_threshold)
        move_all = jax.vmap(move, in_axes=(0, 0, 0, None))
        fewest, most = range_of_steps(self.integration_steps, self.jitter)

        def init(position: jax.Array) -> LadderState:
            rungs = jnp.asarray(ladder, position.dtype)
            return replicas.start_replicas(rungs, position, evaluate)

        def heat(state: LadderState, tuned: TunedLadder) -> LadderState:
            values = evaluate(state.positions, tuned.inverse_temperatures)
            return LadderState(state.positions, *values, tuned.inverse_temperatures, *state[4:])

        def step(
            key: jax.Array, state: LadderState, tuned: TunedLadder
        ) -> tuple[LadderState, Info]:
            key_steps, key_moves, key_swaps = jax.random.split(key, 3)
            unchanged = jnp.array_equal(state.inverse_temperatures, tuned.inverse_temperatures)
            state = jax.lax.cond(unchanged, lambda state, _: state, heat, state, tuned)
            steps = jax.random.randint(key_steps, (), fewest, most + 1)
            keys = jax.random.split(key_moves, len(ladder))
            moved_replicas, info = move_all(keys, State(*state[:3]), tuned, steps)
            moved = LadderState(*moved_replicas, *state[3:])
            swapped = replicas.swap(key_swaps, moved, evaluate)
            return replicas.mark_ends(swapped), replicas.describe(info, moved, swapped)

        return Kernel(init, step, exact=True)


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
