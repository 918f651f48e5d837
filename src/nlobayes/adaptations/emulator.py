"""The warm-up of HMC on an emulator: all chains run, and teach it the density where it is wrong.

The emulator starts as the Gaussian at the mode above the best start of the chains. In each step the
proposal of one chain teaches it: in turn the one whose density is most above and most below the
emulated one. Chains stand still where it is too low, and are rejected where it is too high. After
each eighth of the steps that teach, it is learned anew from the values and gradients at the mode
and at these proposals. If that is rarer, they lie where it was wrong long before. In the first half
it has the tails of a Gaussian and learns where most draws are. Then it is wide, and learns tails.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from nlobayes.adaptations import WarmupSettings
from nlobayes.inference.adaptation import Adaptation, Untuned
from nlobayes.inference.kernel import Info
from nlobayes.kernels.emulated_hmc import EmulatedState
from nlobayes.settings.values import Positive

if TYPE_CHECKING:
    import jax

    from nlobayes.inference.emulator import Emulator

LESSONS = 8
"""Times that the emulator is learned anew."""
ACCEPTANCES = 0.25, 0.8
"""Acceptance below which the emulator is too wrong to move chains by itself, and above which chains
seldom come where it is wrong."""
APART = 8, 40, 160
"""Draws from one move on the density itself to the next: below, between and above these."""
LATEST = 20
"""Steps over which the acceptance is averaged."""


class Carry(NamedTuple):
    """The states (chain,), their emulator, and what taught it: places, values and slopes.

    Places z (point, axis), and there the values (point,), less the log density at the mode,
    `at_mode`, and the slopes in z (point, axis). `acceptance` is that of late steps.
    """

    state: EmulatedState
    emulator: Emulator
    at_mode: jax.Array
    places: jax.Array
    values: jax.Array
    slopes: jax.Array
    acceptance: jax.Array


class EmulatorWarmup(WarmupSettings):
    """An emulator learned from proposals of all chains, then burn-in with it."""

    kind: Literal["emulator"] = "emulator"
    initial_step_size: Positive = 0.3
    """Leapfrog step on the emulator, in units of the sds at the mode."""

    @property
    def form_of_mass_matrix(self) -> str:
        """Form of the matrix that it learns."""
        return "dense"

    def matrix_numbers(self, weights: int, train: int) -> int:
        """Count the numbers of the axes."""
        del train
        return weights**2

    def steps_that_learn(self, parameters: int) -> int:
        """Count the steps that teach: fewer for many parameters, as each teaches a slope in all."""
        from nlobayes.inference.emulator import MOST_NUMBERS

        return max(1, min(self.adapting, MOST_NUMBERS // (1 + parameters)))

    def build(self, untuned: Untuned) -> Adaptation:
        """Build the warm-up of the kernel `emulated_hmc`."""
        import jax
        import jax.numpy as jnp

        from nlobayes.inference import emulator as emulators
        from nlobayes.inference.chain_groups import each_chain

        kernel = untuned.kernel

        def logdensity_fn(position: jax.Array) -> Any:
            return kernel.init(position).logdensity

        @jax.jit  # its steps one by one are 200 small programs to compile
        def start(positions: jax.Array) -> Carry:
            tried = each_chain(kernel.init)(positions)
            best = positions[jnp.argmax(tried.logdensity)]
            points = 1 + self.steps_that_learn(positions.shape[1])
            emulator = emulators.begin_at_mode(logdensity_fn, best, points, self.initial_step_size)
            state = each_chain(kernel.init)(jnp.tile(emulator.mode, (len(positions), 1)))
            places, values = jnp.zeros_like(emulator.points), jnp.zeros_like(emulator.weights[:, 0])
            at_mode, slopes = state.logdensity[0], jax.grad(logdensity_fn)(emulator.mode)
            slopes = places.at[0].set(slopes @ emulator.axes)
            one = jnp.ones_like(at_mode)
            return Carry(state, emulator, at_mode, places, values, slopes, one)

        def step(keys: jax.Array, carry: Carry, index: jax.Array) -> tuple[Carry, Info]:
            state, info = each_chain(kernel.step)(keys, *finish(carry))
            change = (info.acceptance_rate.mean() - carry.acceptance) / LATEST
            carry = carry._replace(state=state, acceptance=carry.acceptance + change)
            learning = index < self.steps_that_learn(state.position.shape[1])
            return jax.lax.cond(learning, note, lambda same, _: same, carry, index), info

        def note(carry: Carry, index: jax.Array) -> Carry:
            """Note value and slopes of a proposal; learn those so far at the end of an eighth."""
            excess, emulator = carry.state.excess, carry.emulator
            wrong = jnp.where(index % 2 == 0, excess, -excess)
            chain = jnp.argmax(jnp.where(jnp.isfinite(wrong), wrong, -jnp.inf))
            worst = carry.state.proposal[chain]
            found, slopes = jax.value_and_grad(logdensity_fn)(worst)
            places = carry.places.at[1 + index].set(emulators.to_axes(worst, emulator))
            values = carry.values.at[1 + index].set(found - carry.at_mode)
            noted = carry.slopes.at[1 + index].set(slopes @ emulator.axes)
            steps = self.steps_that_learn(worst.size)
            apart = jnp.array(APART)[jnp.searchsorted(jnp.array(ACCEPTANCES), carry.acceptance)]
            every = jnp.where(index == steps - 1, apart, 0)
            emulator = emulator._replace(every=every)
            ends = sorted({max(1, steps * part // LESSONS) for part in range(1, LESSONS + 1)})
            emulator = jax.lax.switch(
                jnp.argmax(jnp.array([0, *ends]) == index + 1),
                [
                    lambda same, *_: same,
                    *[
                        partial(emulators.learn, count=1 + end, is_wide=2 * end > steps)
                        for end in ends
                    ],
                ],
                *(emulator, places, values, noted),
            )
            return carry._replace(emulator=emulator, places=places, values=values, slopes=noted)

        return Adaptation(start, step, finish)


def finish(carry: Carry) -> tuple[EmulatedState, Emulator]:
    """Return the states, and the emulator once for each chain."""
    import jax
    import jax.numpy as jnp

    chains = len(carry.state.logdensity)
    shared = jax.tree.map(lambda x: jnp.broadcast_to(x, (chains, *x.shape)), carry.emulator)
    return carry.state, shared
