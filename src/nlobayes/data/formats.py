"""Formats of the tables that are read, by the endings of their names."""

from __future__ import annotations

from pathlib import Path

from nlobayes.errors import InputError

TEXT = (".csv", ".tsv", ".txt", ".dat", ".grid")
PACKED = ".gz"
"""Ending behind that of a text table that is compressed."""
PARQUET = ".parquet"


def is_parquet(path: Path) -> bool:
    """Return whether a table is in parquet, or else in text.

    Raises
    ------
    InputError
        If the ending of its name is of neither.
    """
    name = path.name.lower()
    if not name.removesuffix(PACKED).endswith(TEXT) and not name.endswith(PARQUET):
        raise InputError("data.unknown_format", where=path, known=[*TEXT, PARQUET])
    return name.endswith(PARQUET)


def is_packed(path: Path) -> bool:
    """Return whether a text table is compressed."""
    return path.name.lower().endswith(PACKED)
