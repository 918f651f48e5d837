"""Blocks XSECTION of SLHA files: read as SModelS, HEPi and others write them, and written.

    XSECTION  SQRTS  PID PID  NF  PID PID
      SCALE_SCHEME QCD_ORDER EW_ORDER KAPPA_F KAPPA_R PDF_ID VALUE CODE VERSION

This is the proposal of Les Houches 2013 (phystev.cnrs.fr/wiki/2013:groups:tools:slha). Energy in
GeV, value in pb. Scale schemes: 0 mean mass of the produced particles, 2 partonic energy; orders as
`statements.QCD_ORDERS`; kappas are 1 at the central scale. PDF_ID, a number of LHAPDF, is 0 if none
is known. What is written leaves the blocks of others as they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nlobayes.data.slha import key_of, same_energy
from nlobayes.data.slha_blocks import SECTIONS, Line, Section, to_integers, to_numbers
from nlobayes.data.statements import PROTONS
from nlobayes.errors import InputError
from nlobayes.physics.processes import Process

CENTRAL, UP, DOWN = 1.0, 0.5, 2.0
"""Factors of both scales; SModelS writes 0 for an unstated one, which counts as central."""
ALSO = {"lo_pb": (0, CENTRAL), "scale_up": (None, UP), "scale_down": (None, DOWN)}
"""Further columns: their QCD order (None is the requested one) and scale factor."""
CODE = "nlobayes"
OTHER_SCALE = 4
"""Scale scheme for any other scale."""


class CrossSection(NamedTuple):
    """The requested value in pb, and those columns of `ALSO` that the file has."""

    value: float
    also: dict[str, float]


class _Line(NamedTuple):
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

    Raises InputError if the process has blocks only at other energies, no value of the order, or
    two values of one order and scale, or a line does not have the format.
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
) -> tuple[list[float], list[_Line]]:
    """Collect the energies of all blocks of the process, and its lines at the requested one."""
    energies: list[float] = []
    entries: list[_Line] = []
    for head, block in sections:
        energy = _energy_of(head, process, source)
        if energy is None:
            continue
        energies.append(energy)
        if same_energy(energy, sqrt_s_gev):
            entries += _entries(block.lines, source)
    return energies, entries


def _energy_of(head: Line, process: Process, source: str) -> float | None:
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


def _entries(lines: Sequence[Line], source: str) -> Iterator[_Line]:
    for number, words in lines:
        orders, numbers = to_integers(words[:3]), to_numbers(words[3:7])
        if orders is None or len(orders) < 3 or numbers is None or len(numbers) < 4:
            raise InputError(
                "slha.xsection_line", where=source, line=number, words=" ".join(words)[:120]
            )
        factors = {CENTRAL if factor == 0 else factor for factor in numbers[:2]}
        if orders[2] == 0 and len(factors) == 1:
            yield _Line(number, orders[1], factors.pop(), numbers[3])


def _only(
    entries: Sequence[_Line], order_and_factor: tuple[int, float], pair: str, source: str
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


class Entry(NamedTuple):
    """A cross section in pb at an energy in GeV; comments hold further information."""

    sqrt_s_gev: float
    incoming: tuple[int, ...]
    outgoing: tuple[int, ...]
    scheme: int
    order: int
    value: float
    version: str
    comments: tuple[str, ...] = ()


def put(content: bytes, entry: Entry) -> bytes:
    """Replace the nlobayes entry of the same process, energy and order, or append the entry.

    The order of particles does not matter. All other bytes stay. Lines end as the first one does.
    """
    lines = content.splitlines(keepends=True)
    end = b"\r\n" if lines and lines[0].endswith(b"\r\n") else b"\n"
    block = [line.encode("utf-8", "replace") + end for line in _spell(entry)]
    own = [extent for extent in _own(lines) if _is_of(lines, extent, entry)]
    if not own:
        closed = content if not content or content.endswith((b"\n", b"\r")) else content + end
        return closed + b"".join(block)
    for first, behind in reversed(own[1:]):
        del lines[first:behind]
    first, behind = own[0]
    lines[first:behind] = block
    return b"".join(lines)


def others(content: bytes, entry: Entry) -> tuple[str, ...]:
    """Name the other programs that give a cross section of this process, energy and order."""
    found: dict[str, None] = {}
    inside = False
    for line in content.splitlines():
        words, _ = _words(line)
        if words and words[0].lower() in SECTIONS:
            inside = words[0] == "XSECTION" and _is_process(words, entry)
        elif inside and words[1:3] == [str(entry.order), "0"] and words[7:8] != [CODE.upper()]:
            spelled = line.decode("utf-8", "replace").partition("#")[0].split()
            found[" ".join(spelled[7:]) or "a program without a name"] = None
    return tuple(found)


def _spell(entry: Entry) -> list[str]:
    particles = (*entry.incoming, len(entry.outgoing), *entry.outgoing)
    head = f"XSECTION  {_energy(entry.sqrt_s_gev)}  {' '.join(map(str, particles))} # {CODE}"
    numbers = f"{entry.scheme} {entry.order} 0 1 1 0"
    return [
        head,
        f"  {numbers}  {entry.value:.8E} {CODE} {entry.version}",
        *(f"# {CODE}: {comment}" for comment in entry.comments),
    ]


def _energy(gev: float) -> str:
    short = f"{gev:.2E}"
    return short if same_energy(float(short), gev) else f"{gev:.9E}"


def _own(lines: list[bytes]) -> list[tuple[int, int]]:
    """Find the first line of each nlobayes block, and the line after it."""
    found = []
    for number, line in enumerate(lines):
        words, comment = _words(line)
        if words[:1] == ["XSECTION"] and comment == CODE.upper():
            behind = number + 1
            while behind < len(lines) and _is_ours(lines[behind]):
                behind += 1
            found.append((number, behind))
    return found


def _is_ours(line: bytes) -> bool:
    words, comment = _words(line)
    return words[7:8] == [CODE.upper()] or (not words and comment.startswith(f"{CODE.upper()}:"))


def _is_of(lines: list[bytes], extent: tuple[int, int], entry: Entry) -> bool:
    words, _ = _words(lines[extent[0]])
    orders = [_words(line)[0][1:2] for line in lines[slice(*extent)][1:2]]
    return _is_process(words, entry) and orders in ([], [[str(entry.order)]])


def _is_process(words: list[str], entry: Entry) -> bool:
    """Return whether a block has the energy and the particles of an entry, in any order."""
    energy, particles = to_numbers(words[1:2]), to_integers(words[2:])
    if not energy or particles is None:
        return False
    sides = ((particles[:2], entry.incoming), (particles[3:], entry.outgoing))
    alike = all(key_of(found) == key_of(expected) for found, expected in sides)
    return alike and same_energy(energy[0], entry.sqrt_s_gev)


def _words(line: bytes) -> tuple[list[str], str]:
    """Split a line into its words and its comment, both in capitals."""
    content, _, comment = line.decode("utf-8", "replace").upper().partition("#")
    return content.split(), comment.strip()
