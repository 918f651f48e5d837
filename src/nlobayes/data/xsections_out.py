"""Writing of blocks XSECTION (Les Houches 2013) into SLHA text without changing those of others.

    XSECTION  SQRTS  PID PID  NF  PID PID
      SCALE_SCHEME QCD_ORDER EW_ORDER KAPPA_F KAPPA_R PDF_ID VALUE CODE VERSION

Energy in GeV, value in pb. Scale schemes: 0 mean mass of the produced particles, 2 partonic energy;
orders as `statements.QCD_ORDERS`; kappas are 1 at the central scale. PDF_ID, a number of LHAPDF, is
0 if none is known (phystev.cnrs.fr/wiki/2013:groups:tools:slha).
"""

from __future__ import annotations

from typing import NamedTuple

from nlobayes.data.slha import key_of, same_energy
from nlobayes.data.slha_blocks import SECTIONS, to_integers, to_numbers

CODE = "nlobayes"
OTHER_SCALE = 4
"""Scale scheme for any other scale."""


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
