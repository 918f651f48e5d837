"""Tables that are written as they come, chunk by chunk: to a file, whole or not at all, or out."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from nlobayes.artifacts.files import write_atomically
from nlobayes.errors import InputError

Chunks = Iterable[pa.RecordBatch]
"""One at least."""

TYPES = {"i": pa.int64(), "f": pa.float64()}
"""By NumPy's kind of type; all others are text."""


def to_batch(*groups: Mapping[str, tuple[str, np.ndarray]]) -> pa.RecordBatch:
    """Make a chunk of columns by name, each with its unit; groups of them follow each other.

    Raises
    ------
    InputError
        If two columns have one name.
    """
    names = [*chain.from_iterable(groups)]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError("artifacts.column_twice", column=twice)
    columns = [*chain.from_iterable(group.values() for group in groups)]
    arrays = [pa.array(cells, TYPES.get(cells.dtype.kind, pa.string())) for _, cells in columns]
    fields = [
        pa.field(name, array.type, metadata={"unit": unit})
        for name, array, (unit, _) in zip(names, arrays, columns, strict=True)
    ]
    return pa.record_batch(arrays, schema=pa.schema(fields))


def write_chunks(path: Path, chunks: Chunks, form: str) -> None:
    """Write chunks of one schema to a file; if a chunk fails to come, nothing is left behind.

    The metadata `unit` of a field is written with its name. `form` is one of `FORMS`.

    Raises
    ------
    InputError
        If the directory cannot be written or is full.
    """

    def write(temporary: Path) -> None:
        with temporary.open("wb") as file:
            FORMS[form](file, chunks)

    write_atomically(path, write)


def print_chunks(chunks: Chunks, form: str) -> None:
    """Print chunks of one schema to standard output, each as soon as it is there."""
    FORMS[form](sys.stdout.buffer, chunks)


def _to_csv(file: BinaryIO, chunks: Chunks) -> None:
    """Write CSV whose numbers read back bit for bit."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text, lineterminator="\n")
    try:
        for number, chunk in enumerate(chunks):
            if not number:
                writer.writerow(map(_header_cell, chunk.schema))
            writer.writerows(zip(*(column.to_pylist() for column in chunk.columns), strict=True))
            file.flush()
    finally:
        text.detach()  # or it would close the file as it goes


def _header_cell(field: pa.Field) -> str:
    unit = field.metadata[b"unit"].decode()
    return f"{field.name}:{unit}" if unit else str(field.name)


def _to_json_lines(file: BinaryIO, chunks: Chunks) -> None:
    """Write a JSON object a line, with null for numbers that do not exist."""
    for chunk in chunks:
        columns = [_without_nan(column) for column in chunk.columns]
        for row in pa.record_batch(columns, names=chunk.schema.names).to_pylist():
            file.write(json.dumps(row, allow_nan=False).encode() + b"\n")
        file.flush()


def _without_nan(column: pa.Array) -> pa.Array:
    if not pa.types.is_floating(column.type):
        return column
    return pc.if_else(pc.is_finite(column), column, None)


def _to_parquet(file: BinaryIO, chunks: Chunks) -> None:
    """Write parquet, a row group per chunk, with checksums."""
    chunks = iter(chunks)
    first = next(chunks)
    with parquet.ParquetWriter(file, first.schema, write_page_checksum=True) as writer:
        for chunk in chain([first], chunks):
            writer.write_batch(chunk)


FORMS: dict[str, Callable[[BinaryIO, Chunks], None]] = {
    "csv": _to_csv,
    "jsonl": _to_json_lines,
    "parquet": _to_parquet,
}
