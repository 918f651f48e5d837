"""The vocabulary of warm-ups: how each kind adapts, and for how long."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from nlobayes.study.values import Fraction, Frozen, Positive, PositiveInt, Segments

FEWEST_ADAPTING_STEPS = 20


class _Warmup(Frozen):
    """What every warm-up has: its length, its pieces, and where the step size starts."""

    steps: PositiveInt = 400
    """Draws before sampling; they are not kept, their stats are."""
    segments: Segments = 1
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
