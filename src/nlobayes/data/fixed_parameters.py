"""Parameters that SLHA files contain and that may be fixed: names, units and places.

The settings import the names, so importing this module imports no numerics.
"""

from __future__ import annotations

import re
from typing import NamedTuple

SQUARKS = "msq"
"""Name of the mean mass of the eight light squarks."""
MASS = re.compile(r"mass_([1-9][0-9]{0,8})")
"""Name of the absolute mass of a particle by its number, as `mass_1000021` for the gluino."""


class Entry(NamedTuple):
    """Place of a parameter: the name of an SLHA block, and the number that starts the line."""

    block: str
    number: int


ENTRIES = {
    "tan_beta": (Entry("MINPAR", 3), Entry("EXTPAR", 25), Entry("HMIX", 2)),
    "mu": (Entry("EXTPAR", 23), Entry("HMIX", 1)),
}
"""Blocks with the inputs of a spectrum generator come before those with values at another scale."""


def entries_of(name: str) -> tuple[Entry, ...]:
    """Return the places of a parameter, in order of precedence; none if it is unknown."""
    if found := MASS.fullmatch(name):
        return (Entry("MASS", int(found[1])),)
    return ENTRIES.get(name, ())


def unit_of_parameter(name: str) -> str:
    """Return the unit of a parameter in SLHA files; an empty text if they do not contain it."""
    if name != SQUARKS and not entries_of(name):
        return ""
    return "1" if name == "tan_beta" else "GeV"
