"""Settings of every kind of source: columns and rows, the maker of its table, files of the user."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator

from nlobayes.errors import InputError
from nlobayes.study.values import Choice

MadeBy = Literal["simulate", "ingest"] | None
"""Stage that makes a table; None where the user gives the table itself."""
UNKNOWN_ROWS = 100_000
"""Rows of a table that is not there yet."""


def stays_inside(path: str) -> str:
    """Refuse a path that is empty, climbs out of its folder or does not print."""
    parts = PurePosixPath(path).parts
    if not parts or ".." in parts:
        raise InputError("study.path_climbs", path=path)
    if not path.isprintable():
        raise InputError("study.path_not_printable", path=path)
    return path


GivenPath = Annotated[str, AfterValidator(stays_inside)]


class SourceSettings(Choice):
    """Settings of a source; those of one kind are in the file of its name in `sources/`."""

    made_by: ClassVar[MadeBy] = None
    computes: ClassVar[tuple[str, ...]] = ()
    """Calculations of the engine that are its target: nothing is learned relative to these."""

    @property
    def circumstances(self) -> dict[str, Any]:
        """Pair, energy and squark mass of its cross sections, as far as it knows them."""
        return {}

    @property
    def known(self) -> tuple[str, ...] | None:
        """Names of all columns that its table may have; None where only the table has it."""
        return None

    @property
    def in_words(self) -> str:
        """What an error calls it."""
        return f"source {self.kind!r}"

    @property
    def given(self) -> str | None:
        """Path of the file or folder of the user; None where all is computed."""
        return None

    @abstractmethod
    def rows(self, columns: int) -> int:
        """Bound the rows of its table, of which so many columns are features."""

    def digest(self) -> str:
        """Digest what the user gives, for dates do not show that its content is another."""
        return ""

    def check_given(self) -> None:
        """Refuse, by an InputError that starts with the key, what a user gives and is not there."""

    def check_columns(self, asked: Mapping[str, tuple[str, ...]]) -> None:
        """Refuse columns, by the key that names them, that its table does not have."""
        if self.known is None:
            return
        for key, names in asked.items():
            for name in names:
                if name not in self.known:
                    raise InputError(
                        "study.no_column",
                        where=key,
                        name=name,
                        source=self.in_words,
                        columns=self.known,
                    )

    def job(self) -> dict[str, Any]:
        """Give the stage that makes its table what it needs."""
        return {}

    def reading(self) -> dict[str, Any]:
        """Give `prepare` the settings for reading the table."""
        return {"units": {}}


class ComputedSource(SourceSettings):
    """A source that the simulator of its name computes (`data/simulators/`)."""

    made_by: ClassVar[MadeBy] = "simulate"

    def job(self) -> dict[str, Any]:
        """Give `simulate` all settings."""
        return {"source": self}
