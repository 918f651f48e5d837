"""Settings that every likelihood has, and what the rest of a study asks of them."""

from __future__ import annotations

from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from nlobayes.errors import InputError
from nlobayes.study.values import Choice, Positive


class LikelihoodSettings(Choice):
    """Likelihood of the target, given the outputs of the network."""

    of_classes: ClassVar[bool] = False
    """Whether the target is classes, not numbers."""
    of_one_column: ClassVar[bool] = False
    """Whether it takes one target column alone."""
    has_one_sigma: ClassVar[bool] = False
    """Whether one scale, stated or learned, holds for all rows."""
    is_gaussian: ClassVar[bool] = False
    """Whether each target is Gaussian about one output, with a scale that no output sets."""

    @property
    def stated_sigma(self) -> float | None:
        """Scale stated for all rows, in units of the network's target; None where none is."""
        return None

    def outputs(self, columns: int) -> int | None:
        """Count the outputs for so many target columns; None where only the table says it."""
        return columns


class ScaledLikelihood(LikelihoodSettings):
    """Likelihood of one shape about each output, whose scale is stated or learned."""

    has_one_sigma: ClassVar[bool] = True

    sigma: Positive | None = None
    """Scale in the units of the network's target; null learns it, half-normal a priori."""
    scale: Positive = 1.0
    """Scale of the half-normal prior of a learned `sigma`."""
    floor: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    """Least value of a learned `sigma`, in the same units; its prior is cut off below. On targets
    without noise sigma falls to it: there it is a tolerance."""

    @model_validator(mode="after")
    def _floor_is_of_learned(self) -> Self:
        if self.floor and self.sigma is not None:
            raise InputError("study.floor_of_stated", sigma=self.sigma, floor=self.floor)
        return self

    @property
    def stated_sigma(self) -> float | None:
        """Scale stated for all rows, in units of the network's target; None where learned."""
        return self.sigma


class ClassLikelihood(LikelihoodSettings):
    """Likelihood of classes, whose logits are outputs over a temperature."""

    of_classes: ClassVar[bool] = True

    temperature: Positive = 1.0
    """What the outputs are divided by."""
