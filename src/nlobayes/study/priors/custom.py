"""Settings of a prior of the user's own."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import field_validator, model_validator

from nlobayes.study.pinned import check_place, pin
from nlobayes.study.prior import Code, PriorSettings


class CustomPrior(PriorSettings):
    """A prior of your own: a function in a Python file that states each array in PyMC."""

    NOT_OWN: ClassVar[frozenset[str]] = PriorSettings.NOT_OWN | {"file", "function", "sha256"}

    kind: Literal["custom"]
    file: str
    """Path of the file from the root of the project."""
    function: str
    """Name of the function, called with the parameters of one array and the settings."""
    settings: dict[str, float | int | str | bool] = {}
    """Keyword arguments of the function."""
    sha256: str = ""
    """Digest of the file: filled in from it, and checked where it is given."""

    @field_validator("file")
    @classmethod
    def _is_a_python_file(cls, file: str) -> str:
        return check_place(file, ".py")

    @model_validator(mode="before")
    @classmethod
    def _digest(cls, value: Any) -> Any:
        return pin(value)

    @property
    def code(self) -> Code:
        """Function of the user that states the prior."""
        return Code(self.file, self.function, self.sha256)
