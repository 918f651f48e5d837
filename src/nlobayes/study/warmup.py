"""Settings of every warm-up: its length, segments, needs and adapted values."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, model_validator

from nlobayes.errors import InputError
from nlobayes.study.values import Frozen, Positive, PositiveInt, Segments


class WarmupSettings(Frozen):
    """Settings of a warm-up; those of one kind are in the file of its name in `warmups/`."""

    kind: str
    steps: PositiveInt = 400
    """Draws before sampling; they are not kept, their stats are."""
    segments: Segments = 1
    """Jobs in a row; a killed warm-up continues from the last complete one."""
    adaptation_share: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Share of the steps that adapt; the rest is burn-in with everything frozen."""
    initial_step_size: Positive = 1e-3
    """Where the search of the step size starts; small is safe."""

    @model_validator(mode="after")
    def _has_whole_segments(self) -> WarmupSettings:
        if self.steps % self.segments:
            raise InputError("study.uneven_segments", steps=self.steps, segments=self.segments)
        return self

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of the adaptation itself, which does not know how it is cut into jobs."""
        return self.model_dump(exclude={"kind", "segments"})

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
        """Most leapfrog steps per draw that it may choose; 1 where it chooses none."""
        return 1

    @property
    def aimed_energy_variance(self) -> float | None:
        """Energy variance per dimension that it aims at; None where it aims at none."""
        return None

    def matrix_numbers(self, weights: int, train: int) -> int:
        """Count the numbers of the mass matrix of so many weights, learned from train rows."""
        del train
        return weights
