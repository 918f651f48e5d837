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
from pyarrow import csv as arrow_csv
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
    fields, arrays = [], []
    for name, (unit, cells) in chain.from_iterable(group.items() for group in groups):
        if any(field.name == name for field in fields):
            raise InputError(
                f"column {name!r} would be written twice; leave it out of what is copied"
            )
        arrays.append(pa.array(cells, TYPES.get(cells.dtype.kind, pa.string())))
        fields.append(pa.field(name, arrays[-1].type, metadata={"unit": unit}))
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
    options = arrow_csv.WriteOptions(include_header=False, quoting_style="needed")
    for number, block in enumerate(blocks):
        if not number:
            file.write(_header(block.schema))
        arrow_csv.write_csv(block, file, options)
        file.flush()


def _header(schema: pa.Schema) -> bytes:
    units = [(field.metadata or {}).get(b"unit", b"").decode() for field in schema]
    line = io.StringIO()
    cells = (f"{n}:{u}" if u else n for n, u in zip(schema.names, units, strict=True))
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue().encode()


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
