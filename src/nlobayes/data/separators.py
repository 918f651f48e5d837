"""Rows of a text table, whose separator is found in its first lines."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import NamedTuple

from nlobayes.data.cells import BOOLEANS, is_number, is_numeric, without_suffix
from nlobayes.data.prospino import DAT_LEGEND
from nlobayes.errors import InputError

BLANKS = " "
SEPARATORS = ",;\t|" + BLANKS
"""Separators of cells; of two that fit equally, the first is taken."""
SAMPLED_LINES = 100
SAMPLED_CHARACTERS = 2**17
MOST_CHARACTERS = 2**20
"""Longest line, and longest row if quoted cells span lines."""
MOST_EMPTY = 1_000_000
"""Most consecutive empty rows."""
_STATED = re.compile(r'"?sep=([,;|\t])"?\s*', re.IGNORECASE)
"""First line of a table that Excel writes."""
_WORD = re.compile(r'"([^"]*)"|(\S+(?:[ \t]+[\[(][^\])]{0,20}[\])])?)')
"""Quoted text, or a word with the unit in brackets that may follow it."""


class Sample(NamedTuple):
    """First rows of a table, the separator of its cells, and whether blanks follow separators."""

    separator: str
    padded: bool
    rows: list[list[str]]


def split_rows(lines: Iterator[str], source: str) -> tuple[Sample, Iterator[list[str]]]:
    """Find the separator of the cells, and return the first rows and an iterator over all.

    A line `sep=;` states the separator. Otherwise it is the one by which the rows are of one length
    and their cells numbers. Empty rows at the beginning and the end are left out.
    """
    first = next(lines, "")
    stated = _STATED.fullmatch(first)
    begin: list[str] = [] if stated else [first]
    size = len(first)
    for line in lines:
        begin.append(line)
        size += len(line)
        if len(begin) == SAMPLED_LINES or size > SAMPLED_CHARACTERS:
            break
    of_prospino = any(_is_legend(line.split()) for line in begin)
    separators = stated[1] if stated else BLANKS if of_prospino else SEPARATORS
    sample = max((_sample(begin, separator) for separator in separators), key=_fitness)
    return sample, _rows(chain(begin, lines), sample, source)


def split_line(line: str, separator: str) -> list[str]:
    """Split one line."""
    return next(_split([line], separator, strict=False), [])


def width_of(row: Sequence[str]) -> int:
    """Count the cells of a row up to the last that is neither empty nor of blanks."""
    return max((number for number, cell in enumerate(row, start=1) if cell.strip(" ")), default=0)


def _sample(lines: list[str], separator: str) -> Sample:
    padded = bool(re.search(rf'(?:^|{re.escape(separator)}) +"', "".join(lines), re.MULTILINE))
    rows: list[list[str]] = []
    with suppress(csv.Error):  # the last line may end within a quoted cell
        for row in _split(lines, separator, padded=padded, strict=False):
            if width_of(row) and not (rows and _is_legend(row)):
                rows.append(row)
    counted = [str(number) for number in range(1, len(rows))]
    if separator == BLANKS and len(rows) > 2 and [row[0] for row in rows[1:]] == counted:
        rows[0][:0] = [""] * (len(rows[1]) == len(rows[0]) + 1)  # R numbers rows without a header
    return Sample(separator, padded, rows)


def _fitness(sample: Sample) -> tuple[bool, bool, float, bool, float]:
    """Return how well a separator fits, to be compared in order.

    First is whether all cells below the first row are numbers in rows as long as the first, then
    whether commas make a header and rows of its length. The share of such rows times that of
    numbers follows. Where no row fits, a header of several cells decides.
    """
    first, *others = sample.rows or [[]]
    width, commas = width_of(first), sample.separator == SEPARATORS[0]
    if width < 2 and not commas:
        return False, False, 0.0, False, 0.0
    fitting = [row for row in others if len(row) >= width >= width_of(row)]
    share = len(fitting) / len(others) if others else 1.0
    cells = [cell.strip() for row in fitting or [first] for cell in row if cell]
    numbers = sum(map(is_number if width < 2 else _is_known, cells)) / max(len(cells), 1)
    if width < 2 and numbers <= 0.5:
        numbers = 0.0
    is_table = commas and width > 1 and share == 1 and not any(map(is_numeric, first))
    several = width > 1 and sample.separator not in "|" + BLANKS
    return share * numbers == 1, is_table, share * numbers, several, share


def _is_known(cell: str) -> bool:
    return is_numeric(without_suffix(cell)[0]) or cell.lower() in BOOLEANS


def _is_legend(row: Sequence[str]) -> bool:
    return row[: len(DAT_LEGEND)] == DAT_LEGEND


def _split(
    lines: Iterable[str], separator: str, *, padded: bool = False, strict: bool = True
) -> Iterator[list[str]]:
    if separator == BLANKS:
        return map(_words, lines)
    return csv.reader(lines, delimiter=separator, skipinitialspace=padded, strict=strict)


def _words(line: str) -> list[str]:
    if not {*line} & {*'"[('}:
        return line.split()
    return [quoted or word for quoted, word in _WORD.findall(line)]


def _rows(lines: Iterator[str], sample: Sample, source: str) -> Iterator[list[str]]:
    """Yield the rows between the first and the last that are not empty, without empty lines.

    The length of rows whose quoted cells span lines is limited.
    """
    length = empty = 0
    waiting: list[int] = []  # lengths of rows of empty cells, which count if another row follows
    begun = False

    def counted() -> Iterator[str]:
        nonlocal length
        for line in lines:
            length += len(line)
            if length > MOST_CHARACTERS:
                raise InputError("data.long_row", where=source, most=MOST_CHARACTERS)
            yield line

    for row in _split(counted(), sample.separator, padded=sample.padded):
        length = 0
        if begun and _is_legend(row):
            continue
        if len(row) == 1 or (row and row[0].strip(" ")) or width_of(row):
            if empty:
                yield from ([""] * width for width in waiting)
                empty, waiting = 0, []
            begun = True
            yield row
            continue
        empty += 1
        if empty > MOST_EMPTY:
            raise InputError("data.empty_lines", where=source, most=MOST_EMPTY)
        if begun and row:
            waiting.append(len(row))
