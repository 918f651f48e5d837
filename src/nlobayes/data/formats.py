"""Formats of the tables that are read, by the endings of their names, and why one is not read."""

from __future__ import annotations

import csv
import zlib
from pathlib import Path

import pyarrow as pa

from nlobayes.errors import InputError

TEXT = (".csv", ".tsv", ".txt", ".dat", ".grid")
PACKED = ".gz"
"""Ending behind that of a text table that is compressed."""
PARQUET = ".parquet"
READ_ERRORS = (
    OSError,
    EOFError,
    MemoryError,
    OverflowError,
    ValueError,
    csv.Error,
    pa.ArrowException,
    zlib.error,
)
OTHER_ENCODING = "give text in UTF-8: `iconv -f LATIN1 -t UTF-8 OLD > NEW` converts Latin-1"


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


def unreadable(error: Exception, where: Path | str) -> InputError:
    """Say in one line why a table cannot be read, and what to do."""
    if isinstance(error, FileNotFoundError):
        return InputError("data.no_such_file", where=where)
    remedy = OTHER_ENCODING if isinstance(error, UnicodeDecodeError) else "give a complete file"
    reason = " ".join(str(error).split())
    return InputError("data.unreadable_table", where=where, reason=reason, remedy=remedy)
