"""The adaptations that warm up kernels: their settings and needs, and what they build in JAX."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Annotated

from pydantic import Field, model_validator

from nlobayes.errors import InputError
from nlobayes.inference.adaptation import Adaptation, Untuned
from nlobayes.settings.members import one_of_kinds, settings_of
from nlobayes.settings.values import Choice, Positive, PositiveInt, Segments


class WarmupSettings(Choice):
    """Settings of a warm-up; each kind has a file of its name."""

    steps: PositiveInt = 400
    """Draws before sampling; only their statistics are kept."""
    segments: Segments = 1
    """Consecutive jobs; a killed warm-up continues from the last complete one."""
    adaptation_share: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Share of the steps that adapt; the rest is burn-in with all parameters frozen."""
    initial_step_size: Positive = 1e-3
    """Start of the search for the step size; a small value is safe."""

    @model_validator(mode="after")
    def _has_whole_segments(self) -> WarmupSettings:
        if self.steps % self.segments:
            raise InputError("study.uneven_segments", steps=self.steps, segments=self.segments)
        return self

    @property
    def steps_per_segment(self) -> int:
        """Number of steps of one segment."""
        return self.steps // self.segments

    @property
    def adapting(self) -> int:
        """Number of steps that adapt."""
        return max(1, int(self.adaptation_share * self.steps))

    @property
    def form_of_mass_matrix(self) -> str:
        """Form of the mass matrix that it learns or keeps."""
        return "diagonal"

    @property
    def most_learned_steps(self) -> int:
        """Most leapfrog steps per draw that it may choose; 1 if it does not choose them."""
        return 1

    @property
    def aimed_energy_variance(self) -> float | None:
        """Target of the energy variance per dimension; None if there is none."""
        return None

    def matrix_numbers(self, weights: int, train: int) -> int:
        """Count the numbers of the mass matrix for a number of weights and of train rows."""
        del train
        return weights

    @abstractmethod
    def build(self, untuned: Untuned) -> Adaptation:
        """Build the adaptation of a kernel."""


WARMUPS = settings_of(__name__, __file__, WarmupSettings)

if TYPE_CHECKING:
    Warmup = WarmupSettings
else:
    Warmup = one_of_kinds(WARMUPS.values())
