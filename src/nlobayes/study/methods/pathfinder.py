"""Settings of Pathfinder."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from nlobayes.study.methods._modes import FromModes
from nlobayes.study.values import Positive, PositiveInt


class Pathfinder(FromModes):
    """Gaussians along L-BFGS paths to each MAP, resampled by importance; an approximation."""

    kind: Literal["pathfinder"]
    candidates: Annotated[int, Field(ge=25, le=1_000_000)] = 4000
    """Draws of all paths that `draws` are chosen of."""
    resample: bool = True
    """Whether they are chosen by importance; else `draws` are taken as they come."""
    displacement: Positive = 0.1
    """How far from its MAP each path begins, in sds of the prior."""
    iterations: PositiveInt = 500
    """Steps of a path at most."""
    history: PositiveInt = 100
    """Last steps that an inverse Hessian is made of."""
    draws_per_step: PositiveInt = 16
    """Draws that estimate the ELBO of a step."""

    @property
    def gradients(self) -> int:
        """A step takes a few for its length, and the draws of its ELBO."""
        return self.modes * self.iterations * (4 + self.draws_per_step)

    def matrix_numbers(self, parameters: int, train: int) -> int:
        """Count those of the paths, and of the factors of one step."""
        del train
        return 6 * self.iterations * parameters + 8 * self.history * (parameters + self.history)
