"""A column of the table, which points to predict must also have: `{column, unit}`."""

from __future__ import annotations

from collections.abc import Mapping

from nlobayes.data.references import Reference, Settings
from nlobayes.untyped import Array, Document


class Column(Reference):
    """A column by its name."""

    def __init__(self, *, column: str, unit: str = "") -> None:
        self.name = self.in_words = column
        self.meaning = f"column {column}, which points must have"
        self.columns = self.behind = (column,)
        self.unit = unit

    def at(self, named: Mapping[str, Array]) -> Array:
        """Select the column."""
        return named[self.name]

    def allowed(self, which: str) -> str:
        """Name the column and the sign of its numbers."""
        return f"{which} {self.name}"


build = Column


def facts() -> Document:
    """State nothing: the table has the numbers."""
    return {}


def is_whole(settings: Settings) -> bool:
    """Return whether the settings name a column, and nothing else but the unit."""
    return settings.keys() == {"column", "unit"} and isinstance(settings["column"], str)
