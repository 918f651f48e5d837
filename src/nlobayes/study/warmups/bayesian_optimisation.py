"""Settings of the warm-up by Bayesian optimisation."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from nlobayes.errors import InputError
from nlobayes.settings.values import Positive, PositiveInt
from nlobayes.study.warmup import WarmupSettings


class BayesianOptimisationWarmup(WarmupSettings):
    """Choice of step size and steps by the squared jump over sqrt(L), as in TensorBNN."""

    kind: Literal["bayesian_optimisation"] = "bayesian_optimisation"
    step_size_min: Positive = 1e-4
    """Smallest candidate of the step size."""
    step_size_max: Positive = 0.1
    """Largest candidate of the step size."""
    step_size_points: Annotated[int, Field(ge=2)] = 16
    """Number of candidates, evenly spaced in the logarithm."""
    integration_steps_min: PositiveInt = 16
    """Fewest leapfrog steps."""
    integration_steps_max: PositiveInt = 512
    """Most leapfrog steps."""
    integration_steps_points: Annotated[int, Field(ge=2)] = 8
    """Number of candidates, evenly spaced in the logarithm."""
    batch: PositiveInt = 10
    """Draws that score one candidate."""
    random_candidates: Annotated[int, Field(ge=0, le=10_000)] = 0
    """Number of first candidates that are drawn at random; 20 in TensorBNN."""
    reset_after: PositiveInt | None = None
    """Consecutive rejections after which it restarts with half the step sizes, in the first half of
    the adaptation; 50 in TensorBNN. Null: never."""

    @model_validator(mode="after")
    def _has_candidates(self) -> BayesianOptimisationWarmup:
        _check_range("step_size", self.step_size_min, self.step_size_max)
        _check_range("integration_steps", self.integration_steps_min, self.integration_steps_max)
        if self.adapting < self.batch:
            raise InputError(
                "study.no_candidate", steps=self.adapting, batch=self.batch, better=80 * self.batch
            )
        return self

    @property
    def most_learned_steps(self) -> int:
        """Most leapfrog steps among the candidates."""
        return self.integration_steps_max


def _check_range(name: str, least: float, most: float) -> None:
    if least > most:
        raise InputError("study.empty_range", name=name, least=least, most=most)
