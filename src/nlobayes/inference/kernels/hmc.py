"""Hamiltonian Monte Carlo with a fixed or jittered number of leapfrog steps.

Targets pi(q) proportional to exp(logdensity_fn(q)) through H = -log pi(q) + p' M^-1 p / 2.
The leapfrog map with the final momentum negated is a volume-preserving involution, so the
Metropolis step leaves pi invariant (Neal 2011, "MCMC using Hamiltonian dynamics"); the number of
steps is drawn independently of the state, so a jittered kernel is a mixture of exact kernels.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from blackjax.mcmc import hmc, metrics

from nlobayes.inference.kernels.protocol import (
    Info,
    Kernel,
    LogDensity,
    State,
    Tuned,
    init_with_gradient,
)


def build(
    logdensity_fn: LogDensity,
    *,
    integration_steps: int,
    jitter: float,
    divergence_threshold: float,
) -> Kernel:
    """Build HMC with `integration_steps` leapfrog steps, uniform within `jitter` of that number."""
    transition = hmc.build_kernel(divergence_threshold=divergence_threshold)
    fewest = max(1, round(integration_steps * (1 - jitter)))
    most = max(fewest, round(integration_steps * (1 + jitter)))

    def step(key: jax.Array, state: State, tuned: Tuned) -> tuple[State, Info]:
        key_steps, key_transition = jax.random.split(key)
        steps = jax.random.randint(key_steps, (), fewest, most + 1)
        new, info = transition(
            key_transition, hmc.HMCState(*state), logdensity_fn, *tuned, num_integration_steps=steps
        )
        return State(*new), _describe(info, state, tuned)

    return Kernel(init_with_gradient(logdensity_fn), step, exact=True)


def _describe(info: hmc.HMCInfo, state: State, tuned: Tuned) -> Info:
    kinetic_energy = metrics.default_metric(tuned.inverse_mass_matrix).kinetic_energy
    initial_energy = kinetic_energy(info.momentum) - state.logdensity
    return Info(
        acceptance_rate=info.acceptance_rate,
        energy=jnp.where(info.is_accepted, info.energy, initial_energy),
        is_divergent=info.is_divergent,
        num_integration_steps=info.num_integration_steps,
        tree_depth=jnp.zeros((), int),
        step_size=tuned.step_size,
    )
