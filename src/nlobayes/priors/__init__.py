"""The priors of weights and biases: settings, and the arrays that they define in PyMC.

A file has the settings of one kind, or of several that differ little. PyMC and JAX are imported
where a model is built.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import field_validator, model_validator

from nlobayes.model.prior import Conditional, Parameters
from nlobayes.priors.slopes import Slopes
from nlobayes.settings.members import one_of_kinds, settings_of
from nlobayes.settings.user_files import Code, check_place, pin
from nlobayes.settings.values import Choice, Frozen
from nlobayes.untyped import Array


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

    RENAMED: ClassVar[Mapping[str, str]] = {"memory": "earlier"}

    output_is_gaussian: ClassVar[bool] = False
    """Whether weights and biases of the output are Gaussian given their scales and means."""
    learns_hyperparameters: ClassVar[bool] = False
    """Whether it learns more than the weights: scales or means, or parameters of a user
    function."""

    slopes: Slopes | None = None
    """Prior of the trained slopes, which the activations `prelu` and `square_prelu` need."""
    earlier: EarlierDataFile | None = None
    """Earlier data; their information on f is added to the prior of the weights."""

    @property
    def codes(self) -> Mapping[str, Code]:
        """User functions that state the prior, by key; none for a built-in one."""
        return {}

    @property
    def is_conjugate(self) -> bool:
        """Whether its hyperparameters can be drawn exactly given all other parameters."""
        return False

    @abstractmethod
    def state(self, parameters: Parameters) -> Array:
        """Define one array as a PyMC variable with its dims."""

    def conditionals(self, arrays: Sequence[Parameters]) -> list[Conditional]:
        """List the conjugate hyperparameters of these arrays; none by default."""
        del arrays
        return []


PRIORS = settings_of(__name__, __file__, PriorSettings)

if TYPE_CHECKING:
    Prior = PriorSettings
else:
    Prior = one_of_kinds(PRIORS.values())
