"""Parsing of SLHA text: the requested blocks as lines of words, and numbers from them.

Keywords and names of blocks are case-insensitive; a comment follows `#`. Blocks that are not
requested may have any content. Nothing is guessed: a number is what `float` reads from ASCII text.
"""

from __future__ import annotations

import io
import math
import re
import stat
from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from nlobayes.errors import InputError

MOST_BYTES = 10**7
"""Largest size of a file; spectra with all decays take a hundredth of it."""
ENDING = ".slha"
HEAD = 2**17
"""Bytes by which a file is recognised; LHE files begin with the cards of their generator."""
FIRST_LINES = 20
"""Lines without a comment among which the first section begins; programs may greet before it."""
SECTIONS = {"block", "decay", "xsection"}
INITIALS = {name[0] for name in SECTIONS} | {name[0].upper() for name in SECTIONS}
INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
SECTION = re.compile(
    r"block\s+[a-z]\S*(\s+q\s*=\s*\S+)?|decay\s+[+-]?\d+\s+\S+|xsection\s+\S+(\s+[+-]?\d+){4,}",
    re.IGNORECASE,
)
"""First line of a section without its comment."""
SCALE = re.compile(r"\bq\s*=\s*(\S+)", re.IGNORECASE)


class Line(NamedTuple):
    """A line of a block without its comment."""

    number: int
    words: list[str]


class Block(NamedTuple):
    """The lines of a block, and the comments before the first of them."""

    lines: list[Line]
    comments: list[str]


class Section(NamedTuple):
    """A block, a decay table or a cross section: its first line and what follows."""

    head: Line
    block: Block


def is_slha(path: Path) -> bool:
    """Return whether a file is SLHA: it ends in `.slha`, a section begins it, or it has <slha>."""
    if path.suffix == ENDING:
        return True
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return False
        with path.open("rb") as file:
            head = decode(file.read(HEAD))
    except OSError:
        return False
    lines = filter(None, (line.partition("#")[0].strip() for line in head.splitlines()))
    return any(map(SECTION.fullmatch, islice(lines, FIRST_LINES))) or "<slha>" in head.lower()


def read_text(path: Path) -> str:
    """Read an SLHA file as text."""
    return decode(read_content(path))


def decode(content: bytes) -> str:
    """Decode bytes as UTF-8; other bytes, mostly in comments, become replacement characters."""
    return content.decode("utf-8-sig", "replace")


def read_content(path: Path) -> bytes:
    """Read an SLHA file, byte for byte.

    Raises InputError if it is not a regular file of at most `MOST_BYTES`, or cannot be read.
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


def take_blocks(
    sections: Iterable[Section], names: tuple[str, ...], source: str
) -> dict[str, Block]:
    """Take the blocks of these names (in capitals) from sections.

    Raises InputError if a requested block appears twice.
    """
    blocks: dict[str, Block] = {}
    for head, block in sections:
        name = block_of(head)
        if name not in names:
            continue
        if name in blocks:
            raise InputError("slha.block_twice", where=source, block=name)
        blocks[name] = block
    return blocks


def read_sections(text: str, source: str, names: Container[str] | None = None) -> list[Section]:
    """Divide SLHA text at the lines that begin with one of `SECTIONS`.

    If `names` of blocks are given (in capitals), all other sections stay empty.

    Raises InputError if the text holds NUL characters.
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
            reads = names is None or block_of(sections[-1].head) in names
        elif words and words[0].startswith("<"):  # as </slha> in an LHE file
            reads = False
        elif words and sections and reads:
            sections[-1].block.lines.append(Line(number, words))
        if mark and sections and not sections[-1].block.lines:
            sections[-1].block.comments.append(comment.strip())
    return sections


def nearest(blocks: Sequence[Section], scale_gev: float) -> Sequence[Section]:
    """Choose the one of several blocks whose scale Q is nearest to a scale, by their ratio.

    All are returned if one of them states no scale, or two state the same.
    """
    ratios = [abs(math.log(_scale_of(section.head) / scale_gev)) for section in blocks]
    if len({*ratios}) < len(ratios) or math.inf in ratios:
        return blocks
    return [blocks[ratios.index(min(ratios))]]


def _scale_of(head: Line) -> float:
    """Return the scale Q of a block in GeV; infinity if it states none above 0."""
    stated = to_numbers(SCALE.findall(" ".join(head.words)))
    return stated[0] if stated and stated[0] > 0 else math.inf


def block_of(head: Line) -> str:
    """Return the name of a block in capitals; an empty text for another section."""
    is_block = head.words[0].lower() == "block" and len(head.words) > 1
    return head.words[1].upper() if is_block else ""


def read_entries(
    blocks: Mapping[str, Block], name: str, keys: int, source: str
) -> dict[tuple[int, ...], float]:
    """Read lines of `keys` whole numbers and a value.

    Raises InputError if there is no such block, or a line of it has another format or repeats an
    entry.
    """
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


def to_numbers(words: Sequence[str]) -> list[float] | None:
    """Convert words to numbers; None if one is not a number. Only Python accepts 1_000."""
    if not all(word.isascii() and "_" not in word for word in words):
        return None
    try:
        return [float(word) for word in words]
    except ValueError:
        return None


def to_integers(words: Sequence[str]) -> tuple[int, ...] | None:
    """Convert words to whole numbers; None if one is not a whole number."""
    return tuple(map(int, words)) if all(map(INTEGER.fullmatch, words)) else None
