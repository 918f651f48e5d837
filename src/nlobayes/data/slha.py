"""SLHA text: the blocks that are requested as lines of words, and electroweakinos out of them.

Keywords and names of blocks count in any case; what follows `#` is a comment. Blocks that are not
requested may hold anything. Nothing is guessed: a number is what `float` makes of ASCII text.
"""

from __future__ import annotations

import io
import math
import re
import stat
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from nlobayes.data.parameters import Entry, entries_of
from nlobayes.data.processes import CHARGINOS, NEUTRALINOS, columns_of, number_of
from nlobayes.errors import InputError

MOST_BYTES = 10**7
"""Largest file; spectra with all decays take a hundredth of it."""
SECTIONS = {"block", "decay", "xsection"}
INITIALS = {name[0] for name in SECTIONS} | {name[0].upper() for name in SECTIONS}
SQUARKS = (*range(1000001, 1000005), *range(2000001, 2000005))
"""Particle numbers of the partners of d, u, s and c, left- and right-handed."""
SAME_ENERGY = 1e-6
INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
MIXINGS = {"n": "NMIX", "u": "UMIX", "v": "VMIX"}
"""Blocks of mixings by the letter of their columns."""
OF_NEUTRALINOS = frozenset(name for particle in NEUTRALINOS for name in columns_of(particle))
OF_CHARGINOS = frozenset(name for particle in CHARGINOS for name in columns_of(particle))


class Line(NamedTuple):
    """A line of a block, its comment left out."""

    number: int
    words: list[str]


class Block(NamedTuple):
    """The lines of a block and, line by line, the comments before the first of them."""

    lines: list[Line]
    comments: list[str]


class Section(NamedTuple):
    """A block, a decay table or a cross section: its first line and what follows."""

    head: Line
    block: Block


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
        If a requested block appears twice, or the text holds NUL characters.
    """
    return take_blocks(read_sections(text, source), wanted, source)


def take_blocks(
    sections: Iterable[Section], wanted: tuple[str, ...], source: str
) -> dict[str, Block]:
    """Take the blocks of these names from sections; errors as `read_blocks`."""
    blocks: dict[str, Block] = {}
    for head, block in sections:
        name = _block_of(head)
        if name not in wanted:
            continue
        if name in blocks:
            raise InputError("slha.block_twice", where=source, block=name)
        blocks[name] = block
    return blocks


def read_sections(text: str, source: str, wanted: Container[str] | None = None) -> list[Section]:
    """Divide SLHA text at the lines that begin with one of `SECTIONS`.

    If the names of blocks that are `wanted` are given (in capitals), other sections are empty.

    Raises
    ------
    InputError
        If the text holds NUL characters.
    """
    if "\0" in text:
        raise InputError("slha.nul", where=source)
    sections: list[Section] = []
    reads = True
    for number, line in enumerate(io.StringIO(text, newline=None), start=1):
        if not reads and line.lstrip()[:1] not in INITIALS:
            continue
        content, mark, comment = line.partition("#")
        words = content.split()
        if words and words[0].lower() in SECTIONS:
            sections.append(Section(Line(number, words), Block([], [])))
            reads = wanted is None or _block_of(sections[-1].head) in wanted
        elif words and sections:
            sections[-1].block.lines.append(Line(number, words))
        if mark and sections and not sections[-1].block.lines:
            sections[-1].block.comments.append(comment.strip())
    return sections


def _block_of(head: Line) -> str:
    """Give the name of a block in capitals; empty for another section."""
    is_block = head.words[0].lower() == "block" and len(head.words) > 1
    return head.words[1].upper() if is_block else ""


def blocks_of(columns: Iterable[str]) -> tuple[str, ...]:
    """Name the blocks that these columns are read from, and those that make mixings complex."""
    asked = {*columns}
    letters = ("n" if asked & OF_NEUTRALINOS else "") + ("uv" if asked & OF_CHARGINOS else "")
    mixings = [MIXINGS[letter] for letter in letters]
    return ("MASS", *mixings, *(f"IM{name}" for name in mixings))


def read_spectrum(
    blocks: Mapping[str, Block], source: str, columns: Iterable[str] = OF_NEUTRALINOS
) -> dict[str, float]:
    """Read the neutralinos, the charginos or both, as columns of them are requested, by names.

    Of all neutralinos m1 to m4 (GeV, signed), n11 to n44; of all charginos mc1 and mc2 (GeV, as the
    file signs them), u11 to u22, v11 to v22. Column msq, the mean mass of the eight light squarks
    in GeV, is there where all of them are.

    Raises
    ------
    InputError
        If a block or one of its entries is missing, repeated, or no finite number, or a mixing
        matrix is complex.
    """
    asked = {*columns}
    masses = _entries(blocks, "MASS", 1, source)
    found: dict[str, float] = {}
    for particles, names in ((NEUTRALINOS, OF_NEUTRALINOS), (CHARGINOS, OF_CHARGINOS)):
        if asked & names:
            found |= _read_particles(blocks, masses, particles, source)
    squarks = [abs(masses[(particle,)]) for particle in SQUARKS if (particle,) in masses]
    if len(squarks) == len(SQUARKS):
        found["msq"] = math.fsum(squarks) / len(squarks)
    return found


def spectrum_of(
    text: str, source: str, columns: Collection[str], parameters: Iterable[str] = ()
) -> dict[str, float]:
    """Read the particles of these columns, and the parameters in the text, by name.

    Raises
    ------
    InputError
        As `read_spectrum`, and `read_parameters`.
    """
    parameters, wanted = tuple(parameters), blocks_of(columns)
    further = {entry.block for name in parameters for entry in entries_of(name)}
    sections = read_sections(text, source, {*wanted, *further})
    blocks = take_blocks(sections, wanted, source)
    told = read_parameters(sections, parameters, source)
    return told | read_spectrum(blocks, source, columns)


def read_parameters(
    sections: Sequence[Section], names: Iterable[str], source: str
) -> dict[str, float]:
    """Read `parameters` by name, of masses their sizes; those that the sections have.

    Raises
    ------
    InputError
        If a block with one is there twice, or an entry of it is repeated or no finite number.
    """
    found: dict[str, float] = {}
    for name in names:
        told = (_told(sections, entry, source) for entry in entries_of(name))
        value = next((value for value in told if value is not None), None)
        if value is not None:
            found[name] = value
    return found


def _told(sections: Sequence[Section], entry: Entry, source: str) -> float | None:
    """Read a parameter at its possible places, a mass by its size."""
    blocks = take_blocks(sections, (entry.block,), source)
    entries = _entries(blocks, entry.block, 1, source) if blocks else {}
    value = entries.get((entry.number,))
    return abs(value) if value is not None and entry.block == "MASS" else value


def unit_of(column: str) -> str:
    """Give the unit of a column of a spectrum."""
    return "GeV" if column.startswith("m") else "1"


def key_of(particles: Iterable[int]) -> tuple[int, ...]:
    """Order the particle numbers of a pair: by their size, the positive one first."""
    return tuple(sorted(particles, key=lambda particle: (abs(particle), particle < 0)))


def same_energy(one_gev: float, other_gev: float) -> bool:
    """Return whether two energies that a file wrote with some digits are one."""
    return math.isclose(one_gev, other_gev, rel_tol=SAME_ENERGY)


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


def _read_particles(
    blocks: Mapping[str, Block],
    masses: Mapping[tuple[int, ...], float],
    particles: Sequence[int],
    source: str,
) -> dict[str, float]:
    """Read the masses and the mixings of all neutralinos, or of all charginos."""
    found: dict[str, float] = {}
    matrices = {
        letter: _mixing_matrix(blocks, MIXINGS[letter], source)
        for letter in dict.fromkeys(name[0] for name in columns_of(particles[0])[1:])
    }
    for particle in particles:
        mass, *mixings = columns_of(particle)
        found[mass] = _entry(masses, (particle,), "MASS", source)
        for name in mixings:
            key, block = (number_of(particle), int(name[2])), MIXINGS[name[0]]
            found[name] = _entry(matrices[name[0]], key, block, source)
    return found


def _mixing_matrix(
    blocks: Mapping[str, Block], block: str, source: str
) -> dict[tuple[int, ...], float]:
    entries = _entries(blocks, block, 2, source)
    imaginary = f"IM{block}"
    if imaginary in blocks and any(_entries(blocks, imaginary, 2, source).values()):
        raise InputError("slha.complex_mixings", where=source, block=imaginary)
    return entries


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
