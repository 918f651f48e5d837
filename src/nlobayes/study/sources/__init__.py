"""The sources of tables, a file each: their columns and rows, who makes the table, user files."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

from nlobayes.errors import InputError
from nlobayes.settings.members import one_of_kinds, settings_of
from nlobayes.settings.values import Choice
from nlobayes.untyped import Document

MadeBy = Literal["simulate", "ingest", "gather"] | None
"""Stage that makes a table; None if the user provides the table."""
UNKNOWN_ROWS = 100_000
"""Assumed rows of a table that does not exist yet."""


class SourceSettings(Choice):
    """Settings of a source; each kind has a file of its name in `sources/`."""

    made_by: ClassVar[MadeBy] = None
    computes: ClassVar[tuple[str, ...]] = ()
    """Calculations of the engine that are its target; no target is learned relative to these."""
    states_process: ClassVar[bool] = True
    """Whether its table states the process, so that the user does not."""

    @property
    def circumstances(self) -> Document:
        """Pair, energy and squark mass of its cross sections, as far as it states them."""
        return {}

    @property
    def known(self) -> tuple[str, ...] | None:
        """Names of all columns that its table may have; None if only the table determines them."""
        return None

    @property
    def in_words(self) -> str:
        """Name of the source in errors."""
        return f"source {self.kind!r}"

    @property
    def given(self) -> str | None:
        """Path of the user's file or folder; None for computed sources."""
        return None

    @abstractmethod
    def rows(self, columns: int) -> int:
        """Return an upper bound of the rows of its table, given its number of feature columns."""

    def digest(self) -> str:
        """Return a digest of the user's files, since dates do not reveal changed content."""
        return ""

    def check_given(self) -> None:
        """Raise an InputError that starts with the key if a user's file is missing."""

    def check_columns(self, requested: Mapping[str, tuple[str, ...]]) -> None:
        """Refuse requested columns, listed by key, that its table does not have."""
        if self.known is None:
            return
        for key, names in requested.items():
            for name in names:
                if name not in self.known:
                    raise InputError(
                        "study.no_column",
                        where=key,
                        name=name,
                        source=self.in_words,
                        columns=self.known,
                    )

    def check_units(self, requested: Mapping[str, str]) -> None:
        """Refuse units of columns that cannot be had, as far as the source knows its units."""

    def job(self) -> Document:
        """Return the settings of the stage that makes its table."""
        return {}

    def reading(self) -> Document:
        """Return the settings with which `prepare` reads the table."""
        return {"units": {}}


class ComputedSource(SourceSettings):
    """A source that is computed by the simulator of its name (`data/simulators/`)."""

    made_by: ClassVar[MadeBy] = "simulate"

    def job(self) -> Document:
        """Return all settings, for `simulate`."""
        return {"source": self}


SOURCES = settings_of(__name__, __file__, SourceSettings)

if TYPE_CHECKING:
    Source = SourceSettings
else:
    Source = one_of_kinds(SOURCES.values())
