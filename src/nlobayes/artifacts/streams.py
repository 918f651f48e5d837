"""Tables that are written as they come, block by block: to a file, whole or not at all, or out."""

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

Blocks = Iterable[pa.RecordBatch]
"""One at least."""

TYPES = {"i": pa.int64(), "f": pa.float64()}
"""By NumPy's kind of type; all others are text."""


def to_batch(*groups: Mapping[str, tuple[str, np.ndarray]]) -> pa.RecordBatch:
    """Make a block of columns by name, each with its unit; groups of them follow each other.

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


def write_blocks(path: Path, blocks: Blocks, form: str) -> None:
    """Write blocks of one schema to a file; if a block fails to come, nothing is left behind.

    The metadata `unit` of a field is written with its name. `form` is one of `FORMS`.

    Raises
    ------
    InputError
        If the directory cannot be written or is full.
    """

    def write(temporary: Path) -> None:
        with temporary.open("wb") as file:
            FORMS[form](file, blocks)

    write_atomically(path, write)


def print_blocks(blocks: Blocks, form: str) -> None:
    """Print blocks of one schema to standard output, each as soon as it is there."""
    FORMS[form](sys.stdout.buffer, blocks)


def _to_csv(file: BinaryIO, blocks: Blocks) -> None:
    """Write CSV whose numbers read back bit for bit."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text, lineterminator="\n")
    try:
        for number, block in enumerate(blocks):
            if not number:
                writer.writerow(map(_header_cell, block.schema))
            writer.writerows(zip(*(column.to_pylist() for column in block.columns), strict=True))
            file.flush()
    finally:
        text.detach()  # or it would close the file as it goes


def _header_cell(field: pa.Field) -> str:
    unit = field.metadata[b"unit"].decode()
    return f"{field.name}:{unit}" if unit else str(field.name)


def _to_json_lines(file: BinaryIO, blocks: Blocks) -> None:
    """Write a JSON object a line, with null for numbers that do not exist."""
    for block in blocks:
        columns = [_without_nan(column) for column in block.columns]
        for row in pa.record_batch(columns, names=block.schema.names).to_pylist():
            file.write(json.dumps(row, allow_nan=False).encode() + b"\n")
        file.flush()


def _without_nan(column: pa.Array) -> pa.Array:
    if not pa.types.is_floating(column.type):
        return column
    return pc.if_else(pc.is_finite(column), column, None)


def _to_parquet(file: BinaryIO, blocks: Blocks) -> None:
    """Write parquet, a row group per block, with checksums."""
    blocks = iter(blocks)
    first = next(blocks)
    with parquet.ParquetWriter(file, first.schema, write_page_checksum=True) as writer:
        for block in chain([first], blocks):
            writer.write_batch(block)


FORMS: dict[str, Callable[[BinaryIO, Blocks], None]] = {
    "csv": _to_csv,
    "jsonl": _to_json_lines,
    "parquet": _to_parquet,
}
