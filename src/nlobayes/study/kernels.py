"""The vocabulary of kernels: one preset each, with its settings and their limits."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from nlobayes.study.values import Fraction, Frozen, Positive, PositiveInt

Jitter = Annotated[float, Field(ge=0, lt=1)]


class _Kernel(Frozen):
    """What every kernel preset can do."""

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of the kernel itself."""
        return self.model_dump(exclude={"kind"})


class RandomWalkKernel(_Kernel):
    """Random-walk Metropolis; exact, needs no gradient, slow in many dimensions."""

    kind: Literal["random_walk"]


class HMCKernel(_Kernel):
    """Hamiltonian Monte Carlo with a fixed number of leapfrog steps, or a fixed length; exact."""

    kind: Literal["hmc"]
    integration_steps: PositiveInt = 256
    """Leapfrog steps per draw; with `trajectory_length`, the most that are taken."""
    jitter: Jitter = 0.2
    """The number of steps, or the length, is uniform within this share around its value."""
    trajectory_length: Positive | None = None
    """Step size times steps, in units of the mass matrix; null fixes the number of steps."""
    divergence_threshold: Positive = 1000.0
    """Energy error above which a draw counts as divergent."""


class NUTSKernel(_Kernel):
    """The no-U-turn sampler (iterative, multinomial); exact."""

    kind: Literal["nuts"]
    max_depth: Annotated[int, Field(ge=1, le=20)] = 9
    """Largest number of doublings: at most 2^max_depth - 1 leapfrog steps."""
    divergence_threshold: Positive = 1000.0
    """Energy error above which a draw counts as divergent."""


class GibbsHMCKernel(_Kernel):
    """HMC of the weights, then draws of the hyperparameters that are conjugate; exact."""

    kind: Literal["gibbs_hmc"]
    integration_steps: PositiveInt = 256
    """Leapfrog steps per draw, at fixed hyperparameters."""
    jitter: Jitter = 0.2
    """The number of steps is uniform within this share around `integration_steps`."""
    divergence_threshold: Positive = 1000.0
    """Energy error above which a draw counts as divergent."""


class ChEESKernel(_Kernel):
    """HMC of a trajectory length that many chains learn together; exact."""

    kind: Literal["chees"]
    most_integration_steps: PositiveInt = 1024
    """Most leapfrog steps per draw."""
    divergence_threshold: Positive = 1000.0
    """Energy error above which a draw counts as divergent."""


class MCLMCKernel(_Kernel):
    """Microcanonical Langevin dynamics without adjustment; NOT exact, its bias is checked."""

    kind: Literal["mclmc"]
    integration_steps: PositiveInt = 32
    """Integrator steps per draw, two gradients each."""


class AdjustedMCLMCKernel(_Kernel):
    """Microcanonical Hamiltonian Monte Carlo with a Metropolis adjustment; exact."""

    kind: Literal["adjusted_mclmc"]
    most_integration_steps: PositiveInt = 128
    """Most integrator steps per draw, two gradients each."""
    jitter: Annotated[float, Field(ge=0, le=1)] = 1.0
    """The length is uniform within this share around the decoherence length."""
    divergence_threshold: Positive = 1000.0
    """Energy error above which a draw counts as divergent."""


class TensorBNNKernel(_Kernel):
    """HMC whose step size and number of steps are learned by Bayesian optimisation; exact."""

    kind: Literal["tensorbnn"]
    divergence_threshold: Positive = 1000.0
    """Energy error above which a draw counts as divergent."""


class TemperingKernel(_Kernel):
    """Parallel tempering over HMC, for chains that stay in modes of their own; exact."""

    kind: Literal["tempering"]
    rungs: Annotated[int, Field(ge=2)] = 16
    """Replicas per chain, and gradients per leapfrog step."""
    hottest: Fraction = 1e-3
    """Power of the likelihood on the hottest rung; the ladder between starts geometric."""
    inverse_temperatures: tuple[float, ...] | None = None
    """The starting ladder itself, from 1 falling to 0 or above, in place of `rungs`, `hottest`."""
    integration_steps: PositiveInt = 64
    """Leapfrog steps of every replica per draw."""
    jitter: Jitter = 0.2
    """The number of steps is uniform within this share around `integration_steps`."""
    divergence_threshold: Positive = 1000.0
    """Energy error above which a draw counts as divergent."""

    @model_validator(mode="after")
    def _is_a_ladder(self) -> TemperingKernel:
        ladder = self.inverse_temperatures
        if ladder is not None and not (
            len(ladder) >= 2
            and ladder[0] == 1
            and ladder[-1] >= 0
            and all(hot < cold for cold, hot in pairwise(ladder))
        ):
            raise ValueError(
                f"inverse_temperatures {list(ladder)} must start at 1 (the posterior) and fall "
                "strictly to 0 (the prior) or above, as [1, 0.3, 0.1]"
            )
        return self

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of the kernel, with the ladder in one of its two forms."""
        geometric = self.inverse_temperatures is None
        other_form = {"inverse_temperatures"} if geometric else {"rungs", "hottest"}
        return self.model_dump(exclude={"kind"} | other_form)


Kernel = Annotated[
    RandomWalkKernel
    | HMCKernel
    | NUTSKernel
    | GibbsHMCKernel
    | ChEESKernel
    | MCLMCKernel
    | AdjustedMCLMCKernel
    | TensorBNNKernel
    | TemperingKernel,
    Field(discriminator="kind"),
]
