"""Numbers in the cells of a text table, in the notation that its first rows show.

A table may write a decimal comma, and its numbers may have thousands separators, Fortran's exponent
`D`, or the same unit or percent sign in every cell of a column. What may mean two numbers is not
read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from decimal import Decimal
from functools import partial
from typing import NamedTuple

import numpy as np

from nlobayes.data.units import UNITS, known_unit

PERCENT = "%"
SAMPLED_CELLS = 100
"""Cells at the beginning of a column that show whether it is text."""
BOOLEANS = {"true": 1.0, "false": 0.0}
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_EXPONENT = r"(?:[eEdD][+-]?[0-9]+)?"
_MARKS = ",'\u2019 \u00a0\u2009\u202f"
"""Marks between thousands, beside the point where the comma is the decimal mark."""
_GROUPED = re.compile(
    rf"[+-]?[1-9][0-9]{{0,2}}([{_MARKS}])[0-9]{{3}}(?:\1[0-9]{{3}})*(?:\.[0-9]*)?{_EXPONENT}"
)
_NUMERIC = re.compile(
    r"[+-]?(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+"
    rf"|[0-9]{{1,3}}([.{_MARKS}])[0-9]{{3}}(?:\1[0-9]{{3}})*(?:[.,][0-9]*)?){_EXPONENT}"
)
_FORTRAN = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)[dD][+-]?[0-9]+")
_SUFFIX = re.compile(r"(.*[0-9][.,]?)\s*(%|[A-Za-z]+)")
_EXCHANGED = str.maketrans(".,", ",.")


class Notation(NamedTuple):
    """How the numbers of a column are written."""

    decimal: str = ""
    """Decimal mark, a point or a comma; empty where the rows do not show it. A comma in a number is
    then not read."""
    suffix: str = ""
    """Percent sign or unit behind every number; empty if there is none. Percentages are read as
    fractions."""


PLAIN = Notation()


def is_number(cell: str) -> bool:
    """Return whether every reader parses a cell as a number; only Python accepts 1_000."""
    try:
        float(cell)
    except ValueError:
        return False
    return _is_plain(cell)


def is_numeric(cell: str) -> bool:
    """Return whether a cell is written as a number in any notation, without a unit."""
    return bool(_NUMERIC.fullmatch(cell.strip())) or is_number(cell)


def number_of(cell: str, notation: Notation) -> float | None:
    """Read a cell as a number, with 1 for true and 0 for false; None if it is none."""
    text = cell.strip(" \t")
    if notation.suffix:
        text, suffix = without_suffix(text)
        if suffix != notation.suffix:
            return None
    if notation.decimal == ",":
        text = text.translate(_EXCHANGED)
    grouped = _GROUPED.fullmatch(text)
    if grouped and (notation.decimal or grouped[1] != ","):
        text = text.replace(grouped[1], "")
    elif _FORTRAN.fullmatch(text):
        text = text.upper().replace("D", "E")
    if not is_number(text):
        return BOOLEANS.get(text.lower())
    return float(Decimal(text) / 100) if notation.suffix == PERCENT else float(text)


def parse_cells(cells: Sequence[str], notation: Notation = PLAIN) -> np.ndarray:
    """Convert cells to float64, or to text if any of them is not a number.

    Numbers among the text are written in plain notation if most cells are numbers.
    """
    if notation.decimal != ",":
        with suppress(ValueError):
            numbers = np.fromiter(map(float, cells), np.float64, len(cells))
            if _is_plain("".join(cells)):
                return numbers
    read = partial(number_of, notation=notation)
    if cells and all(number is None for number in map(read, cells[:SAMPLED_CELLS])):
        return np.array(cells, dtype=object)
    found = [*map(read, cells)]
    odd = found.count(None)
    if not odd:
        return np.array(found, np.float64)
    if odd < len(cells) / 2:
        both = zip(cells, found, strict=True)
        cells = [c if number is None or is_number(c) else repr(number) for c, number in both]
    return np.array(cells, dtype=object)


def notations_of(
    rows: Sequence[Sequence[str]], units: Sequence[str], separator: str
) -> list[Notation]:
    """Find the notation of each column in the first rows of a table.

    The decimal mark is that of all columns. It is taken only where some cell can be read in no
    other way, and no cell contradicts it; cells separated by commas have no decimal comma. A unit
    behind every number must agree with the unit of the column in `units`, if that has one.
    """
    columns: Iterable[Sequence[str]] = zip(*rows, strict=True) if rows else [()] * len(units)
    split = [[without_suffix(cell.strip()) for cell in cells if cell] for cells in columns]
    numbers = [number for column in split for number, _ in column]
    point = any(map(_shows_point, numbers))
    comma = any(_shows_point(number.translate(_EXCHANGED)) for number in numbers)
    decimal = "" if point == comma or (comma and separator == ",") else "." if point else ","
    notations = []
    for unit, column in zip(units, split, strict=True):
        suffixes = {suffix for _, suffix in column}
        suffix = suffixes.pop() if len(suffixes) == 1 else ""
        notations.append(Notation(decimal, suffix if unit in ("", suffix) else ""))
    return notations


def hint_of(cell: str) -> str:
    """Return why a cell that is almost a number is not read as one; empty for other text."""
    text, suffix = without_suffix(cell.strip())
    if suffix:
        return f"{suffix} must follow every number of a column, and agree with its header"
    if _NUMERIC.fullmatch(text) and not is_number(text):
        return "its comma or point may separate thousands or decimals; write a decimal point alone"
    found = _SUFFIX.fullmatch(text)
    if found and _NUMERIC.fullmatch(found[1]):
        return f"{found[2]!r} is no known unit ({', '.join(UNITS)})"
    return ""


def unread(cells: Sequence[str]) -> list[int]:
    """Find the cells that keep a column of numbers from being read; none of other text.

    A column is one of numbers if most of its cells are, or most lack a number for one reason.
    """
    odd = [row for row, cell in enumerate(cells) if not is_number(cell)]
    hints = Counter(hint_of(cells[row]) for row in odd)
    del hints[""]
    most = max([len(cells) - len(odd), *hints.values()])
    return odd if most > len(cells) / 2 else []


def _shows_point(number: str) -> bool:
    """Return whether a point is the only possible decimal mark of a number."""
    grouped = _GROUPED.fullmatch(number)
    if grouped:
        return "." in number or number.count(",") > 1
    return (
        "." in number and is_number(number) and not _GROUPED.fullmatch(number.translate(_EXCHANGED))
    )


def without_suffix(text: str) -> tuple[str, str]:
    """Split a number from the percent sign or the known unit behind it."""
    found = _SUFFIX.fullmatch(text)
    suffix = found and (PERCENT if found[2] == PERCENT else known_unit(found[2]))
    if not (found and suffix and _NUMERIC.fullmatch(found[1])):
        return text, ""
    return found[1], suffix


def _is_plain(text: str) -> bool:
    """Return whether numbers are written with ASCII digits and plain spaces alone."""
    return text.isascii() and "_" not in text and not _CONTROL.search(text)
