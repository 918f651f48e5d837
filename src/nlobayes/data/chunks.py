"""Chunked reading of tables of any length; unusable rows are reported, not refused."""

from __future__ import annotations

import gzip
import math
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from io import BufferedReader
from pathlib import Path
from sys import getsizeof
from types import MappingProxyType
from typing import BinaryIO, NamedTuple, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from nlobayes.data.cells import PLAIN, Notation, hint_of, number_of, parse_cells
from nlobayes.data.csv_text import decoded, read_header, read_lines
from nlobayes.data.formats import READ_ERRORS, is_packed, is_parquet, unreadable
from nlobayes.data.headers import check_known
from nlobayes.data.parquet_table import check_parquet, from_arrow
from nlobayes.data.units import convert
from nlobayes.errors import InputError, shorten

ROWS = 8192
"""Most rows of a chunk."""
MOST_BYTES = 64 * 2**20
"""Most memory of the requested cells of a chunk; chunks of wide rows have fewer rows."""

MOST_OF_A_CELL = 100
"""Most characters of a cell that a message quotes."""

_BUFFER = 2**20


class Chunk(NamedTuple):
    """Consecutive rows of the columns requested.

    Attributes
    ----------
    labels
        Name of each row: its number from 1, or its file.
    columns
        Cells by column: float64, or unparsed text.
    faults
        Reason why a row cannot be used, by its position in the chunk.
    share
        Share of the table read so far, from 0 to 1; NaN where the end is unknown.
    """

    labels: np.ndarray
    columns: dict[str, np.ndarray]
    faults: dict[int, str]
    share: float


class Source(NamedTuple):
    """Open table: its name in messages, the kind of its row labels, its columns and its chunks.

    `units` and `notations` (of text) have the unit and the notation of each column.
    """

    name: str
    label: str
    units: dict[str, str]
    chunks: Iterator[Chunk]
    notations: Mapping[str, Notation] = MappingProxyType({})


@contextmanager
def open_table(
    path: Path,
    columns: Sequence[str],
    rows: int = ROWS,
    optional: Sequence[str] = (),
    names: Sequence[str] = (),
) -> Iterator[Source]:
    """Open a text or parquet file to read these columns in chunks of rows.

    Columns that are `optional` are read if the file has them. `names` are the header cells of a
    text table without a header.

    Raises
    ------
    InputError
        If the file is no such table, lacks a column, or cannot be read.
    """
    parquet = is_parquet(path)
    with _readable(str(path)):
        if not stat.S_ISREG(path.stat().st_mode):
            raise OSError("not a regular file")
        size = path.stat().st_size
        file = path.open("rb")
    with file:
        if parquet:
            yield _open_parquet(file, columns, rows, str(path), optional, names)
        else:
            unpacked = cast(BinaryIO, gzip.GzipFile(fileobj=file)) if is_packed(path) else file
            share = partial(_share, file, size)
            yield open_csv(unpacked, columns, str(path), rows, share, optional, names)


def open_csv(
    file: BinaryIO,
    columns: Sequence[str],
    name: str,
    rows: int = ROWS,
    share: Callable[[], float] = lambda: math.nan,
    optional: Sequence[str] = (),
    names: Sequence[str] = (),
) -> Source:
    """Open a stream of text to read these columns in chunks of rows; arguments as `open_table`.

    Raises
    ------
    InputError
        As `open_table`.
    """
    with _readable(name):
        text = decoded(file)
        header, cells = read_header(read_lines(text, math.inf, name), name, names)
    for column in columns:
        check_known(header.names, column, name)
    read = (*columns, *(name for name in optional if name in header.names))
    places = {column: header.names.index(column) for column in read}

    def chunks() -> Iterator[Chunk]:
        first = 1
        for some, faults in _gather(cells, [*places.values()], len(header.names), rows):
            labels = np.arange(first, first + len(some))
            by_column = zip(places, zip(*some, strict=True), strict=True)
            columns = {name: np.array(found, dtype=object) for name, found in by_column}
            yield Chunk(labels, columns, faults, share())
            first += len(some)
        cast(BufferedReader, text.detach()).detach()  # otherwise their deletion closes the file

    notations = dict(zip(header.names, header.notations, strict=True))
    return Source(name, "row", header.units, _checked(chunks(), read, name), notations)


def numbers(
    source: Source, chunk: Chunk, units: Mapping[str, str]
) -> tuple[np.ndarray, dict[int, str]]:
    """Convert the columns of a chunk that `units` names to numbers in these units.

    A column without a unit is taken to be in the requested one.

    Returns
    -------
    Values (row, column), not finite where a cell is not a finite number, and all faults of the
    chunk.

    Raises
    ------
    InputError
        If a unit is not known, or of another kind.
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


def _share(file: BinaryIO, size: int) -> float:
    return file.tell() / size


def _open_parquet(
    file: BinaryIO,
    columns: Sequence[str],
    rows: int,
    name: str,
    optional: Sequence[str],
    names: Sequence[str],
) -> Source:
    with _readable(name):
        stored = pq.ParquetFile(
            file,
            pre_buffer=False,
            buffer_size=_BUFFER,
            page_checksum_verification=True,
            read_dictionary=[*columns, *optional],  # repeated texts are held in memory once
        )
        check_parquet(stored, math.inf, name, names)
        fields = {field.name: (field.metadata or {}) for field in stored.schema_arrow}
        units = {column: found.get(b"unit", b"").decode() for column, found in fields.items()}
    for column in columns:
        check_known(units, column, name)
    read = list(dict.fromkeys((*columns, *(column for column in optional if column in units))))

    def chunks() -> Iterator[Chunk]:
        first = 1
        for batch in stored.iter_batches(_fitting(stored, read, rows), columns=read):
            batch.validate(full=True)
            labels = np.arange(first, first + len(batch))
            named = {n: from_arrow(pa.chunked_array([batch[n]])) for n in read}
            first += len(batch)
            yield Chunk(labels, named, {}, (first - 1) / stored.metadata.num_rows)

    return Source(name, "row", units, _checked(chunks(), read, name))


def _fitting(stored: pq.ParquetFile, columns: Sequence[str], rows: int) -> int:
    """Return how many rows a chunk may hold, from the sizes that the file's metadata state."""
    widest = 1.0
    for number in range(stored.metadata.num_row_groups):
        group = stored.metadata.row_group(number)
        chunks = (group.column(place) for place in range(group.num_columns))
        size = sum(c.total_uncompressed_size for c in chunks if c.path_in_schema in columns)
        widest = max(widest, size / max(group.num_rows, 1))
    return max(1, min(rows, int(MOST_BYTES / widest)))


def _checked(chunks: Iterator[Chunk], columns: Sequence[str], name: str) -> Iterator[Chunk]:
    """Yield the chunks, one without rows if there are none; refuse an unreadable table."""
    empty = True
    while True:
        with _readable(name):
            chunk = next(chunks, None)
        if chunk is None:
            break
        empty = False
        yield chunk
    if empty:
        yield Chunk(np.arange(0), {column: np.empty(0, object) for column in columns}, {}, 1.0)


@contextmanager
def _readable(name: str) -> Iterator[None]:
    try:
        yield
    except InputError:
        raise
    except MemoryError as error:
        raise MemoryError(f"{name}: no room for a chunk of rows; {error}".strip("; ")) from None
    except READ_ERRORS as error:
        raise unreadable(error, name) from None


def _gather(
    rows: Iterator[list[str]], places: Sequence[int], count: int, most: int
) -> Iterator[tuple[list[tuple[str, ...]], dict[int, str]]]:
    """Collect the cells at these places for as many rows at once as the limits allow.

    A row without exactly `count` cells gets empty cells, and a fault by its position.
    """
    some: list[tuple[str, ...]] = []
    faults: dict[int, str] = {}
    size = 0
    for row in rows:
        if len(row) != count:
            faults[len(some)] = f"{len(row)} cells where the header has {count}"
            row = [""] * count
        some.append(tuple(row[place] for place in places))
        size += sum(map(getsizeof, some[-1]))
        if len(some) == most or size > MOST_BYTES:
            yield some, faults
            some, faults, size = [], {}, 0
    if some:
        yield some, faults


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
