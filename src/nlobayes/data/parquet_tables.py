"""Tables in parquet: flat columns of numbers or text, which are read within limits."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from nlobayes.data.column_names import check_header, named_columns
from nlobayes.data.row_chunks import MOST_BYTES, Chunk, OpenTable, check_size
from nlobayes.errors import InputError
from nlobayes.types import Table

CELL_BYTES = 8
_BUFFER = 2**20


def open_parquet(file: BinaryIO, source: str, most_bytes: float, names: Sequence[str]) -> OpenTable:
    """Open a parquet file; the unit of a column is its field's metadata `unit`.

    Raises InputError if the header is not usable, there are `names` beside it, a column is nested,
    or a limit is exceeded; and OSError or ValueError if the file is damaged.
    """
    check_size(os.fstat(file.fileno()).st_size, most_bytes, source)
    with _without_own_errors():
        stored = pq.ParquetFile(file)
        _check(stored, most_bytes, source, names)
    schema = stored.schema_arrow
    units = {field.name: (field.metadata or {}).get(b"unit", b"").decode() for field in schema}
    stated = (schema.metadata or {}).items()

    def chunks(columns: Sequence[str], rows: int | None, strict: bool) -> Iterator[Chunk]:
        del strict  # all rows are whole
        read, first = [*dict.fromkeys(columns)], 1
        with _without_own_errors():
            table = pq.ParquetFile(
                file,
                pre_buffer=False,
                buffer_size=_BUFFER,
                page_checksum_verification=True,
                read_dictionary=read,  # repeated texts are held in memory once
            )
            for part in _parts(table, read, rows):
                part.validate(full=True)
                labels = np.arange(first, first + len(part))
                named = {name: _from_arrow(part[name]) for name in read}
                first += len(part)
                yield Chunk(labels, named, {}, (first - 1) / max(table.metadata.num_rows, 1))

    metadata = {key.decode(): value.decode() for key, value in stated if key != b"pandas"}
    return OpenTable(units, metadata, chunks)


def to_arrow(table: Table) -> pa.Table:
    """Encode a table for parquet, units and metadata included."""
    arrays = [pa.array(column) for column in table.columns.values()]
    fields = [
        pa.field(name, array.type, metadata={"unit": table.units.get(name, "")})
        for name, array in zip(table.columns, arrays, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields, metadata=table.metadata))


@contextmanager
def _without_own_errors() -> Iterator[None]:
    """Raise errors of PyArrow as ValueError, unless they are errors of Python already."""
    try:
        yield
    except (OSError, ValueError, MemoryError):
        raise
    except pa.ArrowException as error:
        raise ValueError(str(error)) from error


def _check(file: pq.ParquetFile, most_bytes: float, source: str, names: Sequence[str]) -> None:
    """Check the metadata of the file before any column is read."""
    own, claimed = file.schema_arrow.names, file.metadata
    if names:
        raise InputError("data.names_beside_header", where=source, known=named_columns(own))
    check_header(own, source)
    leaves = [file.schema.column(number) for number in range(len(file.schema))]
    for leaf in leaves:
        if leaf.max_repetition_level or ("." in leaf.path and leaf.path not in own):
            raise InputError("data.nested_column", where=source, name=leaf.path)
    groups = (claimed.row_group(number) for number in range(claimed.num_row_groups))
    check_size(sum(group.total_byte_size for group in groups), most_bytes, source)
    check_size(claimed.num_rows * len(own) * CELL_BYTES, most_bytes, source)


def _parts(stored: pq.ParquetFile, columns: Sequence[str], rows: int | None) -> Iterator[pa.Table]:
    if rows is None:
        yield stored.read(columns)
        return
    for batch in stored.iter_batches(_fitting(stored, columns, rows), columns=columns):
        yield pa.Table.from_batches([batch])


def _fitting(stored: pq.ParquetFile, columns: Sequence[str], rows: int) -> int:
    """Return how many rows a chunk may hold, from the sizes that the file's metadata state."""
    widest = 1.0
    for number in range(stored.metadata.num_row_groups):
        group = stored.metadata.row_group(number)
        chunks = (group.column(place) for place in range(group.num_columns))
        size = sum(c.total_uncompressed_size for c in chunks if c.path_in_schema in columns)
        widest = max(widest, size / max(group.num_rows, 1))
    return max(1, min(rows, int(MOST_BYTES / widest)))


def _from_arrow(column: pa.ChunkedArray) -> np.ndarray:
    """Convert a column to float64, with 1 for true and 0 for false, or to text."""
    kind = column.type
    if pa.types.is_boolean(kind):
        column, kind = column.cast(pa.int8()), pa.int8()
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return np.asarray(column.cast(pa.float64()).to_numpy())
    if not pa.types.is_dictionary(kind):
        column = column.dictionary_encode()
    cells: list[str] = []
    for chunk in column.chunks:
        words = [*map(str, chunk.dictionary.to_pylist()), ""]
        cells += [words[-1 if index is None else index] for index in chunk.indices.to_pylist()]
    return np.array(cells, dtype=object)
