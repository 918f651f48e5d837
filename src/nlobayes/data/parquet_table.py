"""Reading of tables from parquet: flat columns of numbers or text, within limits."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from nlobayes.data.csv_text import check_size
from nlobayes.data.headers import check_header, named_columns
from nlobayes.errors import InputError
from nlobayes.types import Table

CELL_BYTES = 8


def read_parquet(path: Path, most_bytes: float, names: Sequence[str]) -> Table:
    """Read a table from parquet; the unit of a column is its field's metadata `unit`.

    There are no `names` beside those of the file.

    Raises
    ------
    InputError
        If the header is not usable, a column is nested, or a limit is exceeded.
    """
    check_size(path.stat().st_size, most_bytes, str(path))
    # From bytes: with a path, pyarrow would also read columns from folder names like `a=1`.
    content = path.read_bytes()
    check_parquet(pq.ParquetFile(pa.BufferReader(content)), most_bytes, str(path), names)
    stored_names = pq.read_schema(pa.BufferReader(content)).names
    # As dictionaries, repeated texts are held in memory once.
    stored = pq.ParquetFile(
        pa.BufferReader(content), read_dictionary=stored_names, page_checksum_verification=True
    ).read()
    stored.validate(full=True)
    metadata = stored.schema.metadata or {}
    return Table(
        columns={name: from_arrow(stored[name]) for name in stored.column_names},
        units=units_of(stored.schema),
        metadata={k.decode(): v.decode() for k, v in metadata.items() if k != b"pandas"},
    )


def preview_parquet(
    path: Path,
    most_bytes: float,
    names: Sequence[str],
    requested: Collection[str],
    most_rows: int,
) -> Table:
    """Read the schema and the first rows of the `requested` columns; leave all others empty.

    Raises
    ------
    InputError
        As `read_parquet`, for the part that is read.
    """
    check_size(path.stat().st_size, most_bytes, str(path))
    with path.open("rb") as file:
        stored = pq.ParquetFile(file, page_checksum_verification=True)
        check_parquet(stored, most_bytes, str(path), names)
        schema = stored.schema_arrow
        chosen = [name for name in schema.names if name in requested]
        first = next(stored.iter_batches(most_rows, columns=chosen), None) if chosen else None
    columns = dict.fromkeys(schema.names, np.empty(0))
    if first is not None:
        first.validate(full=True)
        columns |= {name: from_arrow(pa.chunked_array([first[name]])) for name in chosen}
    return Table(columns, units_of(schema), {})


def units_of(schema: pa.Schema) -> dict[str, str]:
    """Read the unit of each column from the metadata of its field."""
    return {field.name: (field.metadata or {}).get(b"unit", b"").decode() for field in schema}


def check_parquet(
    file: pq.ParquetFile, most_bytes: float, source: str, names: Sequence[str] = ()
) -> None:
    """Check the metadata of the file before any column is read.

    Raises
    ------
    InputError
        If the header is not usable, there are `names` beside it, a column is nested, or a limit is
        exceeded.
    """
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


def from_arrow(column: pa.ChunkedArray) -> np.ndarray:
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
