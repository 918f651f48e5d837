"""Conversion of validation errors of pydantic to one `InputError` with all places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from nlobayes.errors import InputError
from nlobayes.study.methods import CHAINS


def refusal(error: ValidationError, where: str) -> InputError:
    """Convert a validation error to one `InputError`, whose text has the first three errors.

    The fields `faults` and `places` have an entry for each error: the code of an `InputError` or
    the type of pydantic's own error, and the dotted key.
    """
    details = error.errors()
    return InputError(
        "study.refused",
        where=where,
        reasons=" ".join("; ".join(map(_message, details[:3])).split()),
        faults=[_fault(detail) for detail in details],
        places=[_place(detail) for detail in details],
    )


def _message(detail: Any) -> str:
    place = _dotted(detail)
    message = detail["msg"].removeprefix("Value error, ")
    text = f"{place}: {message}" if place else message
    if detail["type"] in {"missing", "value_error"}:
        return text
    return f"{text}, got {detail['input']!r:.200}"


def _error_of(detail: Any) -> InputError | None:
    raised = detail.get("ctx", {}).get("error")
    return raised if isinstance(raised, InputError) else None


def _fault(detail: Any) -> str:
    error = _error_of(detail)
    return error.code if error else str(detail["type"])


def _place(detail: Any) -> str:
    error = _error_of(detail)
    inside = error.where if error else None
    return ".".join(str(part) for part in (_dotted(detail), inside) if part)


def _dotted(detail: Any) -> str:
    return ".".join(str(part) for part in _as_written(detail["loc"]))


def _as_written(place: Sequence[Any]) -> list[Any]:
    """Remove the default kind of a method, that of chains, from a place, as studies omit it."""
    return [part for depth, part in enumerate(place) if (depth, part) != (2, CHAINS)]
