"""Sentences of all errors: `texts/{room}.toml` has the sentence of code `room.name` under `name`.

A sentence is a format string of the fields of its error. Lists have formats of their own:
`{names}` joins with commas, `{names:or no columns}` gives the text for an empty list, and
`{names:first 5}` replaces those after the fifth by their number.
"""

from __future__ import annotations

import string
import tomllib
from collections.abc import Collection, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

TEXTS = Path(__file__).parent / "texts"
IF_EMPTY, FIRST = "or ", "first "


class _Wording(string.Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        if not isinstance(value, Collection) or isinstance(value, str | bytes):
            return str(super().format_field(value, format_spec))
        if format_spec.startswith(FIRST):
            return _some(value, int(format_spec.removeprefix(FIRST)))
        return ", ".join(map(str, value)) or format_spec.removeprefix(IF_EMPTY)


def _some(values: Collection[Any], most: int) -> str:
    more = f" and {len(values) - most} more" if len(values) > most else ""
    return ", ".join(map(str, islice(values, most))) + more


def word(code: str, fields: Mapping[str, Any]) -> str:
    """Return the sentence of an error: what was received, what is allowed, and the remedy."""
    room, _, name = code.partition(".")
    return _Wording().vformat(texts_of(room)[name], (), fields)


@cache
def texts_of(room: str) -> dict[str, str]:
    """Read the sentences of a room (one file of `texts/`), by name."""
    return tomllib.loads((TEXTS / f"{room}.toml").read_text(encoding="utf-8"))


def fields_of(text: str) -> set[str]:
    """Return the names of the fields in a sentence."""
    return {field for _, field, _, _ in string.Formatter().parse(text) if field is not None}


def words_of(detail: Mapping[str, Any]) -> str:
    """Return why a value is refused, from the details of a validation error of pydantic.

    `texts/values.toml` has the sentences of its types of errors. A message of ours, which a
    validator has raised, stays as it is.
    """
    if detail["type"] in texts_of("values"):
        return word(f"values.{detail['type']}", detail.get("ctx", {}))
    return str(detail["msg"]).removeprefix("Value error, ")
