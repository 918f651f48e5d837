"""Names of the columns of a table: what a header may hold, and the look-up of a name."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Sequence

from nlobayes.errors import InputError

MOST_COLUMNS = 10_000
MOST_NAMED = 30
"""Most columns that a message names."""
_DIGITS = re.compile(r"[0-9]+")


def check_header(names: Sequence[str], source: str) -> None:
    """Refuse a header that does not give every column one name.

    Raises
    ------
    InputError
        If there is no name, one is empty or repeated, or there are too many.
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
