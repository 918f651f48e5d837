"""A column of the table as reference."""

from __future__ import annotations

from nlobayes.errors import InputError
from nlobayes.study.references import ReferenceSettings
from nlobayes.study.sources import SourceSettings


class ColumnReference(ReferenceSettings):
    """A column of the table; points to predict must also have it."""

    column: str
    """Name of the column; in the target's unit, or in one that converts to it."""

    @property
    def columns_behind(self) -> tuple[str, ...]:
        """The column, which is no feature."""
        return (self.column,)

    def completed(self, source: SourceSettings, columns: tuple[str, ...]) -> ColumnReference:
        """Return this reference, since a column needs no settings."""
        del source
        if self.column in columns:
            raise InputError("references.is_feature", column=self.column)
        return self
