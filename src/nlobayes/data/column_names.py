"""Names of the columns of a table: what a header may hold, and the look-up of a name.

Names of inputs must suit all files of a run, and the tables of its predictions.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Sequence

from nlobayes.data.cells import is_number
from nlobayes.errors import InputError

MOST_COLUMNS = 10_000
MOST_NAMED = 30
"""Most columns that a message names."""
LONGEST = 200
"""Largest number of characters of a name."""
BESIDE_INPUTS = ("row", "file", "domain", "reason")
"""Columns that the predictions of every surrogate have beside its inputs."""
_DIGITS = re.compile(r"[0-9]+")


def check_header(names: Sequence[str], source: str) -> None:
    """Refuse a header that does not give every column one name.

    Raises InputError if there is no name, one is empty or repeated, or there are too many.
    """
    if not names:
        raise InputError("data.empty_file", where=source)
    if len(names) > MOST_COLUMNS:
        raise InputError("data.too_many_columns", where=source, count=len(names), most=MOST_COLUMNS)
    seen: set[str] = set()
    for position, name in enumerate(names, start=1):
        if not name:
            raise InputError("data.header_cell", where=source, position=position, name=name)
        if name in seen:
            raise InputError("data.column_twice", where=source, name=name)
        seen.add(name)


def check_known(names: Collection[str], name: str, source: str) -> None:
    """Refuse a column name that is not among `names`."""
    if name in names:
        return
    known, meant = named_columns(names), closest_name(names, name)
    if meant:
        raise InputError(
            "data.no_column_but_close", where=source, name=name, meant=meant, known=known
        )
    raise InputError("data.no_column", where=source, name=name, known=known)


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


def is_line(name: str) -> bool:
    """Return whether a name is one line of text that is not too long."""
    return name.isprintable() and name == name.strip() and 0 < len(name) <= LONGEST


def is_carried(name: str) -> bool:
    """Return whether an input may have this name, which a header cell must state in one line."""
    is_cell = ":" not in name and not name.startswith("#") and not is_number(name)
    return is_line(name) and is_cell and name not in BESIDE_INPUTS


def carried(names: Sequence[str], taken: Collection[str] = ()) -> list[str]:
    """Replace names that are `taken` or not carried by `x` and their position."""
    given, own = {*names}, []
    for position, name in enumerate(names):
        if name in taken or not is_carried(name):
            name = f"x{position}"
            while name in given:
                name += "_"
        own.append(name)
    return own
