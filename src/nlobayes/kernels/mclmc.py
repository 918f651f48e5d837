"""Microcanonical Langevin Monte Carlo, without Metropolis adjustment.

Targets pi(q) proportional to exp(logdensity_fn(q)) by isokinetic dynamics: a momentum of unit
length turned by the gradient, with noise that decorrelates its direction over the decoherence
length. In continuous time pi is invariant. A finite step biases the draws, by an amount that the
variance of the energy error per dimension controls. No test corrects the bias, so the kernel is not
exact (Robnik, De Luca, Silverstein & Seljak 2023, "Microcanonical Hamiltonian Monte Carlo").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

from nlobayes.errors import InputError
from nlobayes.inference.kernel import Info, Kernel, Posterior
from nlobayes.kernels import KernelSettings
from nlobayes.settings.values import PositiveInt

if TYPE_CHECKING:
    import jax
    from blackjax.mcmc.mclmc import MCLMCInfo

GRADIENTS_PER_STEP = 2  # of the isokinetic McLachlan integrator


class MomentumState(NamedTuple):
    """Position (parameter,), unit momentum (parameter,), log density and its gradient."""

    position: jax.Array
    momentum: jax.Array
    logdensity: jax.Array
    logdensity_grad: jax.Array


class TunedMomentum(NamedTuple):
    """The tuned values; lengths are in units of the preconditioned position q / sqrt(M^-1).

    The inverse mass matrix is its diagonal (parameter,). The decoherence length is the path over
    which the momentum loses its direction.
    """

    step_size: jax.Array
    inverse_mass_matrix: jax.Array
    decoherence_length: jax.Array


class MCLMCKernel(KernelSettings):
    """Microcanonical Langevin dynamics without adjustment; NOT exact, its bias is checked."""

    warmup: ClassVar[str] = "microcanonical"
    exact: ClassVar[bool] = False

    kind: Literal["mclmc"]
    integration_steps: PositiveInt = 32
    """Integrator steps per draw, two gradients each."""

    @property
    def fixed_integration_steps(self) -> int:
        """Integrator steps per draw."""
        return self.integration_steps

    @property
    def gradients_per_draw(self) -> int:
        """Two per integrator step."""
        return GRADIENTS_PER_STEP * self.integration_steps

    def build(self, posterior: Posterior) -> Kernel:
        """Build the unadjusted kernel.

        A step with a result that is not finite is undone, with a new momentum, and the draw counts
        as divergent. `extra` has `energy_variance`: the mean square of the energy error of one
        integrator step per dimension, over the finite steps of the draw (infinite if there is
        none).
        """
        import jax
        import jax.numpy as jnp
        from blackjax.mcmc import integrators, mclmc

        logdensity_fn = posterior.logdensity_fn
        transition = mclmc.build_kernel(integrators.isokinetic_mclachlan)

        def init(position: jax.Array) -> MomentumState:
            check_dimension(position)
            direction = jnp.full_like(position, position.size**-0.5)
            return MomentumState(position, direction, *jax.value_and_grad(logdensity_fn)(position))

        def step(
            key: jax.Array, state: MomentumState, tuned: TunedMomentum
        ) -> tuple[MomentumState, Info]:
            step_size, inverse_mass_matrix, length = tuned

            def integrate(state: MomentumState, key: jax.Array) -> tuple[MomentumState, MCLMCInfo]:
                old = integrators.IntegratorState(*state)
                new, info = transition(
                    key, old, logdensity_fn, inverse_mass_matrix, length, step_size
                )
                return MomentumState(*new), info

            keys = jax.random.split(key, self.integration_steps)
            state, every = jax.lax.scan(integrate, state, keys)
            return state, _describe(every, state, tuned)

        return Kernel(init, step, exact=False)


def check_dimension(position: jax.Array) -> None:
    """Refuse a single parameter: a momentum of fixed length cannot turn in one dimension."""
    if position.size < 2:
        raise InputError("inference.one_parameter", parameters=position.size)


def _describe(every: MCLMCInfo, state: MomentumState, tuned: TunedMomentum) -> Info:
    import jax.numpy as jnp

    finite = every.nonans
    squares = jnp.square(every.energy_change).sum(where=finite)
    energy_variance = squares / (finite.sum() * state.position.size)
    return Info(
        acceptance_rate=jnp.ones_like(tuned.step_size),
        energy=jnp.full_like(state.logdensity, jnp.nan),
        is_divergent=~finite.all(),
        num_integration_steps=jnp.asarray(GRADIENTS_PER_STEP * finite.size, int),
        tree_depth=jnp.zeros((), int),
        step_size=tuned.step_size,
        extra={"energy_variance": jnp.where(finite.any(), energy_variance, jnp.inf)},
    )
