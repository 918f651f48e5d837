"""Named fields in a text, such as `{m1}` or `{m1:.8g}`, which the columns of a point fill."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from nlobayes.errors import InputError

FIELD = re.compile(r"\{([A-Za-z_][\w.-]*)(?::([^{}]*))?\}")
"""Name of a column in braces, and its format; all other braces are text."""


def fields_of(text: str) -> tuple[str, ...]:
    """List the names of the fields of a text, each once, in their order."""
    return tuple(dict.fromkeys(name for name, _ in FIELD.findall(text)))


def check_fields(text: str, columns: Collection[str]) -> None:
    """Refuse a text with a field that is no column, or whose format no number has.

    Raises InputError with the field and the columns.
    """
    unknown = [name for name in fields_of(text) if name not in columns]
    if unknown:
        raise InputError("programs.no_column", field=unknown[0], columns=[*columns])
    filled(text, dict.fromkeys(columns, 1.0))


def filled(text: str, point: Mapping[str, float]) -> str:
    """Fill the fields of a text by the values of a point, by column.

    A field without a format has as many digits as the number needs to be read back exactly. Formats
    of whole numbers, such as `{n:d}`, need a whole number.

    Raises InputError if a format is not one of this number.
    """

    def word(field: re.Match[str]) -> str:
        name, form = field.groups()
        return spelled(point[name], form or "", name)

    return FIELD.sub(word, text)


def spelled(value: float, form: str, name: str) -> str:
    """Write a number in a format of Python; without one, so that it is read back exactly."""
    if not form:
        return repr(float(value))
    whole = form[-1] in "bcdoxX" and float(value).is_integer()
    try:
        return format(int(value) if whole else float(value), form)
    except ValueError:
        raise InputError("programs.format", field=name, form=form, value=value) from None
