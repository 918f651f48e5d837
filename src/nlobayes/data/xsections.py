"""Reading of cross sections in SLHA blocks XSECTION, as SModelS, HEPi and others write them.

The format is the proposal of Les Houches 2013 (phystev.cnrs.fr/wiki/2013:groups:tools:slha): a
first line `XSECTION energy/GeV incoming incoming number outgoing ...`, then lines of a scale
scheme, the orders in QCD and in the electroweak coupling, the factors of the factorisation and
renormalisation scale, the number of the parton densities, the cross section in pb, and the program.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nlobayes.data.processes import Process
from nlobayes.data.slha import key_of, same_energy
from nlobayes.data.slha_blocks import Line, Section, to_integers, to_numbers
from nlobayes.data.statements import PROTONS
from nlobayes.errors import InputError

CENTRAL, UP, DOWN = 1.0, 0.5, 2.0
"""Factors of both scales; SModelS writes 0 for an unstated one, which counts as central."""
ALSO = {"lo_pb": (0, CENTRAL), "scale_up": (None, UP), "scale_down": (None, DOWN)}
"""Further columns: their QCD order (None is the requested one) and scale factor."""


class CrossSection(NamedTuple):
    """The requested value in pb, and those columns of `ALSO` that the file has."""

    value: float
    also: dict[str, float]


class _Entry(NamedTuple):
    """A line: the QCD order, the common factor of both scales, the value in pb."""

    line: int
    order: int
    factor: float
    value: float


def read_cross_section(
    sections: Sequence[Section], process: Process, sqrt_s_gev: float, order: int, source: str
) -> CrossSection | None:
    """Read the cross section of a process at an energy and QCD order; None if it has no block.

    Lines with electroweak corrections, or with two different scale factors, are skipped.

    Raises
    ------
    InputError
        If the process has blocks only at other energies, no value of the order, or two values of
        one order and scale, or a line does not have the format.
    """
    energies, entries = _collect(sections, process, sqrt_s_gev, source)
    name = " ".join(map(str, key_of(process)))
    if not energies:
        return None
    if not any(same_energy(energy, sqrt_s_gev) for energy in energies):
        raise InputError(
            "slha.xsection_energies",
            where=source,
            pair=name,
            sqrt_s_tev=sqrt_s_gev / 1000,
            found=[f"{energy / 1000:g}" for energy in sorted({*energies})],
        )
    value = _only(entries, (order, CENTRAL), name, source)
    if value is None:
        found = sorted({entry.order for entry in entries if entry.factor == CENTRAL})
        raise InputError("slha.xsection_order", where=source, pair=name, order=order, found=found)
    others = {
        column: _only(entries, (order if stated is None else stated, factor), name, source)
        for column, (stated, factor) in ALSO.items()
    }
    return CrossSection(value, {name: v for name, v in others.items() if v is not None and v > 0})


def _collect(
    sections: Sequence[Section], process: Process, sqrt_s_gev: float, source: str
) -> tuple[list[float], list[_Entry]]:
    """Collect the energies of all blocks of the process, and its lines at the requested one."""
    energies: list[float] = []
    entries: list[_Entry] = []
    for head, block in sections:
        energy = _energy(head, process, source)
        if energy is None:
            continue
        energies.append(energy)
        if same_energy(energy, sqrt_s_gev):
            entries += _entries(block.lines, source)
    return energies, entries


def _energy(head: Line, process: Process, source: str) -> float | None:
    """Return the energy of a block of the process; None for any other section."""
    keyword, *words = head.words
    if keyword.lower() != "xsection":
        return None
    energy, particles = to_numbers(words[:1]), to_integers(words[1:])
    counted = particles is not None and particles[2:3] == (len(particles) - 3,)
    if not energy or particles is None or not counted or not 0 < energy[0] < math.inf:
        raise InputError(
            "slha.xsection_head", where=source, line=head.number, words=" ".join(head.words)[:120]
        )
    incoming, outgoing = particles[:2], particles[3:]
    is_it = incoming == PROTONS and key_of(outgoing) == key_of(process)
    return energy[0] if is_it else None


def _entries(lines: Sequence[Line], source: str) -> Iterator[_Entry]:
    for number, words in lines:
        orders, numbers = to_integers(words[:3]), to_numbers(words[3:7])
        if orders is None or len(orders) < 3 or numbers is None or len(numbers) < 4:
            raise InputError(
                "slha.xsection_line", where=source, line=number, words=" ".join(words)[:120]
            )
        factors = {CENTRAL if factor == 0 else factor for factor in numbers[:2]}
        if orders[2] == 0 and len(factors) == 1:
            yield _Entry(number, orders[1], factors.pop(), numbers[3])


def _only(
    entries: Sequence[_Entry], order_and_factor: tuple[int, float], pair: str, source: str
) -> float | None:
    """Return the only value of an order and a factor; None if there is none."""
    found = [entry for entry in entries if (entry.order, entry.factor) == order_and_factor]
    if len(found) > 1:
        raise InputError(
            "slha.xsection_twice",
            where=source,
            pair=pair,
            order=order_and_factor[0],
            lines=[entry.line for entry in found],
        )
    return found[0].value if found else None
