"""Settings that every likelihood has, and the methods that other modules of a study use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from nlobayes.errors import InputError
from nlobayes.settings.own_function import Code
from nlobayes.settings.values import Choice, Frozen, Positive


class LikelihoodSettings(Choice):
    """Likelihood of the target, given the outputs of the network."""

    of_classes: ClassVar[bool] = False
    """Whether the target has classes, not numbers."""
    of_one_column: ClassVar[bool] = False
    """Whether it supports only one target column."""
    has_one_sigma: ClassVar[bool] = False
    """Whether one scale, stated or learned, holds for all rows."""
    is_gaussian: ClassVar[bool] = False
    """Whether each target is Gaussian about one output, with a scale that no output determines."""

    @property
    def stated_sigma(self) -> float | None:
        """Scale stated for all rows, in units of the network's target; None if none is stated."""
        return None

    @property
    def learns_hyperparameters(self) -> bool:
        """Whether it learns parameters, such as a scale, besides the network."""
        return False

    @property
    def codes(self) -> Mapping[str, Code]:
        """User functions that state the likelihood, by key; none for a built-in one."""
        return {}

    def outputs(self, columns: int) -> int | None:
        """Count the outputs for a number of target columns; None if the table determines it."""
        return columns


class GammaPrior(Frozen):
    """Gamma prior of a precision, 1 / sigma^2."""

    shape: Positive = 1.0
    """Shape of the distribution."""
    rate: Positive = 1.0
    """Rate of the distribution; shape / rate is its mean."""


class ScaledLikelihood(LikelihoodSettings):
    """Likelihood of the same form about each output, with a stated or learned scale."""

    has_one_sigma: ClassVar[bool] = True

    sigma: Positive | None = None
    """Scale in the units of the network's target; null learns it, half-normal a priori
    unless `precision` is given."""
    scale: Positive = 1.0
    """Scale of the half-normal prior of a learned `sigma`."""
    floor: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    """Least value of a learned `sigma`, in the same units; its prior is truncated there. On targets
    without noise sigma falls to this value, which is then a tolerance."""

    precision: GammaPrior | None = None
    """Gamma prior of 1 / sigma^2 of a learned `sigma`; null: `sigma` is half-normal."""

    @model_validator(mode="after")
    def _precision_is_learned_alone(self) -> Self:
        defaults = {"sigma": None, "scale": 1.0, "floor": 0.0}
        other = [name for name, default in defaults.items() if getattr(self, name) != default]
        if self.precision is not None and other:
            raise InputError("study.precision_and_sigma", other=other)
        return self

    @model_validator(mode="after")
    def _floor_is_of_learned(self) -> Self:
        if self.floor and self.sigma is not None:
            raise InputError("study.floor_of_stated", sigma=self.sigma, floor=self.floor)
        return self

    @property
    def stated_sigma(self) -> float | None:
        """Scale stated for all rows, in units of the network's target; None if it is learned."""
        return self.sigma

    @property
    def learns_hyperparameters(self) -> bool:
        """Whether its scale is learned."""
        return self.sigma is None


class ClassLikelihood(LikelihoodSettings):
    """Likelihood of classes, whose logits are outputs divided by a temperature."""

    of_classes: ClassVar[bool] = True

    temperature: Positive = 1.0
    """Divisor of the outputs."""
