"""Line-by-line reading of text tables within limits, so that no file can exhaust the memory.

Cells are separated by commas, semicolons, tabs, bars or blanks. A header cell is `name:unit`, or a
name that may end in a known unit in brackets. Leading lines `# key: value` are metadata.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice, repeat
from sys import getsizeof
from typing import Any, BinaryIO, NamedTuple, cast

import numpy as np

from nlobayes.data.cells import PERCENT, Notation, is_numeric, notations_of
from nlobayes.data.column_names import check_header
from nlobayes.data.prospino import DAT_COLUMNS, row_of_dat
from nlobayes.data.row_chunks import MOST_BYTES, ROWS, Chunk, OpenTable, check_size
from nlobayes.data.separators import (
    MOST_CHARACTERS,
    SEPARATORS,
    Sample,
    split_line,
    split_rows,
    width_of,
)
from nlobayes.data.units import known_unit
from nlobayes.errors import InputError

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_LINE_BREAK = re.compile(r"\s*[\r\n\t]\s*")
_OF_PANDAS = re.compile(r"Unnamed: [0-9][\w.]*")
"""Name that pandas gives to a column without one."""
_IN_BRACKETS = re.compile(r"\S.*?\s*[\[(]\s*(\w+)\s*[\])]")
"""Name that ends in a word in brackets."""


class Header(NamedTuple):
    """Names of the columns, their units and notations, and the metadata above them."""

    names: list[str]
    units: dict[str, str]
    metadata: dict[str, str]
    notations: list[Notation]


def open_text(
    file: BinaryIO, source: str, most_bytes: float, names: Sequence[str], share: Callable[[], float]
) -> OpenTable:
    """Open a text table, `share` of which is read; `names` are those of its columns if given.

    Raises InputError if the header is not usable, there are names beside it, or a limit is
    exceeded.
    """
    text = _decoded(file)
    header, cells = _read_header(_read_lines(text, most_bytes, source), source, names)
    count = len(header.names)

    def chunks(columns: Sequence[str], rows: int | None, strict: bool) -> Iterator[Chunk]:
        places = [header.names.index(column) for column in columns]
        some: list[tuple[str, ...]] = []
        faults: dict[int, str] = {}
        first, size = 1, 0

        def chunk() -> Chunk:
            labels = np.arange(first, first + len(some))
            by_column = (np.array(found, dtype=object) for found in zip(*some, strict=True))
            return Chunk(labels, dict(zip(columns, by_column, strict=True)), faults, share())

        for row in cells:
            if len(row) != count:
                if strict:
                    raise InputError(
                        "data.cells_of_row",
                        where=source,
                        row=first + len(some),
                        count=len(row),
                        header=count,
                    )
                faults[len(some)] = f"{len(row)} cells where the header has {count}"
                row = [""] * count
            some.append(tuple(map(row.__getitem__, places)))
            size += sum(map(getsizeof, some[-1])) if rows else 0
            if len(some) == (rows or ROWS) or size > MOST_BYTES:
                yield chunk()
                first, some, faults, size = first + len(some), [], {}, 0
        if some:
            yield chunk()
        cast(io.BufferedReader, text.detach()).detach()  # its deletion would close the file

    notations = dict(zip(header.names, header.notations, strict=True))
    return OpenTable(header.units, header.metadata, chunks, notations)


def _read_header(
    lines: Iterator[str], source: str, names: Sequence[str]
) -> tuple[Header, Iterator[list[str]]]:
    """Read the header, and return it with an iterator over the rows that are not empty."""
    comments, body = _split_comments(lines, source)
    sample, rows = split_rows(body, source)
    cells, units_below, above = _find_header(sample, comments, names, source)
    count = width_of(cells)
    pairs = [_name_and_unit(cell) for cell in cells[:count]]
    named = [name or f"unnamed {place}" for place, (name, _) in enumerate(pairs, start=1)]
    check_header(named, source)
    below = chain(units_below, repeat(""))
    units = [unit or other for (_, unit), other in zip(pairs, below, strict=False)]
    fitting = (row[:count] for row in sample.rows[above:] if len(row) >= count >= width_of(row))
    notations = notations_of([*fitting], units, sample.separator)
    given = (u or n.suffix.strip(PERCENT) for u, n in zip(units, notations, strict=True))
    header = Header(named, dict(zip(named, given, strict=True)), _metadata(comments), notations)
    if cells is DAT_COLUMNS:
        rows = map(row_of_dat, rows)
    return header, (_trimmed(row, count) for row in islice(rows, above, None))


def _find_header(
    sample: Sample, comments: Sequence[str], names: Sequence[str], source: str
) -> tuple[Sequence[str], Sequence[str], int]:
    """Return the header cells, the units of a row below them, and how many rows they are."""
    first, second, third = [*sample.rows[:3], [], [], []][:3]
    numbers = [position for position, cell in enumerate(first, start=1) if is_numeric(cell)]
    if not numbers:
        if names and first:
            raise InputError("data.names_beside_header", where=source, known=first)
        if _are_units(second) and any(map(is_numeric, third)):
            return first, _units_of(second), 2
        return first, [], 1
    if names:
        counted = [cell for cell in first if cell] == [str(place) for place in range(len(numbers))]
        return names, [], int(counted and len(numbers) > 1)
    found = [cells for text in comments if (cells := _names_in(text, first, sample.separator))]
    if len(found) > 1 and _are_units(found[-1]):
        return found[-2], _units_of(found[-1]), 0
    if found:
        return found[-1], [], 0
    if len(row_of_dat(first)) == len(DAT_COLUMNS) and numbers == [*range(2, len(first) + 1)]:
        return DAT_COLUMNS, [], 0
    place = numbers[0]
    raise InputError("data.header_cell", where=source, position=place, name=first[place - 1])


def _names_in(comment: str, row: Sequence[str], separator: str) -> list[str]:
    """Split a comment that names the cells of a row; it may use another separator."""
    split = (split_line(comment, one) for one in (separator, *SEPARATORS))
    fitting = (cells for cells in split if width_of(cells) in (len(row), width_of(row)))
    return next((cells for cells in fitting if not any(map(is_numeric, cells))), [])


def _are_units(cells: Sequence[str]) -> bool:
    units = _units_of(cells)
    return any(map(known_unit, units)) and not any(
        is_numeric(unit) and unit != "1" for unit in units
    )


def _units_of(cells: Sequence[str]) -> list[str]:
    bare = [cell.strip(" []()-") for cell in cells]
    return [known_unit(text) or text for text in bare]


def _name_and_unit(cell: str) -> tuple[str, str]:
    text = _LINE_BREAK.sub(" ", cell).strip()
    name, colon, unit = text.partition(":")
    if colon and not _OF_PANDAS.fullmatch(text):
        return name.strip(), unit.strip()
    found = _IN_BRACKETS.fullmatch(text)
    return text, (known_unit(found[1]) if found else None) or ""


def _trimmed(row: list[str], count: int) -> list[str]:
    """Leave out empty cells behind the last column, which trailing separators make."""
    return row[:count] if len(row) > count >= width_of(row) else row


def _decoded(file: Any) -> io.TextIOWrapper:
    """Decode a binary file as UTF-8, or as UTF-16 if it begins with the byte order mark of that."""
    buffered = io.BufferedReader(file)
    encoding = "utf-16" if buffered.peek(2)[:2] in _UTF_16 else "utf-8-sig"
    return io.TextIOWrapper(buffered, encoding=encoding, newline="")


def _read_lines(text: io.TextIOWrapper, most_bytes: float, source: str) -> Iterator[str]:
    """Read lines of limited length, without NUL characters, up to a size of all."""
    size = 0
    while line := text.readline(MOST_CHARACTERS + 1):
        size += len(line)
        check_size(size, most_bytes, source)
        if "\0" in line:
            raise InputError("data.nul_in_table", where=source)
        if len(line) > MOST_CHARACTERS:
            raise InputError("data.long_line", where=source, most=MOST_CHARACTERS)
        yield line


def _split_comments(lines: Iterator[str], source: str) -> tuple[list[str], Iterator[str]]:
    comments: list[str] = []
    length = 0
    for line in lines:
        if line.strip() and not line.startswith("#"):
            return comments, chain([line], lines)
        length += len(line)
        if length > MOST_CHARACTERS:
            raise InputError("data.long_metadata", where=source, most=MOST_CHARACTERS)
        comments.append(line[1:])
    return comments, lines


def _metadata(comments: Sequence[str]) -> dict[str, str]:
    entries = (comment.partition(":") for comment in comments)
    return {key.strip(): value.strip() for key, colon, value in entries if colon}
