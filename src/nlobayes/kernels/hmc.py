"""Hamiltonian Monte Carlo with a fixed or jittered number of leapfrog steps, or a fixed length.

Targets pi(q) proportional to exp(logdensity_fn(q)) through H = -log pi(q) + p' M^-1 p / 2.
The leapfrog map with the final momentum negated is a volume-preserving involution, so the
Metropolis step leaves pi invariant (Neal 2011, "MCMC using Hamiltonian dynamics"); the number of
steps is drawn independently of the state, so a jittered kernel is a mixture of exact kernels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal, Protocol

from nlobayes.inference.kernel import (
    Info,
    Kernel,
    LogDensity,
    Posterior,
    State,
    Tuned,
    init_with_gradient,
)
from nlobayes.kernels import KernelSettings
from nlobayes.settings.values import Jitter, Positive, PositiveInt
from nlobayes.untyped import Tree

if TYPE_CHECKING:
    import jax
    from blackjax.mcmc.hmc import HMCInfo


class HMCKernel(KernelSettings):
    """Hamiltonian Monte Carlo with a fixed number of leapfrog steps, or a fixed length; exact."""

    warmup: ClassVar[str] = "windows"

    kind: Literal["hmc"]
    integration_steps: PositiveInt = 256
    """Leapfrog steps per draw; with `trajectory_length`, the most steps."""
    jitter: Jitter = 0.2
    """Relative half-width of the uniform distribution of the number of steps, or of the length."""
    trajectory_length: Positive | None = None
    """Step size times steps, in units of the mass matrix; null fixes the number of steps."""
    divergence_threshold: Positive = 1000.0
    """Energy error above which a draw counts as divergent."""

    @property
    def fixed_integration_steps(self) -> int:
        """Leapfrog steps per draw."""
        return self.integration_steps

    @property
    def gradients_per_draw(self) -> int:
        """One per leapfrog step."""
        return self.integration_steps

    def build(self, posterior: Posterior) -> Kernel:
        """Build HMC; with a length the number of steps follows from the step size."""
        import jax

        transition = build_transition(posterior.logdensity_fn, self.divergence_threshold)
        fewest, most = range_of_steps(self.integration_steps, self.jitter)
        length = self.trajectory_length

        def draw_steps(key: jax.Array, tuned: Tuned) -> jax.Array:
            if length is None:
                return jax.random.randint(key, (), fewest, most + 1)
            jittered = length * jax.random.uniform(
                key, (), minval=1 - self.jitter, maxval=1 + self.jitter
            )
            return steps_of(jittered, tuned.step_size, most=self.integration_steps)

        def step(key: jax.Array, state: State, tuned: Tuned) -> tuple[State, Info]:
            key_steps, key_transition = jax.random.split(key)
            return transition(key_transition, state, tuned, draw_steps(key_steps, tuned))

        return Kernel(init_with_gradient(posterior.logdensity_fn), step, exact=True)


def range_of_steps(integration_steps: int, jitter: float) -> tuple[int, int]:
    """Return the fewest and the most leapfrog steps within a relative jitter of a number."""
    fewest = max(1, round(integration_steps * (1 - jitter)))
    return fewest, max(fewest, round(integration_steps * (1 + jitter)))


def steps_of(length: jax.Array, step_size: jax.Array, *, most: int) -> jax.Array:
    """Count the leapfrog steps of a trajectory: at least one, at most `most`."""
    import jax.numpy as jnp

    return jnp.clip(jnp.round(length / step_size), 1, most).astype(int)


class Transition(Protocol):
    """One HMC transition with a given number of leapfrog steps."""

    def __call__(
        self, key: jax.Array, state: State, tuned: Tree, integration_steps: jax.Array
    ) -> tuple[State, Info]:
        """Propose by that many leapfrog steps, then accept or reject."""
        ...


def build_transition(logdensity_fn: LogDensity, divergence_threshold: float) -> Transition:
    """Build one HMC transition of a given number of leapfrog steps, for any tuned record.

    The record must have `step_size` and `inverse_mass_matrix`.
    """
    from blackjax.mcmc import hmc

    transition = hmc.build_kernel(divergence_threshold=divergence_threshold)

    def step(
        key: jax.Array, state: State, tuned: Tree, integration_steps: jax.Array
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


def describe(info: HMCInfo, state: Tree, tuned: Tree) -> Info:
    """Describe a transition from a state, with the energy of the new state."""
    import jax.numpy as jnp
    from blackjax.mcmc import metrics

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
