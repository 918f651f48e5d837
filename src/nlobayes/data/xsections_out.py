"""Blocks XSECTION of SLHA text, as Les Houches 2013 proposed them: ours are put in, others kept.

    XSECTION  SQRTS  PID PID  NF  PID PID
      SCALE_SCHEME QCD_ORDER EW_ORDER KAPPA_F KAPPA_R PDF_ID VALUE CODE VERSION

Energy in GeV, value in pb. Scale schemes: 0 mean mass of what is produced, 2 partonic energy;
orders as `statements.QCD_ORDERS`; kappas are 1 at the central scale. PDF_ID, a number of LHAPDF, is
0 where none is known (phystev.cnrs.fr/wiki/2013:groups:tools:slha).
"""

from __future__ import annotations

import math
from typing import NamedTuple

CODE = "nlobayes"
SAME_ENERGY = 1e-6
OTHER_SCALE = 4
"""Scale scheme of what is neither of the others."""


class Entry(NamedTuple):
    """A cross section in pb at an energy in GeV; comments say what no column does."""

    sqrt_s_gev: float
    incoming: tuple[int, ...]
    outgoing: tuple[int, ...]
    scheme: int
    order: int
    value: float
    version: str
    comments: tuple[str, ...] = ()


def put(content: bytes, entry: Entry) -> bytes:
    """Put an entry in the place of our own of its process, energy and order, or at the end.

    Every other byte stays. Lines end as the first of the content does.
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
    return short if math.isclose(float(short), gev, rel_tol=SAME_ENERGY) else f"{gev:.9E}"


def _own(lines: list[bytes]) -> list[tuple[int, int]]:
    """Find where our blocks begin, and what follows them."""
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
    particles = [*map(str, (*entry.incoming, len(entry.outgoing), *entry.outgoing))]
    try:
        same = math.isclose(float(words[1]), entry.sqrt_s_gev, rel_tol=SAME_ENERGY)
    except (ValueError, IndexError):
        return False
    orders = [_words(line)[0][1:2] for line in lines[slice(*extent)][1:2]]
    return same and words[2:] == particles and orders in ([], [[str(entry.order)]])


def _words(line: bytes) -> tuple[list[str], str]:
    """Part a line into its words and its comment, in capitals."""
    content, _, comment = line.decode("utf-8", "replace").upper().partition("#")
    return content.split(), comment.strip()
