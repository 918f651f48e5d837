"""Microcanonical Hamiltonian Monte Carlo with a Metropolis adjustment.

Targets pi(q) proportional to exp(logdensity_fn(q)). A momentum of unit length, drawn anew for
every trajectory, is turned by the gradient along isokinetic dynamics. The integrator is
reversible, and its energy error includes the change of volume, so that accepting the end with
probability min(1, exp(-error)) leaves pi invariant; the length of a trajectory is drawn
independently of the state, so the kernel is a mixture of exact kernels
(Robnik, Cohn-Gordon & Seljak 2025, "Metropolis adjusted microcanonical Hamiltonian Monte Carlo").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from nlobayes.inference.kernel import Info, Kernel, Posterior, State, init_with_gradient
from nlobayes.kernels import KernelSettings
from nlobayes.kernels.hmc import steps_of
from nlobayes.kernels.mclmc import GRADIENTS_PER_STEP, TunedMomentum, check_dimension
from nlobayes.settings.values import Positive, PositiveInt

if TYPE_CHECKING:
    import jax


class AdjustedMCLMCKernel(KernelSettings):
    """Microcanonical Hamiltonian Monte Carlo with a Metropolis adjustment; exact."""

    warmup: ClassVar[str] = "microcanonical"

    kind: Literal["adjusted_mclmc"]
    most_integration_steps: PositiveInt = 128
    """Most integrator steps per draw, two gradients each."""
    jitter: Annotated[float, Field(ge=0, le=1)] = 1.0
    """Relative half-width of the uniform distribution of the length around the decoherence
    length."""
    divergence_threshold: Positive = 1000.0
    """Energy error above which a draw counts as divergent."""

    @property
    def gradients_per_draw(self) -> int:
        """Two per integrator step."""
        return GRADIENTS_PER_STEP * self.most_integration_steps

    def build(self, posterior: Posterior) -> Kernel:
        """Build the adjusted kernel, whose trajectories are one decoherence length on average."""
        import jax
        import jax.numpy as jnp
        from blackjax.mcmc import adjusted_mclmc, hmc, integrators

        init_state = init_with_gradient(posterior.logdensity_fn)
        transition = adjusted_mclmc.build_kernel(
            integrators.isokinetic_mclachlan, divergence_threshold=self.divergence_threshold
        )

        def init(position: jax.Array) -> State:
            check_dimension(position)
            return init_state(position)

        def draw_steps(key: jax.Array, tuned: TunedMomentum) -> jax.Array:
            dtype = tuned.step_size.dtype
            share = jax.random.uniform(key, (), dtype, 1 - self.jitter, 1 + self.jitter)
            length = share * tuned.decoherence_length
            return steps_of(length, tuned.step_size, most=self.most_integration_steps)

        def step(key: jax.Array, state: State, tuned: TunedMomentum) -> tuple[State, Info]:
            key_steps, key_transition = jax.random.split(key)
            new, info = transition(
                key_transition,
                hmc.HMCState(*state),
                posterior.logdensity_fn,
                tuned.step_size,
                integration_steps_params=(draw_steps(key_steps, tuned),),
                inverse_mass_matrix=tuned.inverse_mass_matrix,
            )
            return State(*new), Info(
                acceptance_rate=info.acceptance_rate,
                energy=jnp.full_like(new.logdensity, jnp.nan),
                is_divergent=info.is_divergent,
                num_integration_steps=GRADIENTS_PER_STEP * info.num_integration_steps,
                tree_depth=jnp.zeros((), int),
                step_size=tuned.step_size,
            )

        return Kernel(init, step, exact=True)
