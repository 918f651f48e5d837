"""Line-by-line reading of CSV within limits, so that no file can exhaust the memory.

A header cell is `name:unit`, or `name` if the unit is unknown. Leading lines `# key: value` are
metadata. A column is an array of float64, or of text if any of its cells is not a number.
"""

from __future__ import annotations

import csv
import difflib
import gzip
import io
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from nlobayes.errors import InputError
from nlobayes.types import Table

MOST_NAMED = 30
"""Most columns that a message names."""
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_DIGITS = re.compile(r"[0-9]+")
_SEPARATOR = re.compile(r"[;\t|]")
MOST_COLUMNS = 10_000
MOST_CHARACTERS = 2**20
"""Longest line, and longest row if quoted cells span lines."""
MOST_EMPTY = 1_000_000
"""Most consecutive empty lines."""


class Header(NamedTuple):
    """Names of the columns, the unit of each, and the metadata in the lines above the header."""

    names: list[str]
    units: dict[str, str]
    metadata: dict[str, str]


def read_csv(path: Path, most_bytes: float) -> Table:
    """Read a table from CSV, unpacked if the name ends in `.gz`.

    Raises
    ------
    InputError
        If the header is not usable, a row is incomplete, or a limit is exceeded.
    """
    with _open(path) as file:
        header, rows = read_header(read_lines(file, most_bytes, str(path)), str(path))
        columns = _columns(rows, len(header.names), str(path))
    named = zip(header.names, map(parse_cells, columns), strict=True)
    return Table(dict(named), header.units, header.metadata)


def preview_csv(path: Path, most_bytes: float, requested: Collection[str], most_rows: int) -> Table:
    """Read the header and the first rows of the `requested` columns; leave all others empty.

    Raises
    ------
    InputError
        As `read_csv`, for the part that is read.
    """
    with _open(path) as file:
        header, rows = read_header(read_lines(file, most_bytes, str(path)), str(path))
        some = islice(rows, most_rows) if set(requested) & {*header.names} else iter(())
        columns = _columns(some, len(header.names), str(path))
    named = dict(zip(header.names, columns, strict=True))
    cells = {name: named[name] if name in requested else [] for name in named}
    return Table({n: parse_cells(c) for n, c in cells.items()}, header.units, header.metadata)


def read_header(lines: Iterator[str], source: str) -> tuple[Header, Iterator[list[str]]]:
    """Read the header, and return it with an iterator over the rows that are not empty.

    Raises
    ------
    InputError
        If the header is not usable.
    """
    comments, body = _split_comments(lines, source)
    rows = _rows(body, source)
    cells = [cell.partition(":") for cell in next(rows, [])]
    names = [name.strip() for name, _, _ in cells]
    check_header(names, source)
    units = {name: unit.strip() for name, (_, _, unit) in zip(names, cells, strict=True)}
    return Header(names, units, comments), rows


@contextmanager
def _open(path: Path) -> Iterator[io.TextIOWrapper]:
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        yield io.TextIOWrapper(file, encoding="utf-8-sig", newline="")


def check_header(names: Sequence[str], source: str) -> None:
    """Refuse a header that does not give every column one name.

    Raises
    ------
    InputError
        If there is no name, one is a number, empty or repeated, or there are too many.
    """
    if not names:
        raise InputError("data.empty_file", where=source)
    if len(names) > MOST_COLUMNS:
        raise InputError("data.too_many_columns", where=source, count=len(names), most=MOST_COLUMNS)
    seen: set[str] = set()
    for position, name in enumerate(names, start=1):
        if not name or is_number(name):
            raise InputError("data.header_cell", where=source, position=position, name=name)
        if name in seen:
            raise InputError("data.column_twice", where=source, name=name)
        seen.add(name)


def check_known(names: Collection[str], name: str, source: str) -> None:
    """Refuse a column name that is not among `names`.

    Raises
    ------
    InputError
        If it is not.
    """
    if name in names:
        return
    check_separated(names, name, source)
    known, meant = named_columns(names), closest_name(names, name)
    if meant:
        raise InputError(
            "data.no_column_but_close", where=source, name=name, meant=meant, known=known
        )
    raise InputError("data.no_column", where=source, name=name, known=known)


def check_separated(names: Collection[str], missing: str, source: str) -> None:
    """Refuse a header of one column that seems to use another separator than the comma.

    Raises
    ------
    InputError
        If it is such a header; the error names the column that is `missing`.
    """
    only, *others = [*names] or [""]
    if not others and _SEPARATOR.search(only):
        raise InputError("data.one_column", where=source, name=missing, known=[only])


def closest_name(names: Collection[str], name: str) -> str | None:
    """Find the existing name that was probably meant, ignoring case and small errors.

    A name that differs in its digits alone is another column and is not suggested.
    """
    of_other_case = next((one for one in names if one.lower() == name.lower()), None)
    if of_other_case is not None:
        return of_other_case
    close = difflib.get_close_matches(name, names)
    return next((one for one in close if _DIGITS.sub("", one) != _DIGITS.sub("", name)), None)


def named_columns(names: Collection[str]) -> list[str]:
    """List at most `MOST_NAMED` names of columns, and the total number if there are more."""
    more = [f"... ({len(names)} in all)"] if len(names) > MOST_NAMED else []
    return [*names][:MOST_NAMED] + more


def check_size(size: float, most_bytes: float, source: str) -> None:
    """Refuse a table that is larger than the study allows.

    Raises
    ------
    InputError
        If it is.
    """
    if size > most_bytes:
        raise InputError("data.table_too_large", where=source, most_mb=most_bytes / 1e6)


def is_number(cell: str) -> bool:
    """Return whether every reader parses a cell as a number; only Python accepts 1_000."""
    try:
        float(cell)
    except ValueError:
        return False
    return _is_plain(cell)


def parse_cells(cells: Sequence[str]) -> np.ndarray:
    """Convert cells to float64, or to text if any of them is not a number."""
    try:
        numbers = np.fromiter(map(float, cells), np.float64, len(cells))
    except ValueError:
        return np.array(cells, dtype=object)
    return numbers if _is_plain("".join(cells)) else np.array(cells, dtype=object)


def _is_plain(text: str) -> bool:
    """Return whether numbers are written with ASCII digits and plain spaces alone."""
    return text.isascii() and "_" not in text and not _CONTROL.search(text)


def read_lines(text: io.TextIOWrapper, most_bytes: float, source: str) -> Iterator[str]:
    """Read lines of limited length.

    Raises
    ------
    InputError
        If one is too long or holds NUL characters, or the size is exceeded.
    """
    size = 0
    while line := text.readline(MOST_CHARACTERS + 1):
        size += len(line)
        check_size(size, most_bytes, source)
        if "\0" in line:
            raise InputError("data.nul_in_table", where=source)
        if len(line) > MOST_CHARACTERS:
            raise InputError("data.long_line", where=source, most=MOST_CHARACTERS)
        yield line


def _rows(lines: Iterator[str], source: str) -> Iterator[list[str]]:
    """Yield the rows that are not empty; limit the length of rows whose quoted cells span lines."""
    length = empty = 0

    def counted() -> Iterator[str]:
        nonlocal length
        for line in lines:
            length += len(line)
            if length > MOST_CHARACTERS:
                raise InputError("data.long_row", where=source, most=MOST_CHARACTERS)
            yield line

    for row in csv.reader(counted(), strict=True):
        length, empty = 0, 0 if row else empty + 1
        if row:
            yield row
        elif empty > MOST_EMPTY:
            raise InputError("data.empty_lines", where=source, most=MOST_EMPTY)


def _split_comments(lines: Iterator[str], source: str) -> tuple[dict[str, str], Iterator[str]]:
    comments: dict[str, str] = {}
    length = 0
    for line in lines:
        if not line.startswith("#"):
            return comments, chain([line], lines)
        length += len(line)
        if length > MOST_CHARACTERS:
            raise InputError("data.long_metadata", where=source, most=MOST_CHARACTERS)
        key, colon, value = line[1:].partition(":")
        if colon:
            comments[key.strip()] = value.strip()
    return comments, lines


def _columns(rows: Iterator[list[str]], count: int, source: str) -> list[list[str]]:
    columns: list[list[str]] = [[] for _ in range(count)]
    for number, row in enumerate(rows, start=1):
        if len(row) != count:
            raise InputError(
                "data.cells_of_row", where=source, row=number, count=len(row), header=count
            )
        for column, cell in zip(columns, row, strict=True):
            column.append(cell)
    return columns
