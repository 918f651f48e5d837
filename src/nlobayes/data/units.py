"""Units of columns: which there are, and how values are expressed in another of the same kind."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from nlobayes.data.csv_text import check_known
from nlobayes.errors import InputError
from nlobayes.types import Table

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


def convert(values: np.ndarray, from_unit: str, to_unit: str) -> np.ndarray:
    """Express values in another unit of the same kind.

    Raises
    ------
    InputError
        If a unit is not known, or the two are of different kinds.
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
            wanted=to_unit,
            wanted_kind=to_kind,
        )
    exponent = from_exponent - to_exponent
    return values * 10.0**exponent if exponent >= 0 else values / 10.0**-exponent


def declare_units(table: Table, units: Mapping[str, str], *, source: str) -> Table:
    """Name the units of columns that do not name their own.

    Raises
    ------
    InputError
        If a column does not exist, or names another unit itself.
    """
    for name, unit in units.items():
        check_known(table.columns, name, source)
        own = table.units.get(name, "")
        if own not in ("", unit):
            raise InputError(
                "data.unit_declared_twice", where=source, name=name, unit=own, declared=unit
            )
    return table._replace(units={**table.units, **units})


def in_unit(values: np.ndarray, name: str, units: tuple[str, str], source: str) -> np.ndarray:
    """Express a column in the requested unit: `units` are its own and that one.

    Raises
    ------
    InputError
        If the column names no unit, or it cannot be converted.
    """
    own, wanted = units
    if wanted in ("", own):
        return values
    if not own:
        raise InputError("data.no_unit", where=source, name=name, wanted=wanted)
    try:
        return convert(values, own, wanted)
    except InputError as error:
        raise error.within(f"column {name!r}").within(source) from None
