"""Settings of Pathfinder."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from nlobayes.settings.values import Positive, PositiveInt
from nlobayes.study.methods._modes import FromModes


class Pathfinder(FromModes):
    """Gaussians along L-BFGS paths to each MAP, resampled by importance; an approximation."""

    kind: Literal["pathfinder"]
    candidates: Annotated[int, Field(ge=25, le=1_000_000)] = 4000
    """Draws of all paths, from which `draws` are chosen."""
    resample: bool = True
    """Whether they are chosen by importance weights; otherwise `draws` are taken in their order."""
    displacement: Positive = 0.1
    """Distance from its MAP at which each path begins, in standard deviations of the prior."""
    iterations: PositiveInt = 500
    """Most steps of a path."""
    history: PositiveInt = 100
    """Number of last steps from which an inverse Hessian is estimated."""
    draws_per_step: PositiveInt = 16
    """Draws from which the ELBO of a step is estimated."""

    @property
    def gradients(self) -> int:
        """Count a few per step for its length, and the draws of its ELBO."""
        return self.modes * self.iterations * (4 + self.draws_per_step)

    def matrix_numbers(self, parameters: int, train: int) -> int:
        """Count the numbers of the paths, and of the factors of one step."""
        del train
        return 6 * self.iterations * parameters + 8 * self.history * (parameters + self.history)
