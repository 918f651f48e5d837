"""Hamiltonian Monte Carlo with a fixed or jittered number of leapfrog steps, or a fixed length.

Targets pi(q) proportional to exp(logdensity_fn(q)) through H = -log pi(q) + p' M^-1 p / 2.
The leapfrog map with the final momentum negated is a volume-preserving involution, so the
Metropolis step leaves pi invariant (Neal 2011, "MCMC using Hamiltonian dynamics"); the number of
steps is drawn independently of the state, so a jittered kernel is a mixture of exact kernels.
"""

from __future__ import annotations

from typing import Any, Protocol

import jax
import jax.numpy as jnp
from blackjax.mcmc import hmc, metrics

from nlobayes.inference.kernel import (
    Info,
    Kernel,
    LogDensity,
    Posterior,
    State,
    Tuned,
    init_with_gradient,
)


class Transition(Protocol):
    """One HMC transition with a given number of leapfrog steps."""

    def __call__(
        self, key: jax.Array, state: State, tuned: Any, integration_steps: jax.Array
    ) -> tuple[State, Info]:
        """Propose by that many leapfrog steps, then accept or reject."""
        ...


def build(
    posterior: Posterior,
    *,
    integration_steps: int,
    jitter: float,
    divergence_threshold: float,
    trajectory_length: float | None = None,
) -> Kernel:
    """Build HMC with `integration_steps` leapfrog steps, uniform within `jitter` of that number.

    With a `trajectory_length` (step size times steps) the steps follow from the step size, and
    `integration_steps` is their maximum.
    """
    transition = build_transition(posterior.logdensity_fn, divergence_threshold)
    fewest = max(1, round(integration_steps * (1 - jitter)))
    most = max(fewest, round(integration_steps * (1 + jitter)))

    def draw_steps(key: jax.Array, tuned: Tuned) -> jax.Array:
        if trajectory_length is None:
            return jax.random.randint(key, (), fewest, most + 1)
        length = trajectory_length * jax.random.uniform(
            key, (), minval=1 - jitter, maxval=1 + jitter
        )
        return steps_of(length, tuned.step_size, most=integration_steps)

    def step(key: jax.Array, state: State, tuned: Tuned) -> tuple[State, Info]:
        key_steps, key_transition = jax.random.split(key)
        return transition(key_transition, state, tuned, draw_steps(key_steps, tuned))

    return Kernel(init_with_gradient(posterior.logdensity_fn), step, exact=True)


def steps_of(length: jax.Array, step_size: jax.Array, *, most: int) -> jax.Array:
    """Count the leapfrog steps of a trajectory: at least one, at most `most`."""
    return jnp.clip(jnp.round(length / step_size), 1, most).astype(int)


def build_transition(logdensity_fn: LogDensity, divergence_threshold: float) -> Transition:
    """Build one HMC transition of a given number of leapfrog steps, for any tuned record.

    The record must have `step_size` and `inverse_mass_matrix`.
    """
    transition = hmc.build_kernel(divergence_threshold=divergence_threshold)

    def step(
        key: jax.Array, state: State, tuned: Any, integration_steps: jax.Array
    ) -> tuple[State, Info]:
        new, info = transition(
            key,
            hmc.HMCState(*state),
            logdensity_fn,
            tuned.step_size,
            tuned.inverse_mass_matrix,
            num_integration_steps=integration_steps,
        )
        return State(*new), describe(info, state, tuned)

    return step


def describe(info: hmc.HMCInfo, state: Any, tuned: Any) -> Info:
    """Describe a transition from a state, with the energy of the new state."""
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
