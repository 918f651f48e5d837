"""Reading of neutralinos, charginos and parameters from SLHA text, by the names of columns."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

from nlobayes.data.parameters import Entry, entries_of
from nlobayes.data.processes import CHARGINOS, NEUTRALINOS, columns_of, number_of
from nlobayes.data.slha_blocks import Block, Section, read_entries, read_sections, take_blocks
from nlobayes.errors import InputError

SQUARKS = (*range(1000001, 1000005), *range(2000001, 2000005))
"""Particle numbers of the partners of d, u, s and c, left- and right-handed."""
SAME_ENERGY = 1e-6
MIXINGS = {"n": "NMIX", "u": "UMIX", "v": "VMIX"}
"""Blocks of mixings by the letter of their columns."""
OF_NEUTRALINOS = frozenset(name for particle in NEUTRALINOS for name in columns_of(particle))
OF_CHARGINOS = frozenset(name for particle in CHARGINOS for name in columns_of(particle))


def blocks_of(columns: Iterable[str]) -> tuple[str, ...]:
    """Name the blocks that have these columns, and those of imaginary parts of mixings."""
    requested = {*columns}
    letters = ("n" if requested & OF_NEUTRALINOS else "") + (
        "uv" if requested & OF_CHARGINOS else ""
    )
    mixings = [MIXINGS[letter] for letter in letters]
    return ("MASS", *mixings, *(f"IM{name}" for name in mixings))


def read_spectrum(
    blocks: Mapping[str, Block], source: str, columns: Iterable[str] = OF_NEUTRALINOS
) -> dict[str, float]:
    """Read the neutralinos, the charginos or both, depending on the requested columns.

    The result has, by name, m1 to m4 (GeV, signed) and n11 to n44 of all neutralinos; mc1 and mc2
    (GeV, with the signs of the file), u11 to u22 and v11 to v22 of all charginos. It has msq, the
    mean mass of the eight light squarks in GeV, if the file has all of them.

    Raises
    ------
    InputError
        If a block or one of its entries is missing, repeated or not a finite number, or a mixing
        matrix is complex.
    """
    requested = {*columns}
    masses = read_entries(blocks, "MASS", 1, source)
    found: dict[str, float] = {}
    for particles, names in ((NEUTRALINOS, OF_NEUTRALINOS), (CHARGINOS, OF_CHARGINOS)):
        if requested & names:
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
    parameters, block_names = tuple(parameters), blocks_of(columns)
    further = {entry.block for name in parameters for entry in entries_of(name)}
    sections = read_sections(text, source, {*block_names, *further})
    blocks = take_blocks(sections, block_names, source)
    values = read_parameters(sections, parameters, source)
    return values | read_spectrum(blocks, source, columns)


def read_parameters(
    sections: Sequence[Section], names: Iterable[str], source: str
) -> dict[str, float]:
    """Read `parameters` that the sections have, by name; masses without their sign.

    Raises
    ------
    InputError
        If a block with a parameter appears twice, or an entry is repeated or not a finite number.
    """
    found: dict[str, float] = {}
    for name in names:
        values = (_parameter_at(sections, entry, source) for entry in entries_of(name))
        value = next((value for value in values if value is not None), None)
        if value is not None:
            found[name] = value
    return found


def _parameter_at(sections: Sequence[Section], entry: Entry, source: str) -> float | None:
    """Read a parameter at one place, a mass without its sign; None if it is not there."""
    blocks = take_blocks(sections, (entry.block,), source)
    entries = read_entries(blocks, entry.block, 1, source) if blocks else {}
    value = entries.get((entry.number,))
    return abs(value) if value is not None and entry.block == "MASS" else value


def unit_of(column: str) -> str:
    """Return the unit of a column of a spectrum."""
    return "GeV" if column.startswith("m") else "1"


def key_of(particles: Iterable[int]) -> tuple[int, ...]:
    """Sort the particle numbers of a pair by size, the positive one first."""
    return tuple(sorted(particles, key=lambda particle: (abs(particle), particle < 0)))


def same_energy(one_gev: float, other_gev: float) -> bool:
    """Return whether two energies are equal to the digits that files write."""
    return math.isclose(one_gev, other_gev, rel_tol=SAME_ENERGY)


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
    entries = read_entries(blocks, block, 2, source)
    imaginary = f"IM{block}"
    if imaginary in blocks and any(read_entries(blocks, imaginary, 2, source).values()):
        raise InputError("slha.complex_mixings", where=source, block=imaginary)
    return entries


def _entry(
    entries: Mapping[tuple[int, ...], float], key: tuple[int, ...], block: str, source: str
) -> float:
    if key not in entries:
        entry = " ".join(map(str, key))
        raise InputError("slha.no_entry", where=source, block=block, entry=entry)
    return entries[key]
