"""HMC with a learned trajectory length, jittered by a Halton sequence: the kernel of ChEES-HMC.

Targets pi(q) proportional to exp(logdensity_fn(q)). Step number n of every chain lasts
2 h_n trajectory_length, with h_n in [0, 1) the base-2 Halton sequence: the tuned value is the mean
length. The sequence does not depend on the state, so each step is one exact HMC kernel, and chains
in one chain group that share tuned values make the same number of leapfrog steps
(Hoffman, Radul & Sountsov 2021, "An adaptive-MCMC scheme for setting trajectory lengths in HMC").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

from nlobayes.inference.kernel import Info, Kernel, Posterior, init_with_gradient
from nlobayes.kernels import KernelSettings
from nlobayes.kernels.hmc import describe, steps_of
from nlobayes.settings.values import Positive, PositiveInt
from nlobayes.untyped import Tree

if TYPE_CHECKING:
    import jax

FEWEST_CHAINS = 16
"""Measured on 20-dimensional Gaussians of scales 1:10 and 1:33, 400 steps, learning rate 0.025.

The standard deviation of the learned length over repeats is 12-17 % with 4 chains, 9-11 % with 8,
5-7 % with 16 or 32; with fewer than 16 single repeats are 1.2 to 1.6 times too long.
"""


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
    inverse_mass_matrix: Tree
    trajectory_length: jax.Array


class ChEESKernel(KernelSettings):
    """HMC whose trajectory length is learned by many chains together; exact."""

    warmup: ClassVar[str] = "chees"
    fewest_chains: ClassVar[int] = FEWEST_CHAINS

    kind: Literal["chees"]
    most_integration_steps: PositiveInt = 1024
    """Most leapfrog steps per draw."""
    divergence_threshold: Positive = 1000.0
    """Energy error above which a draw counts as divergent."""

    @property
    def gradients_per_draw(self) -> int:
        """At most one per leapfrog step."""
        return self.most_integration_steps

    def build(self, posterior: Posterior) -> Kernel:
        """Build HMC with a tuned mean length and at most `most_integration_steps` steps."""
        import jax.numpy as jnp
        from blackjax.mcmc import hmc

        transition = hmc.build_kernel(divergence_threshold=self.divergence_threshold)

        def init(position: jax.Array) -> TrajectoryState:
            start = init_with_gradient(posterior.logdensity_fn)(position)
            momentum = jnp.zeros_like(position)
            return TrajectoryState(*start, jnp.zeros((), int), position, momentum)

        def step(
            key: jax.Array, state: TrajectoryState, tuned: TunedTrajectory
        ) -> tuple[TrajectoryState, Info]:
            length = jitter_of(state.steps_made) * tuned.trajectory_length
            most = self.most_integration_steps
            new, info = transition(
                key,
                hmc.HMCState(*state[:3]),
                posterior.logdensity_fn,
                tuned.step_size,
                tuned.inverse_mass_matrix,
                num_integration_steps=steps_of(length, tuned.step_size, most=most),
            )
            end, diverged = info.proposal, info.is_divergent
            moved = TrajectoryState(
                new.position,
                new.logdensity,
                new.logdensity_grad,
                steps_made=state.steps_made + 1,
                proposal=jnp.where(diverged, state.position, end.position),
                proposal_momentum=jnp.where(diverged, 0, -end.momentum),
            )
            return moved, describe(info, state, tuned)

        return Kernel(init, step, exact=True)


def jitter_of(steps_made: jax.Array) -> jax.Array:
    """Return the factor on the mean trajectory length of a step, in [0, 2) with mean 1."""
    from blackjax.mcmc.dynamic_hmc import halton_sequence

    return 2 * halton_sequence(steps_made)
