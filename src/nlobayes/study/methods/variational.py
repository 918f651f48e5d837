"""Settings of variational inference."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from nlobayes.settings.values import Positive, PositiveInt
from nlobayes.study.methods._modes import FromModes, dense_numbers

ADAM = 6
"""Arrays of the size of the parameters in a step: parameters, gradient, update, moments, root."""


class Variational(FromModes):
    """The Gaussian with the largest evidence bound (ELBO) about each MAP; an approximation."""

    kind: Literal["variational"]
    covariance: Literal["full", "diagonal", "low_rank"] = "full"
    """`full` is for up to 4000 parameters. `diagonal` treats parameters as independent (mean
    field). `low_rank` is a diagonal plus `rank` directions, in units of a Laplace approximation of
    that rank."""
    rank: PositiveInt = 50
    """Directions of `low_rank`."""
    steps: Annotated[int, Field(ge=1, le=10_000_000)] = 4000
    """Steps of Adam about each MAP; `slope_over_error` of the file shows whether they suffice."""
    draws_per_step: PositiveInt = 8
    """Draws of the Gaussian that estimate a gradient."""
    step_size: Positive = 0.02
    """Initial step size, in standard deviations of a Laplace approximation; it falls to zero along
    a cosine."""
    weights: Literal["equal", "evidence"] = "equal"
    """Share of each MAP in the draws: the same, or by its ELBO, which bounds its evidence."""

    @property
    def has_dense_curvature(self) -> bool:
        """Whether its covariance is full."""
        return self.covariance == "full"

    @property
    def gradients(self) -> int:
        """Count one per draw of each step."""
        return self.modes * self.steps * self.draws_per_step

    def matrix_numbers(self, parameters: int, train: int) -> int:
        """Count the numbers of the curvature and of the state of Adam."""
        if self.covariance == "full":
            return dense_numbers(parameters, train) + ADAM * parameters**2
        return (3 + ADAM) * self.rank * parameters if self.covariance == "low_rank" else 0
