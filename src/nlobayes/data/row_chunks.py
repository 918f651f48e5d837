"""Chunks of the rows of a table of any length; unusable rows are reported, not refused."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, Protocol

import numpy as np

from nlobayes.data.cells import PLAIN, Notation, hint_of, number_of, parse_cells
from nlobayes.data.units import convert
from nlobayes.errors import InputError, shorten

ROWS = 8192
"""Most rows of a chunk."""
MOST_BYTES = 64 * 2**20
"""Most memory of the requested cells of a chunk; chunks of wide rows have fewer rows."""

MOST_OF_A_CELL = 100
"""Most characters of a cell that a message quotes."""

NO_NOTATIONS: Mapping[str, Notation] = MappingProxyType({})


class Chunk(NamedTuple):
    """Consecutive rows of the columns requested."""

    labels: np.ndarray
    """Name of each row: its number from 1, or its file."""
    columns: dict[str, np.ndarray]
    """Cells by column: float64, or unparsed text."""
    faults: dict[int, str]
    """Reason why a row cannot be used, by its position in the chunk."""
    share: float
    """Share of the table read so far, from 0 to 1; NaN where the end is unknown."""


class Source(NamedTuple):
    """Open table: its name in messages, the kind of its row labels, its columns and its chunks.

    `units` and `notations` (of text) have the unit and the notation of each column.
    """

    name: str
    label: str
    units: dict[str, str]
    chunks: Iterator[Chunk]
    notations: Mapping[str, Notation] = NO_NOTATIONS


class Chunks(Protocol):
    """Reader of the rows of some columns; `strict` refuses rows that others report as faults."""

    def __call__(self, columns: Sequence[str], rows: int | None, strict: bool) -> Iterator[Chunk]:
        """Read chunks of at most so many rows; None reads all that fit into memory at once."""
        ...


class OpenTable(NamedTuple):
    """What the header of a file states, and its chunks; only text has `notations`."""

    units: dict[str, str]
    metadata: dict[str, str]
    chunks: Chunks
    notations: Mapping[str, Notation] = NO_NOTATIONS


def check_size(size: float, most_bytes: float, source: str) -> None:
    """Refuse a table that is larger than the study allows."""
    if size > most_bytes:
        raise InputError("data.table_too_large", where=source, most_mb=most_bytes / 1e6)


def numbers(
    source: Source, chunk: Chunk, units: Mapping[str, str]
) -> tuple[np.ndarray, dict[int, str]]:
    """Convert the columns of a chunk that `units` names to numbers in these units.

    A column without a unit is taken to be in the requested one.

    Raises InputError if a unit is not known, or of another kind.

    Returns values (row, column), not finite where a cell is not a finite number, and all faults of
    the chunk.
    """
    values = np.empty((len(chunk.labels), len(units)))
    faults = dict(chunk.faults)
    for position, (name, unit) in enumerate(units.items()):
        cells = chunk.columns[name]
        found = _numbers(cells, source.notations.get(name, PLAIN))
        for row in np.flatnonzero(~np.isfinite(found)).tolist():
            cell = shorten(str(cells[row]), MOST_OF_A_CELL)
            hint = f" ({why})" if (why := hint_of(cell)) else ""
            faults.setdefault(row, f"column {name!r} holds {cell!r}, no finite number{hint}")
        values[:, position] = _in_unit(found, name, (source.units[name], unit), source.name)
    return values, faults


def _numbers(cells: np.ndarray, notation: Notation) -> np.ndarray:
    if cells.dtype != object:
        return cells
    parsed = parse_cells(cells.tolist(), notation)
    if parsed.dtype != object:
        return parsed
    found = (number_of(str(cell), notation) for cell in cells)
    return np.array([math.nan if number is None else number for number in found])


def _in_unit(values: np.ndarray, name: str, units: tuple[str, str], source: str) -> np.ndarray:
    given, requested = units
    if given in ("", requested) or requested == "":
        return values
    try:
        return convert(values, given, requested)
    except InputError as error:
        raise InputError(
            "data.unit_not_convertible",
            where=source,
            name=name,
            unit=given,
            requested=requested,
            reason=error.reason,
        ) from None
