"""Parameters that may be fixed and that SLHA files contain: names, units and places.

The settings name them, so importing this module imports no numerics.
"""

from __future__ import annotations

import re
from typing import NamedTuple

SQUARKS = "msq"
"""The mean mass of the eight light squarks."""
MASS = re.compile(r"mass_([1-9][0-9]{0,8})")
"""Of a particle by its number: its size, as `mass_1000021` of the gluino."""


class Entry(NamedTuple):
    """A line of an SLHA block: its name, and the number that the line starts with."""

    block: str
    number: int


ENTRIES = {
    "tan_beta": (Entry("MINPAR", 3), Entry("EXTPAR", 25), Entry("HMIX", 2)),
    "mu": (Entry("EXTPAR", 23), Entry("HMIX", 1)),
}
"""What a spectrum generator was given comes before what it ran to another scale."""


def entries_of(name: str) -> tuple[Entry, ...]:
    """Give the places of a parameter, of which the first in a file is used; none if unknown."""
    if found := MASS.fullmatch(name):
        return (Entry("MASS", int(found[1])),)
    return ENTRIES.get(name, ())


def unit_of_parameter(name: str) -> str:
    """Give the unit in which SLHA files state a parameter; nothing of one that they do not."""
    if name != SQUARKS and not entries_of(name):
        return ""
    return "1" if name == "tan_beta" else "GeV"
