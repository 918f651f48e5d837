"""Settings that every prior has, and the methods that other modules of a study use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import field_validator, model_validator

from nlobayes.settings.own_function import Code
from nlobayes.settings.pinned import check_place, pin
from nlobayes.settings.values import Choice, Frozen, Positive
from nlobayes.study.slopes import Slopes


class EarlierDataFile(Frozen):
    """Earlier data: a Gaussian summary of f, written by `nlobayes condense`, now or later."""

    file: str
    """Path of the file from the root of the project."""
    sha256: str = ""
    """Digest of the file: computed if it is not given, checked if it is."""

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
    """Earlier data; their information on f is added to the prior of the weights."""

    @property
    def codes(self) -> Mapping[str, Code]:
        """User functions that state the prior, by key; none for a built-in one."""
        return {}

    learns_hyperparameters: ClassVar[bool] = False
    """Whether it learns more than the weights: scales or means, or parameters of a user
    function."""

    @property
    def is_conjugate(self) -> bool:
        """Whether its hyperparameters can be drawn exactly given all other parameters."""
        return False


class FanInScaled(PriorSettings):
    """Weights of one family whose scale falls with the fan-in; sampled non-centered."""

    scale: Positive = 1.0
    """Scale of the sum of all weights of a unit."""
    bias_scale: Positive | None = None
    """Scale of the hidden biases; null: `scale`."""
    output_bias_scale: Positive = 1.0
    """Scale of the biases of the output."""
