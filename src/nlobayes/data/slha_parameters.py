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
    values = _Values(sections, source)
    read = {name: _value_of(name, values, spectrum) for name in names}
    return {name: value for name, value in read.items() if value is not None}


class _Values:
    """Values of sections at their places; each block is read once."""

    def __init__(self, sections: Sequence[Section], source: str) -> None:
        self._sections, self.source = sections, source
        self._read: dict[tuple[str, int], dict[tuple[int, ...], float]] = {}

    def at(self, entry: Entry) -> float | None:
        """Return the value at one place; None if it is not there."""
        key = entry.block, len(entry.numbers)
        if key not in self._read:
            self._read[key] = _entries(self._sections, *key, self.source)
        return self._read[key].get(entry.numbers)


def _value_of(name: str, values: _Values, spectrum: Mapping[str, float]) -> float | None:
    """Return the value of a parameter; None if the sections lack one of its places."""
    pair = ratio_of(name)
    if pair is not None:
        above, below = (spectrum.get(n) or _value_of(n, values, spectrum) for n in pair)
        if above is None or below is None:
            return None
        return above / below if below else math.inf  # over a massless particle
    if particles := masses_of(name):
        return _mean_size(values, particles)
    if groups := content_of(name):
        return _content(values, groups)
    found = (values.at(entry) for entry in entries_of(name))
    return next((value for value in found if value is not None), None)


def _mean_size(values: _Values, particles: Sequence[int]) -> float | None:
    """Average the sizes of the masses of particles; None if one is not there.

    Raises InputError if that of a slepton is negative.
    """
    masses = [values.at(Entry("MASS", (each,))) for each in particles]
    known = [abs(mass) for mass in masses if mass is not None]
    for particle, mass in zip(particles, masses, strict=True):
        if particle in SLEPTONS and mass is not None and mass < 0:
            raise InputError(
                "slha.negative_mass", where=values.source, particle=particle, mass=mass
            )
    return math.fsum(known) / len(known) if len(known) == len(masses) else None


def _content(values: _Values, groups: Sequence[Sequence[Entry]]) -> float | None:
    """Add squared mixings in each group, and return the smallest sum; None without an entry."""
    sums = []
    for group in groups:
        real = [values.at(entry) for entry in group]
        if None in real:
            return None
        imaginary = (values.at(entry._replace(block=f"IM{entry.block}")) for entry in group)
        sums.append(math.fsum(part**2 for part in (*real, *imaginary) if part is not None))
    return min(sums)


def _entries(
    sections: Sequence[Section], block: str, keys: int, source: str
) -> dict[tuple[int, ...], float]:
    """Read a block of lines of `keys` whole numbers and a value; nothing if it is not there."""
    named = [section for section in sections if block_of(section.head) == block]
    chosen = nearest(named, _usual_scale(sections, source)) if len(named) > 1 else named
    blocks = take_blocks(chosen, (block,), source)
    return read_entries(blocks, block, keys, source) if blocks else {}


def _usual_scale(sections: Sequence[Section], source: str) -> float:
    """Return the geometric mean of the stop masses in GeV, or 1 TeV where a file has no stops."""
    blocks = take_blocks(sections, ("MASS",), source)
    masses = read_entries(blocks, "MASS", 1, source) if blocks else {}
    return math.sqrt(abs(math.prod(masses.get((stop,), 0.0) for stop in STOPS))) or USUAL_SCALE
