"""Conversion of validation errors of pydantic to one `InputError` with all places."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from nlobayes.errors import InputError, words_of
from nlobayes.methods import CHAINS

TYPE = re.compile(r"(constrained-)?(str|int|float|bool)|.+\[.*")
"""Name that pydantic gives to one of several types of a key; no study contains it."""


def refusal(error: ValidationError, where: str) -> InputError:
    """Convert a validation error to one `InputError`, whose text has the first three keys.

    The fields `faults` and `places` have an entry for each error: the code of an `InputError` or
    the type of pydantic's own error, and the dotted key.
    """
    details = [detail for detail in error.errors() if not _follows(detail, error.errors())]
    by_place: dict[str, list[ErrorDetails]] = {}
    for detail in details:
        by_place.setdefault(_dotted(detail), []).append(detail)
    reasons = [_message(place, each) for place, each in [*by_place.items()][:3]]
    return InputError(
        "study.refused",
        where=where,
        reasons=" ".join("; ".join(reasons).split()),
        faults=[_fault(detail) for detail in details],
        places=[_place(detail) for detail in details],
    )


def _follows(detail: ErrorDetails, details: Sequence[ErrorDetails]) -> bool:
    """Return whether a list is too short only because an item of it is refused."""
    place = detail["loc"]
    inside = (each["loc"] for each in details if len(each["loc"]) > len(place))
    return detail["type"] == "too_short" and any(loc[: len(place)] == place for loc in inside)


def _message(place: str, details: Sequence[ErrorDetails]) -> str:
    """Describe the errors of one key; there are several if it may have several types."""
    words = " or ".join(dict.fromkeys(map(words_of, details)))
    text = f"{place}: {words}" if place else words
    if details[0]["type"] in {"missing", "value_error", "union_tag_invalid"}:
        return text
    return f"{text}, got {details[0]['input']!r:.200}"


def _error_of(detail: ErrorDetails) -> InputError | None:
    raised = detail.get("ctx", {}).get("error")
    return raised if isinstance(raised, InputError) else None


def _fault(detail: ErrorDetails) -> str:
    error = _error_of(detail)
    return error.code if error else str(detail["type"])


def _place(detail: ErrorDetails) -> str:
    error = _error_of(detail)
    inside = error.where if error else None
    return ".".join(str(part) for part in (_dotted(detail), inside) if part)


def _dotted(detail: ErrorDetails) -> str:
    return ".".join(str(part) for part in _as_written(detail["loc"]))


def _as_written(place: Sequence[int | str]) -> list[int | str]:
    """Remove from a place names of types, and the default kind of a method, as studies omit it."""
    written = (part for part in place if not TYPE.fullmatch(str(part)))
    return [part for depth, part in enumerate(written) if (depth, part) != (2, CHAINS)]
