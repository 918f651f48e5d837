"""The warm-up of HMC on an emulator: all chains run, and teach it the density where they propose.

The emulator starts as the Gaussian at the mode above the best start of the chains. It is learned
anew when an eighth, a quarter, a half and all of the adapting steps are made, from the values and
gradients at the mode and at all proposals so far.
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

SHARES = (8, 4, 2, 1)


class Carry(NamedTuple):
    """The states (chain,), their emulator, and values (point,) and slopes (point, axis) so far.

    Values are less the log density at the mode, `at_mode`.
    """

    state: EmulatedState
    emulator: Emulator
    at_mode: jax.Array
    values: jax.Array
    slopes: jax.Array


class EmulatorWarmup(WarmupSettings):
    """An emulator learned from the proposals of all chains, then burn-in with it."""

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

    def build(self, untuned: Untuned) -> Adaptation:
        """Build the warm-up of the kernel `emulated_hmc`."""
        import jax
        import jax.numpy as jnp

        from nlobayes.inference import emulator as emulators
        from nlobayes.inference.chain_groups import each_chain

        kernel = untuned.kernel

        def logdensity_fn(position: jax.Array) -> Any:
            return kernel.init(position).logdensity

        def steps_that_learn(chains: int, parameters: int) -> int:
            return max(1, min(self.adapting, emulators.MOST_NUMBERS // (1 + parameters) // chains))

        def start(positions: jax.Array) -> Carry:
            tried = each_chain(kernel.init)(positions)
            best = positions[jnp.argmax(tried.logdensity)]
            points = 1 + len(positions) * steps_that_learn(*positions.shape)
            emulator = emulators.begin_at_mode(logdensity_fn, best, points, self.initial_step_size)
            state = each_chain(kernel.init)(jnp.tile(emulator.mode, (len(positions), 1)))
            room = jnp.zeros_like(emulator.weights)
            slopes = room[:, 1:].at[0].set(jax.grad(logdensity_fn)(emulator.mode) @ emulator.axes)
            return Carry(state, emulator, state.logdensity[0], room[:, 0], slopes)

        def step(keys: jax.Array, carry: Carry, index: jax.Array) -> tuple[Carry, Info]:
            state, info = each_chain(kernel.step)(keys, *finish(carry))
            carry = carry._replace(state=state)
            learning = steps_that_learn(*state.position.shape)
            return jax.lax.cond(index < learning, note, lambda same, _: same, carry, index), info

        def note(carry: Carry, index: jax.Array) -> Carry:
            """Note value and slopes of each proposal, and learn them where a share is complete."""
            proposals, emulator = carry.state.proposal, carry.emulator
            chains = len(proposals)
            found, slopes = jax.lax.map(jax.value_and_grad(logdensity_fn), proposals)
            z = jax.vmap(emulators.to_axes, (0, None))(proposals, emulator)

            def noted(room: jax.Array, new: jax.Array) -> jax.Array:
                return jax.lax.dynamic_update_slice_in_dim(room, new, 1 + index * chains, axis=0)

            emulator = emulator._replace(points=noted(emulator.points, z))
            values = noted(carry.values, found - carry.at_mode)
            every = noted(carry.slopes, slopes @ emulator.axes)
            ends = sorted({max(1, steps_that_learn(*proposals.shape) // n) for n in SHARES})
            learned = jax.lax.switch(
                jnp.argmax(jnp.array([0, *ends]) == index + 1),
                [
                    lambda same, *_: same,
                    *[partial(emulators.learn, count=1 + end * chains) for end in ends],
                ],
                *(emulator, values, every),
            )
            return carry._replace(emulator=learned, values=values, slopes=every)

        def finish(carry: Carry) -> tuple[EmulatedState, Emulator]:
            chains = len(carry.state.logdensity)
            shared = jax.tree.map(lambda x: jnp.broadcast_to(x, (chains, *x.shape)), carry.emulator)
            return carry.state, shared

        return Adaptation(start, step, finish)
