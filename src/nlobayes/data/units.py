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
            raise InputError(f"unknown unit {unit!r}; known: {', '.join(UNITS)}")
    (from_kind, from_exponent), (to_kind, to_exponent) = UNITS[from_unit], UNITS[to_unit]
    if from_kind != to_kind:
        raise InputError(
            f"cannot convert {from_unit!r} ({from_kind}) to {to_unit!r} ({to_kind}); "
            f"ask for a unit of {from_kind}"
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
                f"{source}: column {name!r} is in {own!r} by its header but declared in {unit!r}; "
                "declare only units that the file does not name"
            )
    return table._replace(units={**table.units, **units})


def in_unit(values: np.ndarray, name: str, units: tuple[str, str], source: str) -> np.ndarray:
    """Express a column in the unit that is wanted of it: `units` are its own and that one.

    Raises
    ------
    InputError
        If the column names no unit, or it cannot be converted.
    """
    own, wanted = units
    if wanted in ("", own):
        return values
    if not own:
        raise InputError(
            f"{source}: column {name!r} is wanted in {wanted!r} but names no unit; write its "
            f'header as `{name}:unit`, declare it in the source\'s `units`, or want none by ""'
        )
    try:
        return convert(values, own, wanted)
    except InputError as error:
        raise InputError(f"{source}: column {name!r}: {error}") from None
