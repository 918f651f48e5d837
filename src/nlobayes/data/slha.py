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


def read_text(path: Path) -> str:
    """Read an SLHA file as text.

    Raises
    ------
    InputError
        As `read_content`.
    """
    return decode(read_content(path))


def decode(content: bytes) -> str:
    """Make text; what is not UTF-8, in a comment mostly, becomes question marks."""
    return content.decode("utf-8-sig", "replace")


def read_content(path: Path) -> bytes:
    """Read an SLHA file, byte for byte.

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
        raise InputError("slha.unreadable", where=path, reason=str(error)) from None
    if len(content) > MOST_BYTES:
        raise InputError("slha.too_large", where=path, most=MOST_BYTES)
    return content


def read_blocks(text: str, wanted: tuple[str, ...], source: str) -> dict[str, Block]:
    """Take the blocks of these names (in capitals) from SLHA text.

    Raises
    ------
    InputError
        If a wanted block appears twice, or the text holds NUL characters.
    """
    if "\0" in text:
        raise InputError("slha.nul", where=source)
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


def read_spectrum(blocks: Mapping[str, Block], source: str) -> dict[str, float]:
    """Read neutralinos by the names of columns: m1 to m4 (GeV, signed), n11 to n44.

    Column msq, the mean mass of the eight light squarks in GeV, is there where all of them are.

    Raises
    ------
    InputError
        If MASS or NMIX or one of their entries is missing, repeated, or no finite number, or the
        mixing matrix is complex.
    """
    masses = _entries(blocks, "MASS", 1, source)
    mixings = _entries(blocks, "NMIX", 2, source)
    if "IMNMIX" in blocks and any(_entries(blocks, "IMNMIX", 2, source).values()):
        raise InputError("slha.complex_mixings", where=source)
    columns: dict[str, float] = {}
    for row, particle in enumerate(NEUTRALINOS, start=1):
        columns[f"m{row}"] = _entry(masses, (particle,), "MASS", source)
        for component in range(1, 5):
            columns[f"n{row}{component}"] = _entry(mixings, (row, component), "NMIX", source)
    squarks = [abs(masses[(particle,)]) for particle in SQUARKS if (particle,) in masses]
    if len(squarks) == len(SQUARKS):
        columns["msq"] = math.fsum(squarks) / len(squarks)
    return columns


def pair_columns(pair: tuple[int, int]) -> tuple[str, ...]:
    """Name the features of a pair: mass and mixings of the first, then of an unlike second."""
    return tuple(
        name
        for number in dict.fromkeys(pair)
        for name in (f"m{number}", *(f"n{number}{component}" for component in range(1, 5)))
    )


def unit_of(column: str) -> str:
    """Give the unit of a column of a spectrum."""
    return "GeV" if column.startswith("m") else "1"


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
        raise InputError("slha.block_twice", where=source, block=name)
    blocks[name] = Block([], [])
    return blocks[name]


def _entries(
    blocks: Mapping[str, Block], name: str, keys: int, source: str
) -> dict[tuple[int, ...], float]:
    """Read lines of so many whole numbers and a value."""
    if name not in blocks:
        raise InputError("slha.no_block", where=source, block=name)
    entries: dict[tuple[int, ...], float] = {}
    for number, words in blocks[name].lines:
        key, values = to_integers(words[:keys]), to_numbers(words[keys:])
        if key is None or values is None or len(values) != 1 or not math.isfinite(values[0]):
            raise InputError(
                "slha.line_of_block",
                where=source,
                line=number,
                block=name,
                words=" ".join(words)[:80],
                keys=keys,
            )
        if key in entries:
            entry = " ".join(words[:keys])
            raise InputError("slha.entry_twice", where=source, line=number, block=name, entry=entry)
        entries[key] = values[0]
    return entries


def _entry(
    entries: Mapping[tuple[int, ...], float], key: tuple[int, ...], block: str, source: str
) -> float:
    if key not in entries:
        entry = " ".join(map(str, key))
        raise InputError("slha.no_entry", where=source, block=block, entry=entry)
    return entries[key]
