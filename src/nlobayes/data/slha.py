"""SLHA text: the blocks that are wanted as lines of words, and neutralinos out of them.

Keywords and names of blocks count in any case; what follows `#` is a comment. Blocks that are not
wanted may hold anything. Nothing is guessed: a number is what `float` makes of ASCII text.
"""

from __future__ import annotations

import io
import math
import re
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from nlobayes.errors import InputError

MOST_BYTES = 10**7
"""Largest file; spectra with all decays take a hundredth of it."""
SECTIONS = {"block", "decay", "xsection"}
NEUTRALINOS = (1000022, 1000023, 1000025, 1000035)
"""Particle numbers of the neutralinos 1 to 4."""
ROWS = range(1, 5)
"""Numbers of the neutralinos, and of their components: bino, wino, down- and up-type higgsino."""
SQUARKS = (*range(1000001, 1000005), *range(2000001, 2000005))
"""Particle numbers of the partners of d, u, s and c, left- and right-handed."""
INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
SPECTRUM = ("MASS", "NMIX", "IMNMIX")
"""Blocks that neutralinos and squarks are read from."""


class Line(NamedTuple):
    """A line of a block, its comment left out."""

    number: int
    words: list[str]


class Block(NamedTuple):
    """The lines of a block and, line by line, the comments before the first of them."""

    lines: list[Line]
    comments: list[str]


class Spectrum(NamedTuple):
    """Signed masses in GeV and the rows of the mixing matrix, by the number of the neutralino.

    `squark_mass` is the mean mass of the eight light squarks; None where one is not given.
    """

    masses: dict[int, float]
    mixings: dict[int, tuple[float, ...]]
    squark_mass: float | None


def read_text(path: Path) -> str:
    """Read an SLHA file; what is not UTF-8, in a comment mostly, becomes question marks.

    Raises
    ------
    InputError
        If it is no regular file of at most `MOST_BYTES`, or cannot be read.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise OSError("not a regular file")
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path}: cannot read it ({error}); give a readable SLHA file") from None
    if len(content) > MOST_BYTES:
        raise InputError(f"{path}: larger than {MOST_BYTES} bytes; give one SLHA spectrum a file")
    return content.decode("utf-8-sig", "replace")


def read_blocks(text: str, wanted: tuple[str, ...], source: str) -> dict[str, Block]:
    """Take the blocks of these names (in capitals) from SLHA text.

    Raises
    ------
    InputError
        If a wanted block appears twice, or the text holds NUL characters.
    """
    if "\0" in text:
        raise InputError(f"{source}: holds NUL characters; is the file damaged? give SLHA text")
    blocks: dict[str, Block] = {}
    block: Block | None = None
    for number, line in enumerate(io.StringIO(text, newline=None), start=1):
        content, mark, comment = line.partition("#")
        words = content.split()
        if words and words[0].lower() in SECTIONS:
            block = _open_block(words, blocks, wanted, source)
        elif words and block:
            block.lines.append(Line(number, words))
        if mark and block and not block.lines:
            block.comments.append(comment.strip())
    return blocks


def read_spectrum(blocks: Mapping[str, Block], source: str) -> Spectrum:
    """Read the neutralinos and the mean squark mass.

    Raises
    ------
    InputError
        If MASS or NMIX or one of their entries is missing, repeated, or no finite number, or the
        mixing matrix is complex.
    """
    masses = _entries(blocks, "MASS", 1, source)
    mixings = _entries(blocks, "NMIX", 2, source)
    if "IMNMIX" in blocks and any(_entries(blocks, "IMNMIX", 2, source).values()):
        raise InputError(
            f"{source}: block IMNMIX makes the mixings complex; give real ones and signed masses"
        )
    squarks = [masses[(number,)] for number in SQUARKS if (number,) in masses]
    return Spectrum(
        {row: _entry(masses, (NEUTRALINOS[row - 1],), "MASS", source) for row in ROWS},
        {row: tuple(_entry(mixings, (row, k), "NMIX", source) for k in ROWS) for row in ROWS},
        math.fsum(map(abs, squarks)) / len(squarks) if len(squarks) == len(SQUARKS) else None,
    )


def pair_units(pair: tuple[int, int]) -> dict[str, str]:
    """Name the features of a pair and their units: each neutralino's mass, then its mixings."""
    units: dict[str, str] = {}
    for number in dict.fromkeys(pair):
        units |= {f"m{number}": "GeV"} | {f"n{number}{component}": "1" for component in ROWS}
    return units


def pair_values(spectrum: Spectrum, pair: tuple[int, int], *, absolute: bool) -> list[float]:
    """Give the features of a pair in this order."""
    values: list[float] = []
    for number in dict.fromkeys(pair):
        mass = spectrum.masses[number]
        values += [abs(mass) if absolute else mass, *spectrum.mixings[number]]
    return values


def to_numbers(words: Sequence[str]) -> list[float] | None:
    """Read words as numbers; None where one is none. Python alone takes 1_000 for one."""
    if not all(word.isascii() and "_" not in word for word in words):
        return None
    try:
        return [float(word) for word in words]
    except ValueError:
        return None


def to_integers(words: Sequence[str]) -> tuple[int, ...] | None:
    """Read words as whole numbers; None where one is none."""
    return tuple(map(int, words)) if all(map(INTEGER.fullmatch, words)) else None


def _open_block(
    words: list[str], blocks: dict[str, Block], wanted: tuple[str, ...], source: str
) -> Block | None:
    name = words[1].upper() if words[0].lower() == "block" and len(words) > 1 else ""
    if name not in wanted:
        return None
    if name in blocks:
        raise InputError(f"{source}: block {name} appears twice; leave one, it is not clear which")
    blocks[name] = Block([], [])
    return blocks[name]


def _entries(
    blocks: Mapping[str, Block], name: str, keys: int, source: str
) -> dict[tuple[int, ...], float]:
    """Read lines of so many whole numbers and a value."""
    if name not in blocks:
        raise InputError(f"{source}: there is no block {name}; give the complete SLHA spectrum")
    entries: dict[tuple[int, ...], float] = {}
    for number, words in blocks[name].lines:
        key, values = to_integers(words[:keys]), to_numbers(words[keys:])
        if key is None or values is None or len(values) != 1 or not math.isfinite(values[0]):
            raise InputError(
                f"{source}: line {number}, in block {name}, holds {' '.join(words)[:80]!r}; it "
                f"must be {keys} whole number{'s' * (keys > 1)} and a finite value"
            )
        if key in entries:
            raise InputError(
                f"{source}: line {number} gives entry {' '.join(words[:keys])} of block {name} "
                "a second time; leave one"
            )
        entries[key] = values[0]
    return entries


def _entry(
    entries: Mapping[tuple[int, ...], float], key: tuple[int, ...], block: str, source: str
) -> float:
    if key not in entries:
        name = " ".join(map(str, key))
        raise InputError(
            f"{source}: block {block} lacks entry {name}; give the complete SLHA spectrum"
        )
    return entries[key]
