"""Reading of parameters from SLHA sections, by the names of `fixed_parameters`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from nlobayes.data.fixed_parameters import Entry, content_of, entries_of, masses_of, ratio_of
from nlobayes.data.slha_blocks import Section, block_of, nearest, read_entries, take_blocks
from nlobayes.errors import InputError
from nlobayes.physics.processes import SLEPTONS

STOPS = (1000006, 2000006)
USUAL_SCALE = 1000.0
"""Scale in GeV near which running parameters are read where a file has no stops."""


def read_parameters(
    sections: Sequence[Section],
    names: Iterable[str],
    source: str,
    spectrum: Mapping[str, float] = MappingProxyType({}),
) -> dict[str, float]:
    """Read `fixed_parameters` that the sections have, by name; masses without their sign.

    If blocks with a running parameter are given at several scales Q, the scale nearest to the
    geometric mean of the stop masses counts: programs that print one block print it there.

    `spectrum` may have msq, for ratios to it.

    Raises InputError if a block with a parameter appears twice at one scale, or an entry is
    repeated or not a finite number.
    """
    found: dict[str, float] = {}
    for name in names:
        pair = ratio_of(name)
        if pair is not None:
            parts = {**read_parameters(sections, pair, source), **spectrum}
            value = parts[pair[0]] / parts[pair[1]] if {*pair} <= parts.keys() else None
        elif particles := masses_of(name):
            value = _mean_size(sections, particles, source)
        elif groups := content_of(name):
            value = _content(sections, groups, source)
        else:
            values = (_parameter_at(sections, entry, source) for entry in entries_of(name))
            value = next((value for value in values if value is not None), None)
        if value is not None:
            found[name] = value
    return found


def _mean_size(sections: Sequence[Section], particles: Sequence[int], source: str) -> float | None:
    """Average the sizes of the masses of particles; None if one is not there.

    Raises InputError if that of a slepton is negative.
    """
    masses = [_parameter_at(sections, Entry("MASS", (each,)), source) for each in particles]
    known = [abs(mass) for mass in masses if mass is not None]
    for particle, mass in zip(particles, masses, strict=True):
        if particle in SLEPTONS and mass is not None and mass < 0:
            raise InputError("slha.negative_mass", where=source, particle=particle, mass=mass)
    return math.fsum(known) / len(known) if len(known) == len(masses) else None


def _content(
    sections: Sequence[Section], groups: Sequence[Sequence[Entry]], source: str
) -> float | None:
    """Add squared mixings in each group, and return the smallest sum; None without an entry."""
    sums = []
    for group in groups:
        real = [_parameter_at(sections, entry, source) for entry in group]
        if None in real:
            return None
        imaginary = (
            _parameter_at(sections, entry._replace(block=f"IM{entry.block}"), source)
            for entry in group
        )
        sums.append(math.fsum(part**2 for part in (*real, *imaginary) if part is not None))
    return min(sums)


def _parameter_at(sections: Sequence[Section], entry: Entry, source: str) -> float | None:
    """Read the value at one place; None if it is not there."""
    named = [section for section in sections if block_of(section.head) == entry.block]
    chosen = nearest(named, _usual_scale(sections, source)) if len(named) > 1 else named
    blocks = take_blocks(chosen, (entry.block,), source)
    entries = read_entries(blocks, entry.block, len(entry.numbers), source) if blocks else {}
    return entries.get(entry.numbers)


def _usual_scale(sections: Sequence[Section], source: str) -> float:
    """Return the geometric mean of the stop masses in GeV, or 1 TeV where a file has no stops."""
    blocks = take_blocks(sections, ("MASS",), source)
    masses = read_entries(blocks, "MASS", 1, source) if blocks else {}
    return math.sqrt(abs(math.prod(masses.get((stop,), 0.0) for stop in STOPS))) or USUAL_SCALE
