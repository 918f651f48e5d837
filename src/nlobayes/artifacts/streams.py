"""Tables written chunk by chunk, atomically to a file or to standard output."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from nlobayes.artifacts.files import write_atomically
from nlobayes.errors import InputError
from nlobayes.extras import needs_extra

if TYPE_CHECKING:
    import pyarrow as pa

Rows = dict[str, tuple[str, np.ndarray]]
"""Unit and cells (row,) of each column by its name: numbers or text; a masked cell is empty."""
Chunks = Iterable[Rows]
"""Rows of one table in parts, at least one."""


def to_rows(*groups: Mapping[str, tuple[str, np.ndarray]]) -> Rows:
    """Join groups of columns by name, each column with its unit.

    Raises InputError if two columns have one name.
    """
    names = [*chain.from_iterable(groups)]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError("artifacts.column_twice", column=twice)
    return dict(chain.from_iterable(group.items() for group in groups))


def write_chunks(path: Path, chunks: Chunks, form: str) -> None:
    """Write chunks of the same columns to a file; if a chunk raises an error, no file is written.

    CSV headers and the metadata of parquet contain the units. `form` is one of `FORMS`.

    Raises InputError if the directory cannot be written or is full, and MissingExtra if PyArrow is
    not installed for parquet.
    """

    def write(temporary: Path) -> None:
        with temporary.open("wb") as file:
            FORMS[form](file, chunks)

    write_atomically(path, write)


def print_chunks(chunks: Chunks, form: str) -> None:
    """Print chunks of the same columns to standard output, each as soon as it is computed."""
    FORMS[form](sys.stdout.buffer, chunks)


def _to_csv(file: BinaryIO, chunks: Chunks) -> None:
    """Write CSV from which the numbers can be read bit for bit."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text, lineterminator="\n")
    try:
        for number, rows in enumerate(chunks):
            if not number:
                writer.writerow(f"{n}:{unit}" if unit else n for n, (unit, _) in rows.items())
            writer.writerows(zip(*(cells.tolist() for _, cells in rows.values()), strict=True))
            file.flush()
    finally:
        text.detach()  # otherwise its destructor would close the file


def _to_json_lines(file: BinaryIO, chunks: Chunks) -> None:
    """Write one JSON object per line, with null for numbers that are not finite."""
    for rows in chunks:
        columns = [_without_nan(cells) for _, cells in rows.values()]
        for row in zip(*columns, strict=True):
            file.write(json.dumps(dict(zip(rows, row, strict=True))).encode() + b"\n")
        file.flush()


def _without_nan(cells: np.ndarray) -> list[Any]:
    listed: list[Any] = cells.tolist()
    if cells.dtype.kind != "f":
        return listed
    return [cell if cell is not None and math.isfinite(cell) else None for cell in listed]


def _to_parquet(file: BinaryIO, chunks: Chunks) -> None:
    """Write parquet with checksums and one row group per chunk."""
    with needs_extra("parquet"):
        from pyarrow import parquet
    batches = map(_to_batch, chunks)
    first = next(batches)
    with parquet.ParquetWriter(file, first.schema, write_page_checksum=True) as writer:
        for batch in chain([first], batches):
            writer.write_batch(batch)


def _to_batch(rows: Rows) -> pa.RecordBatch:
    """Convert rows to Arrow, with the unit in the metadata of each field."""
    import pyarrow as pa

    types = {"i": pa.int64(), "f": pa.float64()}
    arrays, fields = [], []
    for name, (unit, cells) in rows.items():
        kind = types.get(cells.dtype.kind, pa.string())
        arrays.append(pa.array(np.ma.getdata(cells), kind, np.ma.getmaskarray(cells)))
        fields.append(pa.field(name, kind, metadata={"unit": unit}))
    return pa.record_batch(arrays, schema=pa.schema(fields))


FORMS: dict[str, Callable[[BinaryIO, Chunks], None]] = {
    "csv": _to_csv,
    "jsonl": _to_json_lines,
    "parquet": _to_parquet,
}
