"""Files of tables: text, JSON, parquet; read whole, in part or in chunks of rows.

A column is an array of float64, or of text if any of its cells is not a number. Row numbers in
messages count the data rows from 1.
"""

from __future__ import annotations

import csv
import gzip
import io
import math
import stat
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from nlobayes.data.cells import is_numeric, parse_cells
from nlobayes.data.column_names import check_header, check_known
from nlobayes.data.json_tables import open_json
from nlobayes.data.row_chunks import ROWS, Chunk, OpenTable, Source
from nlobayes.data.text_tables import open_text
from nlobayes.errors import InputError
from nlobayes.extras import needs_extra
from nlobayes.types import Table

TEXT = (".csv", ".tsv", ".txt", ".dat", ".grid")
JSON = ".json"
"""Ending of a published grid of cross sections, or of records (`json_tables`)."""
PACKED = ".gz"
"""Ending behind that of a text or JSON table that is compressed."""
PARQUET = ".parquet"
READ_ERRORS = (
    *(OSError, EOFError, MemoryError, OverflowError, ValueError),
    *(csv.Error, zlib.error, RecursionError),
)
OTHER_ENCODING = "give text in UTF-8: `iconv -f LATIN1 -t UTF-8 OLD > NEW` converts Latin-1"
PREVIEWED_ROWS = 100_000
"""Rows of a preview; errors of a target usually show in the first rows of a long table."""


def read_table(path: Path, most_mb: float | None = None, names: Sequence[str] = ()) -> Table:
    """Read a table from text, compressed by gzip or not, or from parquet.

    Raises InputError if there is no such file, it cannot be read as a whole, its header is not
    usable, it has no rows, or it is larger than `most_mb` MB when unpacked.

    Parameters
    ----------
    path
        File to read.
    most_mb
        Largest size when unpacked in MB; None sets no limit.
    names
        Header cells of a text table without a header.
    """
    with _opened(path, most_mb, names) as opened:
        columns = [*opened.units]
        chunks = [*_checked(opened, str(path), columns, None, strict=True)]
    table = _joined(opened, columns, chunks)
    if not all(len(column) for column in table.columns.values()):
        raise InputError("data.no_rows", where=path)
    return table


def preview_table(
    path: Path, columns: Collection[str], most_mb: float | None = None, names: Sequence[str] = ()
) -> Table:
    """Read names and units of all columns, and the first `PREVIEWED_ROWS` of the given `columns`.

    The other columns are left empty.

    Errors as for `read_table`, for the part that is read.
    """
    chunks, count = [], 0
    with _opened(path, most_mb, names) as opened:
        read = [name for name in opened.units if name in columns]
        for chunk in _checked(opened, str(path), read, PREVIEWED_ROWS, strict=True) if read else ():
            chunks.append(chunk)
            count += len(chunk.labels)
            if count >= PREVIEWED_ROWS:
                break
    table = _joined(opened, read, chunks)
    first = {name: cells[:PREVIEWED_ROWS] for name, cells in table.columns.items()}
    return table._replace(columns=first)


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

    Raises InputError if the file is no such table, lacks a column, or cannot be read.
    """
    with _opened(path, None, names) as opened:
        yield _source(opened, str(path), columns, rows, optional)


def open_stream(
    file: BinaryIO,
    columns: Sequence[str],
    name: str,
    rows: int = ROWS,
    optional: Sequence[str] = (),
    names: Sequence[str] = (),
) -> Source:
    """Open a stream of text to read these columns in chunks of rows; arguments as `open_table`."""
    with _readable(name):
        opened = open_text(file, name, math.inf, names, lambda: math.nan)
    return _source(opened, name, columns, rows, optional)


@contextmanager
def _opened(path: Path, most_mb: float | None, names: Sequence[str]) -> Iterator[OpenTable]:
    """Open a file and read its header; the format is that of the ending of its name."""
    source, name = str(path), path.name.lower()
    if not name.removesuffix(PACKED).endswith((*TEXT, JSON)) and not name.endswith(PARQUET):
        raise InputError("data.unknown_format", where=path, known=[*TEXT, JSON, PARQUET])
    most_bytes = math.inf if most_mb is None else most_mb * 1e6
    with _readable(source):
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            raise OSError("not a regular file")
        file = path.open("rb")
    with file:
        with _readable(source):
            if name.endswith(PARQUET):
                with needs_extra("parquet"):
                    from nlobayes.data.parquet_tables import open_parquet
                opened = open_parquet(file, source, most_bytes, names)
            else:
                unpacked = gzip.GzipFile(fileobj=file) if name.endswith(PACKED) else file
                content = cast(BinaryIO, unpacked)
                if name.removesuffix(PACKED).endswith(JSON):
                    opened = open_json(content, source, most_bytes)
                else:
                    share = _share_of(file, about.st_size)
                    opened = open_text(content, source, most_bytes, names, share)
        yield opened


def _share_of(file: BinaryIO, size: int) -> Callable[[], float]:
    return lambda: file.tell() / size


def _source(
    opened: OpenTable, name: str, columns: Sequence[str], rows: int, optional: Sequence[str]
) -> Source:
    """Check the columns, and open their chunks."""
    for column in columns:
        check_known(opened.units, column, name)
    read = [*columns, *(column for column in optional if column in opened.units)]
    chunks = _checked(opened, name, read, rows, strict=False)
    return Source(name, "row", opened.units, chunks, opened.notations)


def _checked(
    opened: OpenTable, name: str, columns: Sequence[str], rows: int | None, *, strict: bool
) -> Iterator[Chunk]:
    """Yield the chunks, one without rows if there are none; refuse an unreadable table."""
    chunks, chunk = opened.chunks(columns, rows, strict), None
    while True:
        with _readable(name):
            following = next(chunks, None)
        if following is None:
            break
        yield (chunk := following)
    if chunk is None:
        yield Chunk(np.arange(0), {column: np.empty(0, object) for column in columns}, {}, 1.0)


def _joined(opened: OpenTable, columns: Sequence[str], chunks: Sequence[Chunk]) -> Table:
    """Join the chunks of some columns; the others are empty."""
    joined = dict.fromkeys(opened.units, np.empty(0))
    for name in columns if chunks else ():
        cells = np.concatenate([chunk.columns.pop(name) for chunk in chunks])
        if name in opened.notations:
            cells = parse_cells(cells.tolist(), opened.notations[name])
        joined[name] = cells if len(cells) else joined[name]
    return Table(joined, opened.units, opened.metadata)


@contextmanager
def _readable(name: str) -> Iterator[None]:
    """Say in one line why a table cannot be read, and what to do."""
    try:
        yield
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError("data.no_such_file", where=name) from None
    except MemoryError as error:
        raise MemoryError(f"{name}: no room for a chunk of rows; {error}".strip("; ")) from None
    except READ_ERRORS as error:
        is_encoding = isinstance(error, UnicodeDecodeError)
        raise InputError(
            "data.unreadable_table",
            where=name,
            reason=" ".join(str(error).split()),
            remedy=OTHER_ENCODING if is_encoding else "give a complete file",
        ) from None


def to_csv_text(table: Table) -> str:
    """Encode a table as CSV from which all numbers are read back bit for bit.

    Raises InputError if a name, a unit or an entry of the metadata would not be read back
    unchanged.
    """
    _check_writable(table)
    text = io.StringIO()
    text.writelines(f"# {key}: {value}\n" for key, value in table.metadata.items())
    writer = csv.writer(text, lineterminator="\n")
    units = [table.units.get(name, "") for name in table.columns]
    writer.writerow(f"{n}:{u}" if u else n for n, u in zip(table.columns, units, strict=True))
    writer.writerows(zip(*(column.tolist() for column in table.columns.values()), strict=True))
    return text.getvalue()


def _check_writable(table: Table) -> None:
    check_header(list(table.columns), "table to write")
    for position, name in enumerate(table.columns, start=1):
        if is_numeric(name):
            raise InputError(
                "data.header_cell", where="table to write", position=position, name=name
            )
    for text in (*table.columns, *table.units.values(), *table.metadata, *table.metadata.values()):
        if not text.isprintable() or text != text.strip():
            raise InputError("data.text_not_writable", text=text)
    for name in (*table.columns, *table.metadata):
        if ":" in name or name.startswith("#"):
            raise InputError("data.name_not_writable", name=name)
