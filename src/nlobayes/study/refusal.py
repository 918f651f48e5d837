"""Errors of pydantic, as one `InputError` with the place of every fault."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from nlobayes.errors import InputError
from nlobayes.study.methods import CHAINS


def refusal(error: ValidationError, where: str) -> InputError:
    """Give what a validation refused as one error; its text has the first three faults.

    Its fields `faults` and `places` have an entry for each fault: the code of ours, or the type of
    pydantic's own, and the dotted key.
    """
    details = error.errors()
    return InputError(
        "study.refused",
        where=where,
        said=" ".join("; ".join(map(_said, details[:3])).split()),
        faults=[_fault(detail) for detail in details],
        places=[_place(detail) for detail in details],
    )


def _said(detail: Any) -> str:
    place = _dotted(detail)
    message = detail["msg"].removeprefix("Value error, ")
    said = f"{place}: {message}" if place else message
    if detail["type"] in {"missing", "value_error"}:
        return said
    return f"{said}, got {detail['input']!r:.200}"


def _own(detail: Any) -> InputError | None:
    raised = detail.get("ctx", {}).get("error")
    return raised if isinstance(raised, InputError) else None


def _fault(detail: Any) -> str:
    own = _own(detail)
    return own.code if own else str(detail["type"])


def _place(detail: Any) -> str:
    own = _own(detail)
    inside = own.where if own else None
    return ".".join(str(part) for part in (_dotted(detail), inside) if part)


def _dotted(detail: Any) -> str:
    return ".".join(str(part) for part in _as_written(detail["loc"]))


def _as_written(place: Sequence[Any]) -> list[Any]:
    """Leave out the default kind of a method, that of chains, which studies omit."""
    return [part for depth, part in enumerate(place) if (depth, part) != (2, CHAINS)]
