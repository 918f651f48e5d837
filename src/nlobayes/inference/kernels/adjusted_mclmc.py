"""Microcanonical Hamiltonian Monte Carlo with a Metropolis adjustment.

Targets pi(q) proportional to exp(logdensity_fn(q)). A momentum of unit length, drawn anew for
every trajectory, is turned by the gradient along isokinetic dynamics. The integrator is
reversible, and its energy error includes the change of volume, so that accepting the end with
probability min(1, exp(-error)) leaves pi invariant; the length of a trajectory is drawn
independently of the state, so the kernel is a mixture of exact kernels
(Robnik, Cohn-Gordon & Seljak 2025, "Metropolis adjusted microcanonical Hamiltonian Monte Carlo").
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from blackjax.mcmc import adjusted_mclmc, hmc, integrators

from nlobayes.inference.kernel import Info, Kernel, Posterior, State, init_with_gradient
from nlobayes.inference.kernels.hmc import steps_of
from nlobayes.inference.kernels.mclmc import GRADIENTS_PER_STEP, TunedMomentum, check_dimension


def build(
    posterior: Posterior,
    *,
    most_integration_steps: int,
    jitter: float,
    divergence_threshold: float,
) -> Kernel:
    """Build the adjusted kernel, whose trajectories are one decoherence length long on average.

    The length is uniform within `jitter` of that, in integrator steps of two gradients each, at
    least one and at most `most_integration_steps`.
    """
    init_state = init_with_gradient(posterior.logdensity_fn)
    transition = adjusted_mclmc.build_kernel(
        integrators.isokinetic_mclachlan, divergence_threshold=divergence_threshold
    )

    def init(position: jax.Array) -> State:
        check_dimension(position)
        return init_state(position)

    def draw_steps(key: jax.Array, tuned: TunedMomentum) -> jax.Array:
        share = jax.random.uniform(key, (), tuned.step_size.dtype, 1 - jitter, 1 + jitter)
        length = share * tuned.decoherence_length
        return steps_of(length, tuned.step_size, most=most_integration_steps)

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
        return State(*new), _describe(info, State(*new), tuned)

    return Kernel(init, step, exact=True)


def _describe(info: hmc.HMCInfo, new: State, tuned: TunedMomentum) -> Info:
    return Info(
        acceptance_rate=info.acceptance_rate,
        energy=jnp.full_like(new.logdensity, jnp.nan),
        is_divergent=info.is_divergent,
        num_integration_steps=GRADIENTS_PER_STEP * info.num_integration_steps,
        tree_depth=jnp.zeros((), int),
        step_size=tuned.step_size,
    )
