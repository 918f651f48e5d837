"""HMC on an emulator of the log density, whose end is accepted or rejected by the density itself.

Targets pi(q) proportional to exp(logdensity_fn(q)). Transitions of HMC leave the power b of an
emulated density e invariant and satisfy detailed balance, so that their end q' is accepted with
probability min(1, pi(q') e(q)^b / (pi(q) e(q')^b)) (Liu 2001, *Monte Carlo Strategies in
Scientific Computing*, section 9.4.3, "surrogate transition method"; Rasmussen 2003, Bayesian
Statistics 7, 651, with a Gaussian process as the emulator). Each step draws b at random. Where the
emulator is too small in a tail a chain would stand still at b = 1, and moves on at a smaller one.
Half of the steps are shorter, so that their end is near, where the error of e is nearly the same.
Some steps are followed by HMC on the density itself, which enters what no emulator has learned.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import Field

from nlobayes.inference.kernel import Info, Kernel, Posterior, Tuned
from nlobayes.kernels import KernelSettings
from nlobayes.kernels.hmc import HMCKernel
from nlobayes.settings.values import PositiveInt

if TYPE_CHECKING:
    import jax

    from nlobayes.inference.emulator import Emulator


LEAST_STEP = 0.03
"""Least leapfrog step of short steps, relative to the tuned one."""
MOVE = HMCKernel(kind="hmc", integration_steps=12, jitter=0.5)
"""A move on the density itself: as long as a chain needs to leave a tail that it entered. With 3
steps chains stayed in the tails of posteriors of 19 parameters for hundreds of draws."""
MOVE_STEPS = 0.1, 0.5
"""Least and largest leapfrog step of a move on the density itself, in units of the axes. With steps
of one size chains would stand still where a density falls more steeply than at its mode."""


class EmulatedState(NamedTuple):
    """Position (parameter,), its log density, and the last proposal, accepted or not.

    `excess` is the log density of the proposal, less the emulated one. `steps` counts all so far.
    `by_product` is that of the log density at the position.
    """

    position: jax.Array
    logdensity: jax.Array
    proposal: jax.Array
    excess: jax.Array
    steps: jax.Array
    by_product: Any


class EmulatedHMCKernel(KernelSettings):
    """HMC on an emulator, accepted by the density itself; exact, one density per draw.

    For posteriors of few parameters whose density takes long, such as the scales of an infinitely
    wide network. One draw in 40 is followed by HMC on the density itself; one in 160 where warm-up
    finds that most proposals are accepted; one in 8, and draws take several times as long, where
    few are.
    """

    warmup: ClassVar[str] = "emulator"

    kind: Literal["emulated_hmc"]
    trajectories: PositiveInt = 25
    """Transitions on the emulator per draw."""
    integration_steps: PositiveInt = 10
    """Leapfrog steps per transition."""
    min_inverse_temperature: Annotated[float, Field(gt=0, le=1)] = 0.8
    """Least power of the emulated density, whose tails it widens; each step draws one up to 1."""

    @property
    def learns_from_all_chains(self) -> bool:
        """All chains learn one emulator."""
        return True

    @property
    def gradients_per_draw(self) -> int:
        """One density, counted as a gradient."""
        return 1

    def build(self, posterior: Posterior) -> Kernel:
        """Build the transitions on the emulator and their acceptance."""
        import jax
        import jax.numpy as jnp

        from nlobayes.inference.emulator import log_density, to_axes

        logdensity_fn = posterior.logdensity_fn
        inner = HMCKernel(kind="hmc", integration_steps=self.integration_steps)
        move = _move_on_density(posterior)

        def init(position: jax.Array) -> EmulatedState:
            found, zero = logdensity_fn(position), jnp.array(0)
            _, made = posterior.evaluate(jax.lax.stop_gradient(position))
            return EmulatedState(position, found, position, jnp.zeros_like(found), zero, made)

        def step(
            key: jax.Array, state: EmulatedState, tuned: Emulator
        ) -> tuple[EmulatedState, Info]:
            key_accept, key_inner, *keys = jax.random.split(key, 5)
            least, dtype = self.min_inverse_temperature, state.logdensity.dtype
            chosen = jax.random.uniform(keys[0], (), dtype, minval=least, maxval=1.0)
            share = LEAST_STEP ** jnp.maximum(jax.random.uniform(keys[1], (), dtype, -1.0, 1.0), 0)

            def emulated(z: jax.Array, power: float | jax.Array = 1.0) -> jax.Array:
                return power * chosen * log_density(z, tuned)

            hmc = inner.build(Posterior(emulated))
            frozen = Tuned(share * tuned.step_size, jnp.ones_like(state.position))
            old = hmc.init(to_axes(state.position, tuned))
            end, _ = jax.lax.scan(
                lambda now, one: (hmc.step(one, now, frozen)[0], None),
                old,
                jax.random.split(key_inner, self.trajectories),
            )
            proposal = tuned.mode + tuned.axes @ end.position
            found, made = posterior.evaluate(proposal)
            ratio = found - end.logdensity - (state.logdensity - old.logdensity)
            rate = jnp.where(jnp.isfinite(found), jnp.exp(jnp.minimum(ratio, 0.0)), 0.0)
            accepted = jax.random.uniform(key_accept, (), rate.dtype) < rate
            place = jax.tree.map(
                partial(jnp.where, accepted),
                (proposal, found, made),
                (state.position, state.logdensity, state.by_product),
            )
            steps = state.steps + 1
            due = (tuned.every > 0) & (steps % jnp.maximum(tuned.every, 1) == 0)
            position, logdensity, by_product = move(due, keys[2], place, tuned)
            excess = found - end.logdensity / chosen
            moved = EmulatedState(position, logdensity, proposal, excess, steps, by_product)
            return moved, Info(
                acceptance_rate=rate,
                energy=jnp.full_like(rate, jnp.nan),
                is_divergent=jnp.zeros((), bool),
                num_integration_steps=1 + due * (1 + MOVE.integration_steps),
                tree_depth=jnp.zeros((), int),
                step_size=tuned.step_size,
            )

        return Kernel(init, step, exact=True)


def _move_on_density(posterior: Posterior) -> Callable[..., Any]:
    """Build the move on the density itself, in units of the axes.

    It takes whether it is due, a key, a position with its log density and by-product, and the
    emulator, and returns the place after it. Chains move in turn, so that none computes in vain.
    """
    import jax
    import jax.numpy as jnp

    from nlobayes.inference.emulator import to_axes

    @jax.custom_batching.sequential_vmap
    def move(due: jax.Array, key: jax.Array, place: Any, tuned: Emulator) -> Any:
        position = place[0]

        def exact(z: jax.Array, power: float | jax.Array = 1.0) -> jax.Array:
            return power * posterior.logdensity_fn(tuned.mode + tuned.axes @ z)

        def moved() -> Any:
            hmc = MOVE.build(Posterior(exact))
            old = hmc.init(to_axes(position, tuned))
            key_size, key_move = jax.random.split(key)
            least, most = jnp.log(jnp.array(MOVE_STEPS, position.dtype))
            size = jnp.exp(jax.random.uniform(key_size, (), least.dtype, least, most))
            new, _ = hmc.step(key_move, old, Tuned(size, jnp.ones_like(position)))
            accepted = (new.position != old.position).any()
            end = tuned.mode + tuned.axes @ new.position
            _, made = posterior.evaluate(end)
            return jax.tree.map(partial(jnp.where, accepted), (end, new.logdensity, made), place)

        return jax.lax.cond(due, moved, lambda: place)

    return move
