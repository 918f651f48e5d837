"""Settings that every prior has, and the methods that the rest of a study needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import field_validator, model_validator

from nlobayes.study.own_function import Code
from nlobayes.study.pinned import check_place, pin
from nlobayes.study.slopes import Slopes
from nlobayes.study.values import Choice, Frozen, Positive


class EarlierDataFile(Frozen):
    """Earlier data: a Gaussian summary of f, written by `nlobayes condense`, now or later."""

    file: str
    """Path of the file from the root of the project."""
    sha256: str = ""
    """Digest of the file: filled in from it, and checked where it is given."""

    @field_validator("file")
    @classmethod
    def _is_an_artifact(cls, file: str) -> str:
        return check_place(file, ".nc")

    @model_validator(mode="before")
    @classmethod
    def _digest(cls, value: Any) -> Any:
        return pin(value, needed=False)


class PriorSettings(Choice):
    """Prior of weights and biases."""

    NOT_OWN: ClassVar[frozenset[str]] = frozenset({"kind", "slopes", "earlier"})

    RENAMED: ClassVar[Mapping[str, str]] = {"memory": "earlier"}

    output_is_gaussian: ClassVar[bool] = False
    """Whether weights and biases of the output are Gaussian given their scales and means."""

    slopes: Slopes | None = None
    """Prior of the trained slopes, which the activations `prelu` and `square_prelu` need."""
    earlier: EarlierDataFile | None = None
    """Earlier data, whose information on f is added to the prior of the weights."""

    @property
    def codes(self) -> Mapping[str, Code]:
        """Functions of the user that state the prior, by key; none where it is ours."""
        return {}

    learns_hyperparameters: ClassVar[bool] = False
    """Whether it learns more than the weights: scales or means, or what a function of yours may."""

    @property
    def is_conjugate(self) -> bool:
        """Whether hyperparameters of it can be drawn given all else."""
        return False


class FanInScaled(PriorSettings):
    """Weights of one family whose scale falls with the units that enter; sampled non-centered."""

    scale: Positive = 1.0
    """Scale of what all weights of a unit add up to."""
    bias_scale: Positive | None = None
    """Scale of the hidden biases; null: `scale`."""
    output_bias_scale: Positive = 1.0
    """Scale of the biases of the output."""
