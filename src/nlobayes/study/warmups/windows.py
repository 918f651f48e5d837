"""Settings of the warm-up in Stan's windows."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from nlobayes.errors import InputError
from nlobayes.settings.values import Fraction, Frozen, Positive, PositiveInt
from nlobayes.study.warmup import WarmupSettings

FEWEST_ADAPTING_STEPS = 20


class DualAveraging(Frozen):
    """Constants of dual averaging, as Hoffman and Gelman (2014), section 3.2, name them."""

    gamma: Positive = 0.05
    """Damping: a larger value makes the step size follow the errors of the acceptance less."""
    t0: Annotated[int, Field(ge=0, le=1_000_000)] = 10
    """Offset that reduces the weight of the first steps."""
    kappa: Annotated[float, Field(gt=0.5, le=1)] = 0.75
    """Exponent of the average: a smaller value forgets the first step sizes faster."""
    mu_over_start: Positive = 10.0
    """Step size towards which it shrinks (mu is its logarithm), over the initial step size."""


class WindowWarmup(WarmupSettings):
    """Step size by dual averaging, mass matrix in Stan's windows."""

    kind: Literal["windows"] = "windows"
    mass_matrix: Literal["diagonal", "dense", "low_rank", "gauss_newton", "identity"] = "diagonal"
    """Learn the diagonal or the full matrix from draws, a diagonal with a low-rank correction from
    draws and gradients, or the full matrix from the curvature along the chain; or keep the
    identity."""
    target_acceptance: Fraction = 0.7
    """Target of dual averaging for the mean acceptance; the result is above it."""
    last_window: PositiveInt = 50
    """Steps at the end of the adaptation that learn the step size alone."""

    dual_averaging: DualAveraging = DualAveraging()
    """Constants of dual averaging."""

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
        """Count the numbers of the mass matrix, and of the Jacobian if it is learned from one."""
        jacobian = weights * train if self.mass_matrix == "gauss_newton" else 0
        dense = self.mass_matrix in {"dense", "low_rank", "gauss_newton"}
        return jacobian + (weights**2 if dense else weights)
