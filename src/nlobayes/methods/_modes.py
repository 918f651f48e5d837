"""Approximations about several MAPs, of which Gaussians are the parts."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from nlobayes.errors import InputError
from nlobayes.methods import ApproximationSettings

COPIES = 6
"""Number of such matrices that are held at once."""


class FromModes(ApproximationSettings):
    """An approximation about several MAPs, whose draws are one sample."""

    modes: Annotated[int, Field(ge=1, le=1000)] = 4
    """Number of MAPs, each from its own start."""
    draws: Annotated[int, Field(ge=2, le=100_000)] = 1000
    """Draws from all of them together."""

    @property
    def starts(self) -> list[int]:
        """Numbers of the MAPs that it needs."""
        return list(range(self.modes))

    @property
    def draws_of_all(self) -> int:
        """Draws of all modes together."""
        return self.draws

    @model_validator(mode="after")
    def _draws_of_every_mode(self) -> FromModes:
        if self.draws < self.modes:
            raise InputError("study.few_draws_of_modes", draws=self.draws, modes=self.modes)
        return self


def dense_numbers(parameters: int, train: int) -> int:
    """Count the numbers of dense matrices of the curvature and of the Jacobian."""
    return COPIES * parameters * (parameters + train)
