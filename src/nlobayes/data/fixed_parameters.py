"""Parameters that SLHA files contain and that may be fixed: names, units and places.

The settings import the names, so importing this module imports no numerics.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from nlobayes.physics.processes import CHARGINOS, NEUTRALINOS, number_of

SQUARKS = "msq"
"""Name of the mean mass of the eight light squarks."""
MASS = re.compile(r"mass((?:_[1-9][0-9]{0,8})+)")
"""Name of the mean size of masses by particle numbers, as `mass_1000021` for the gluino."""
CONTENT = re.compile(r"(bino|wino|higgsino|left)_([1-9][0-9]{0,8})")
"""Name of the part of a state in a particle, from 0 to 1, as `wino_1000023`."""
RATIO = re.compile(r"(\S+)_over_(\S+)")
"""Name of the ratio of two parameters, as `msq_over_mass_1000024`."""
COMPONENTS = {"bino": (1,), "wino": (2,), "higgsino": (3, 4)}
"""Columns of NMIX by state; for charginos the wino is column 1 of UMIX and VMIX, the higgsino 2."""
SLEPTON_MIXINGS = {1000015: ("STAUMIX", (1, 1)), 2000015: ("STAUMIX", (2, 1))}
"""Block and entry of the left-handed part of a slepton."""


class Entry(NamedTuple):
    """Place of a parameter: the name of an SLHA block, and the numbers that start the line."""

    block: str
    numbers: tuple[int, ...]


ENTRIES = {
    "tan_beta": (Entry("MINPAR", (3,)), Entry("EXTPAR", (25,)), Entry("HMIX", (2,))),
    "mu": (Entry("EXTPAR", (23,)), Entry("HMIX", (1,))),
}
"""Blocks with the inputs of a spectrum generator come before those with values at another scale."""


def entries_of(name: str) -> tuple[Entry, ...]:
    """Return the places of one value, in order of precedence; none if it is no such parameter."""
    return ENTRIES.get(name, ())


def masses_of(name: str) -> tuple[int, ...]:
    """Return the particles whose masses a parameter averages; none if it is no mean mass."""
    found = MASS.fullmatch(name)
    return tuple(map(int, found[1][1:].split("_"))) if found else ()


def content_of(name: str) -> tuple[tuple[Entry, ...], ...]:
    """Return the mixings of a state in a particle; none if the name is no such content.

    The content is the sum of the squares of each group of entries, and the smallest of these sums:
    a chargino is as pure a wino as the less pure of its two components.
    """
    found = CONTENT.fullmatch(name)
    if not found:
        return ()
    state, particle = found[1], int(found[2])
    if state == "left":
        place = SLEPTON_MIXINGS.get(particle)
        return ((Entry(*place),),) if place else ()
    if particle in NEUTRALINOS:
        row = number_of(particle)
        return (tuple(Entry("NMIX", (row, column)) for column in COMPONENTS[state]),)
    if particle in CHARGINOS and state != "bino":
        place_of_both = (number_of(particle), 1 if state == "wino" else 2)
        return tuple((Entry(block, place_of_both),) for block in ("UMIX", "VMIX"))
    return ()


def ratio_of(name: str) -> tuple[str, str] | None:
    """Return the two parameters of a ratio, which have one unit; None if it is no ratio."""
    found = RATIO.fullmatch(name)
    if not found:
        return None
    above, below = found[1], found[2]
    known = unit_of_parameter(above) == unit_of_parameter(below) == "GeV"
    return (above, below) if known else None


def blocks_of(name: str) -> set[str]:
    """Name the blocks that a parameter is read from; those of the squarks are always read."""
    if (pair := ratio_of(name)) is not None:
        return blocks_of(pair[0]) | blocks_of(pair[1])
    if masses_of(name):
        return {"MASS"}
    places = {entry.block for group in content_of(name) for entry in group}
    return {entry.block for entry in entries_of(name)} | places | {f"IM{name}" for name in places}


def unit_of_parameter(name: str) -> str:
    """Return the unit of a parameter in SLHA files; an empty text if they do not contain it."""
    if name in (SQUARKS, "mu") or masses_of(name):
        return "GeV"
    if name == "tan_beta" or content_of(name) or ratio_of(name):
        return "1"
    return ""
