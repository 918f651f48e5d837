"""Units of columns, and conversion of values between units of the same kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from nlobayes.errors import InputError

if TYPE_CHECKING:  # settings read this file
    import numpy as np

Values = TypeVar("Values", float, "np.ndarray")

CROSS_SECTION = "cross section"
# Each unit is 10^exponent times the base unit of its kind.
UNITS = {
    "nb": (CROSS_SECTION, 3),
    "pb": (CROSS_SECTION, 0),
    "fb": (CROSS_SECTION, -3),
    "ab": (CROSS_SECTION, -6),
    "GeV": ("energy", 0),
    "TeV": ("energy", 3),
}


def known_unit(text: str) -> str | None:
    """Return the known unit that a text names in any case, or None."""
    return next((unit for unit in UNITS if unit.lower() == text.lower()), None)


def convert(values: Values, from_unit: str, to_unit: str) -> Values:
    """Express values in another unit of the same kind.

    Raises InputError if a unit is not known, or the two are of different kinds.
    """
    for unit in (from_unit, to_unit):
        if unit not in UNITS:
            raise InputError("data.unknown_unit", unit=unit, known=[*UNITS])
    (from_kind, from_exponent), (to_kind, to_exponent) = UNITS[from_unit], UNITS[to_unit]
    if from_kind != to_kind:
        raise InputError(
            "data.unit_of_another_kind",
            unit=from_unit,
            kind=from_kind,
            requested=to_unit,
            requested_kind=to_kind,
        )
    exponent = from_exponent - to_exponent
    return values * 10.0**exponent if exponent >= 0 else values / 10.0**-exponent


def in_unit(values: Values, name: str, units: tuple[str, str], source: str) -> Values:
    """Convert a column to the requested unit; `units` are its unit and the requested one.

    Raises InputError if the column has no unit, or it cannot be converted.
    """
    given, requested = units
    if requested in ("", given):
        return values
    if not given:
        raise InputError("data.no_unit", where=source, name=name, requested=requested)
    try:
        return convert(values, given, requested)
    except InputError as error:
        raise error.within(f"column {name!r}").within(source) from None
