"""Settings of the warm-up in Stan's windows."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from nlobayes.errors import InputError
from nlobayes.study.values import Fraction, PositiveInt
from nlobayes.study.warmup import WarmupSettings

FEWEST_ADAPTING_STEPS = 20


class WindowWarmup(WarmupSettings):
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
            raise InputError(
                "study.no_window",
                steps=self.adapting,
                mass_matrix=self.mass_matrix,
                fewest=FEWEST_ADAPTING_STEPS,
            )
        return self

    @property
    def form_of_mass_matrix(self) -> str:
        """Form of the mass matrix that it learns or keeps."""
        return self.mass_matrix

    def matrix_numbers(self, weights: int, train: int) -> int:
        """Count the numbers of the mass matrix, and of the Jacobian where one teaches it."""
        jacobian = weights * train if self.mass_matrix == "gauss_newton" else 0
        dense = self.mass_matrix in {"dense", "low_rank", "gauss_newton"}
        return jacobian + (weights**2 if dense else weights)
