"""Tables written chunk by chunk, atomically to a file or to standard output."""

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
"""Chunks of one table, at least one."""

TYPES = {"i": pa.int64(), "f": pa.float64()}
"""Arrow types by NumPy's kind of type; all others are text."""


def to_batch(*groups: Mapping[str, tuple[str, np.ndarray]]) -> pa.RecordBatch:
    """Make a chunk from groups of columns by name, each column with its unit.

    Masked cells are null.

    Raises InputError if two columns have one name.
    """
    names = [*chain.from_iterable(groups)]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError("artifacts.column_twice", column=twice)
    columns = [*chain.from_iterable(group.values() for group in groups)]
    arrays = [
        pa.array(
            np.ma.getdata(cells),
            TYPES.get(cells.dtype.kind, pa.string()),
            np.ma.getmaskarray(cells),
        )
        for _, cells in columns
    ]
    fields = [
        pa.field(name, array.type, metadata={"unit": unit})
        for name, array, (unit, _) in zip(names, arrays, columns, strict=True)
    ]
    return pa.record_batch(arrays, schema=pa.schema(fields))


def write_chunks(path: Path, chunks: Chunks, form: str) -> None:
    """Write chunks of one schema to a file; if a chunk raises an error, no file is written.

    CSV headers contain the metadata `unit` of each field. `form` is one of `FORMS`.

    Raises InputError if the directory cannot be written or is full.
    """

    def write(temporary: Path) -> None:
        with temporary.open("wb") as file:
            FORMS[form](file, chunks)

    write_atomically(path, write)


def print_chunks(chunks: Chunks, form: str) -> None:
    """Print chunks of one schema to standard output, each as soon as it is computed."""
    FORMS[form](sys.stdout.buffer, chunks)


def _to_csv(file: BinaryIO, chunks: Chunks) -> None:
    """Write CSV from which the numbers can be read bit for bit."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text, lineterminator="\n")
    try:
        for number, chunk in enumerate(chunks):
            if not number:
                writer.writerow(map(_header_cell, chunk.schema))
            writer.writerows(zip(*(column.to_pylist() for column in chunk.columns), strict=True))
            file.flush()
    finally:
        text.detach()  # otherwise its destructor would close the file


def _header_cell(field: pa.Field) -> str:
    unit = field.metadata[b"unit"].decode()
    return f"{field.name}:{unit}" if unit else str(field.name)


def _to_json_lines(file: BinaryIO, chunks: Chunks) -> None:
    """Write one JSON object per line, with null for numbers that are not finite."""
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
    """Write parquet with checksums and one row group per chunk."""
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
