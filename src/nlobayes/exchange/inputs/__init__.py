"""How a program takes a point: the members of the family of its input files.

A program without an input file takes points by fields in its command alone.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field

from nlobayes.errors import InputError
from nlobayes.settings.members import one_of_kinds, settings_of
from nlobayes.settings.values import Choice


def _is_a_name(name: str) -> str:
    if "/" in name or name in (".", "..") or not name.isprintable():
        raise InputError("programs.file_name", name=name)
    return name


FileName = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_is_a_name)]


class InputSettings(Choice):
    """Settings of an input file; each kind is in a file of `exchange/inputs/`."""

    name: FileName
    """Name of the file in the folder where the program runs."""

    @abstractmethod
    def fields(self) -> tuple[str, ...] | None:
        """List the columns that enter the file; None if all do.

        Raises InputError if a file of the user cannot be read.
        """

    @abstractmethod
    def text(self, point: Mapping[str, float]) -> str:
        """Write the content of the file for the values of a point, by column."""


INPUTS = settings_of(__name__, __file__, InputSettings)

if TYPE_CHECKING:
    Input = InputSettings
else:
    Input = one_of_kinds(INPUTS.values())
