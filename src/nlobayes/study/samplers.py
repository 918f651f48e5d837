"""The vocabulary of sampling: kernels, how each warms up, and how long chains run."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from nlobayes.study.values import Fraction, Frozen, Positive, PositiveInt

FEWEST_ADAPTING_STEPS = 20
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
    | ChEESKernel
    | MCLMCKernel
    | AdjustedMCLMCKernel
    | TensorBNNKernel
    | TemperingKernel,
    Field(discriminator="kind"),
]


class _Warmup(Frozen):
    """What every warm-up has: its length, its pieces, and where the step size starts."""

    steps: PositiveInt = 400
    """Draws before sampling; they are not kept, their stats are."""
    segments: PositiveInt = 1
    """Jobs in a row; a killed warm-up continues from the last complete one."""
    adaptation_share: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Share of the steps that adapt; the rest is burn-in with everything frozen."""
    initial_step_size: Positive = 1e-3
    """Where the search of the step size starts; small is safe."""

    @model_validator(mode="after")
    def _has_whole_segments(self) -> _Warmup:
        if self.steps % self.segments:
            raise ValueError(
                f"steps ({self.steps}) must be a multiple of segments ({self.segments})"
            )
        return self

    @property
    def piece(self) -> int:
        """Number of steps of one segment."""
        return self.steps // self.segments

    @property
    def adapting(self) -> int:
        """Number of steps that adapt."""
        return max(1, int(self.adaptation_share * self.steps))


class WindowWarmup(_Warmup):
    """Step size by dual averaging, mass matrix in Stan's windows."""

    kind: Literal["windows"] = "windows"
    mass_matrix: Literal["diagonal", "dense", "low_rank", "gauss_newton", "identity"] = "diagonal"
    """Learn its diagonal or all of it from draws, a diagonal with a low-rank correction from draws
    and gradients, or all of it from the curvature along the chain; or keep the identity."""
    target_acceptance: Fraction = 0.7
    """Mean acceptance that dual averaging aims at; it ends above it."""
    last_window: PositiveInt = 50
    """Steps at the end of the adaptation that learn the step size alone."""

    @model_validator(mode="after")
    def _has_room_for_windows(self) -> WindowWarmup:
        if self.mass_matrix != "identity" and self.adapting < FEWEST_ADAPTING_STEPS:
            raise ValueError(
                f"{self.adapting} adapting steps leave no window for a {self.mass_matrix} mass "
                f"matrix; use at least {FEWEST_ADAPTING_STEPS} or mass_matrix: identity"
            )
        return self


class ChEESWarmup(_Warmup):
    """Step size and trajectory length learned by all chains together, mass matrix the identity."""

    kind: Literal["chees"] = "chees"
    target_acceptance: Fraction = 0.651
    """Harmonic mean of the acceptance that dual averaging aims at."""
    learning_rate: Annotated[float, Field(gt=0, le=0.05)] = 0.025
    """Of ADAM on the logarithm of the trajectory length."""
    initial_trajectory_length: Positive = 0.1
    """Where the length starts."""


class MicrocanonicalWarmup(_Warmup):
    """Preconditioner by windows, step size by energy error, for `mclmc` and `adjusted_mclmc`."""

    kind: Literal["microcanonical"] = "microcanonical"
    energy_variance: Positive = 5e-4
    """Energy variance per dimension and step that `mclmc` aims at; its bias falls with it."""
    target_acceptance: Fraction = 0.9
    """Mean acceptance that `adjusted_mclmc` aims at."""
    length_factor: Positive = 1.0
    """Decoherence length in units of the square root of the number of parameters."""


class BayesianOptimisationWarmup(_Warmup):
    """Step size and steps that maximise the squared jump over sqrt(L), as in TensorBNN."""

    kind: Literal["bayesian_optimisation"] = "bayesian_optimisation"
    step_size_min: Positive = 1e-4
    """Smallest candidate."""
    step_size_max: Positive = 0.1
    """Largest candidate."""
    step_size_points: Annotated[int, Field(ge=2)] = 16
    """Candidates, even in the logarithm."""
    integration_steps_min: PositiveInt = 16
    """Fewest leapfrog steps."""
    integration_steps_max: PositiveInt = 512
    """Most leapfrog steps."""
    integration_steps_points: Annotated[int, Field(ge=2)] = 8
    """Candidates, even in the logarithm."""
    batch: PositiveInt = 10
    """Draws that judge one candidate."""

    @model_validator(mode="after")
    def _has_candidates(self) -> BayesianOptimisationWarmup:
        for name in ("step_size", "integration_steps"):
            least, most = getattr(self, f"{name}_min"), getattr(self, f"{name}_max")
            if least > most:
                raise ValueError(f"{name}_min ({least}) must not exceed {name}_max ({most})")
        if self.adapting < self.batch:
            raise ValueError(
                f"{self.adapting} adapting steps judge no candidate of {self.batch} draws; use at "
                f"least {self.batch}, better {80 * self.batch}"
            )
        return self


class LadderWarmup(_Warmup):
    """Step size, mass matrix and temperature of every rung of a ladder, for `tempering`."""

    kind: Literal["ladder"] = "ladder"
    target_acceptance: Fraction = 0.7
    """Mean acceptance of HMC on every rung."""


Warmup = Annotated[
    WindowWarmup | ChEESWarmup | MicrocanonicalWarmup | BayesianOptimisationWarmup | LadderWarmup,
    Field(discriminator="kind"),
]

WARMUP_OF = {
    "random_walk": "windows",
    "hmc": "windows",
    "nuts": "windows",
    "chees": "chees",
    "mclmc": "microcanonical",
    "adjusted_mclmc": "microcanonical",
    "tensorbnn": "bayesian_optimisation",
    "tempering": "ladder",
}
"""The warm-up that tunes each kernel."""

FEWEST_CHAINS = {"chees": 16}
"""Kernels that learn from all chains at once need this many."""


class Until(Frozen):
    """Stop drawing when convergence is shown; `segments` is then the most that are drawn."""

    rhat_f_median: Positive = 1.01
    """Largest median over reference points of the R-hat of f."""
    rhat_f_p99: Positive = 1.05
    """Largest 99th percentile of it."""
    ess_f_bulk_min: Positive = 100.0
    """Smallest bulk effective sample size of f at any reference point."""


class Sampler(Frozen):
    """How the posterior is sampled."""

    kernel: Kernel
    """Kernel and its settings."""
    warmup: Warmup = WindowWarmup()
    """Adaptation before sampling; its `kind` follows from the kernel."""
    chains: int = 4
    """At least two: convergence cannot be shown with one."""
    segments: PositiveInt = 1
    """Jobs in a row per chain; raising it extends a finished run."""
    draws_per_segment: PositiveInt
    """Draws of one job."""
    keep_every: PositiveInt = 8
    """Weights of every n-th draw are stored; diagnostics use every draw."""
    until: Until | None = None
    """Judge after every segment and stop when met; null draws all segments."""

    @model_validator(mode="before")
    @classmethod
    def _knows_its_warmup(cls, value: Any) -> Any:
        kernel = value.get("kernel") if isinstance(value, dict) else None
        kind = WARMUP_OF.get(str(kernel.get("kind"))) if isinstance(kernel, dict) else None
        warmup = value.get("warmup", {}) if kind else None
        if kernel is None or not isinstance(warmup, dict):
            return value
        if warmup.get("kind", kind) != kind:
            raise ValueError(
                f"warmup.kind is {warmup['kind']!r}, but kernel {kernel['kind']!r} is tuned by "
                f"{kind!r}; leave it out"
            )
        return {**value, "warmup": {"kind": kind, **warmup}}

    @field_validator("chains")
    @classmethod
    def _more_than_one(cls, chains: int) -> int:
        if chains < 2:
            raise ValueError(
                f"got {chains}, must be at least 2: one chain cannot show convergence; use 4"
            )
        return chains

    @model_validator(mode="after")
    def _has_enough_chains(self) -> Sampler:
        fewest = FEWEST_CHAINS.get(self.kernel.kind, 2)
        if self.chains < fewest:
            raise ValueError(
                f"chains: got {self.chains}, but kernel {self.kernel.kind!r} learns from all of "
                f"them at once and needs at least {fewest}"
            )
        return self

    @model_validator(mode="after")
    def _has_gradients_to_learn_from(self) -> Sampler:
        mass_matrix = getattr(self.warmup, "mass_matrix", None)
        if self.kernel.kind == "random_walk" and mass_matrix == "low_rank":
            raise ValueError(
                "warmup.mass_matrix: low_rank learns from gradients, which kernel 'random_walk' "
                "does not compute; use diagonal or dense"
            )
        return self

    @model_validator(mode="after")
    def _keeps_whole_draws(self) -> Sampler:
        if self.draws_per_segment % self.keep_every:
            raise ValueError(
                f"draws_per_segment ({self.draws_per_segment}) must be a multiple of "
                f"keep_every ({self.keep_every})"
            )
        return self
