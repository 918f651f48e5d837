"""HMC with a learned trajectory length, jittered by a Halton sequence: the kernel of ChEES-HMC.

Targets pi(q) proportional to exp(logdensity_fn(q)). Step number n of every chain lasts
2 h_n trajectory_length, with h_n in [0, 1) the base-2 Halton sequence: the tuned value is the mean
length. The sequence does not depend on the state, so each step is one exact HMC kernel, and chains
in one chain group that share tuned values make the same number of leapfrog steps
(Hoffman, Radul & Sountsov 2021, "An adaptive-MCMC scheme for setting trajectory lengths in HMC").
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from blackjax.mcmc import hmc
from blackjax.mcmc.dynamic_hmc import halton_sequence

from nlobayes.inference.kernel import Info, Kernel, Posterior, init_with_gradient
from nlobayes.inference.kernels.hmc import describe, steps_of


class TrajectoryState(NamedTuple):
    """State for the next step and the adaptation, with positions and momenta (parameter,).

    `steps_made` is the place in the Halton sequence. `proposal` and `proposal_momentum` are the
    end of the last trajectory, accepted or not, before the momentum is negated; of a divergent
    one, its start and zero.
    """

    position: jax.Array
    logdensity: jax.Array
    logdensity_grad: jax.Array
    steps_made: jax.Array
    proposal: jax.Array
    proposal_momentum: jax.Array


class TunedTrajectory(NamedTuple):
    """Step size, inverse mass matrix and mean trajectory length (step size times steps)."""

    step_size: jax.Array
    inverse_mass_matrix: Any
    trajectory_length: jax.Array


def build(
    posterior: Posterior, *, most_integration_steps: int, divergence_threshold: float
) -> Kernel:
    """Build HMC with a tuned mean length and at most `most_integration_steps` leapfrog steps."""
    transition = hmc.build_kernel(divergence_threshold=divergence_threshold)

    def init(position: jax.Array) -> TrajectoryState:
        start = init_with_gradient(posterior.logdensity_fn)(position)
        momentum = jnp.zeros_like(position)
        return TrajectoryState(*start, jnp.zeros((), int), position, momentum)

    def step(
        key: jax.Array, state: TrajectoryState, tuned: TunedTrajectory
    ) -> tuple[TrajectoryState, Info]:
        length = jitter_of(state.steps_made) * tuned.trajectory_length
        new, info = transition(
            key,
            hmc.HMCState(*state[:3]),
            posterior.logdensity_fn,
            tuned.step_size,
            tuned.inverse_mass_matrix,
            num_integration_steps=steps_of(length, tuned.step_size, most=most_integration_steps),
        )
        end, momentum = _end_of_trajectory(info, state)
        moved = TrajectoryState(
            new.position,
            new.logdensity,
            new.logdensity_grad,
            steps_made=state.steps_made + 1,
            proposal=end,
            proposal_momentum=momentum,
        )
        return moved, describe(info, state, tuned)

    return Kernel(init, step, exact=True)


def jitter_of(steps_made: jax.Array) -> jax.Array:
    """Return the factor on the mean trajectory length of a step, in [0, 2) with mean 1."""
    return 2 * halton_sequence(steps_made)


def _end_of_trajectory(info: hmc.HMCInfo, state: TrajectoryState) -> tuple[jax.Array, jax.Array]:
    """Return the end of a trajectory; if it is not finite, give the start and zero momentum."""
    position = jnp.where(info.is_divergent, state.position, info.proposal.position)
    return position, jnp.where(info.is_divergent, 0, -info.proposal.momentum)
