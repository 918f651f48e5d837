"""Reading of neutralinos, charginos, squarks and parameters from SLHA text, by names of columns.

SLHA1 numbers squarks by flavour: 1000002 is the partner of the left-handed u. SLHA2 numbers the
six of each charge by mass, and the rows of USQMIX and DSQMIX have their flavours (arXiv:0801.0045).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeVar

from nlobayes.data.fixed_parameters import SQUARKS, blocks_of, unit_of_parameter
from nlobayes.data.slha_blocks import (
    Block,
    Section,
    block_of,
    read_entries,
    read_sections,
    take_blocks,
)
from nlobayes.data.slha_parameters import read_parameters
from nlobayes.errors import InputError
from nlobayes.physics.processes import CHARGINOS, NEUTRALINOS, columns_of, name_of, number_of

FIFTH_NEUTRALINO = 1000045
NMSSM = "an NMSSM spectrum"
LARGER = "a spectrum with more particles than the MSSM"
FLAVOURED = "a spectrum with mixing of the flavours of sleptons, numbered by mass"
OTHER_MODELS = {"NM": NMSSM, "RV": "a spectrum with R-parity violation"}
"""Models by the letters before the name of a block of mixings."""
ROUNDING = 1e-6
"""Largest part, of a row of mixings, that counts as rounding of 0."""
SAME_ENERGY = 1e-6
MIXINGS = {"n": "NMIX", "u": "UMIX", "v": "VMIX"}
"""Blocks of mixings by the letter of their columns."""
SIZES = {"NMIX": len(NEUTRALINOS), "UMIX": len(CHARGINOS), "VMIX": len(CHARGINOS)}
Value = TypeVar("Value", float, complex)
OF_NEUTRALINOS = frozenset(name for particle in NEUTRALINOS for name in columns_of(particle))
OF_CHARGINOS = frozenset(name for particle in CHARGINOS for name in columns_of(particle))
ROWS = {
    "USQMIX": (1000002, 1000004, 1000006, 2000002, 2000004, 2000006),
    "DSQMIX": (1000001, 1000003, 1000005, 2000001, 2000003, 2000005),
}
"""Particle numbers in the order of the rows of each block, and of flavours in SLHA1."""
BLOCKS = ("MODSEL", *ROWS, *(f"IM{name}" for name in ROWS))
LIGHT = (1, 2, 4, 5)
"""Columns of the light flavours; 3 and 6 are stops or sbottoms."""
UNITARY = 0.01
"""Largest relative error of the sum of squared mixings of the light flavours."""


def read_spectrum(
    sections: Sequence[Section], source: str, columns: Iterable[str] = OF_NEUTRALINOS
) -> dict[str, float]:
    """Read the neutralinos and the charginos that have one of these columns.

    The result has, by name, the mass of each in GeV, with its sign, and all its mixings. Complex
    mixings are converted to real ones where a choice of phases makes them real. The result has msq,
    the mean mass of the eight light squarks in GeV, if the file has it or a column is msq.

    Raises InputError if a block or one of its entries is missing, repeated or not a finite number,
    the mixings of a particle violate CP, or the spectrum is not one of the MSSM.
    """
    requested = {*columns}
    blocks = take_blocks(sections, _blocks_of(requested), source)
    masses = read_entries(blocks, "MASS", 1, source)
    found: dict[str, float] = {}
    for particles in (NEUTRALINOS, CHARGINOS):
        chosen = [particle for particle in particles if requested & {*columns_of(particle)}]
        if chosen:
            found |= _read_particles(blocks, masses, chosen, source)
    try:
        found[SQUARKS] = _mean_mass(take_blocks(sections, BLOCKS, source), masses, source)
    except InputError:
        if SQUARKS in requested:
            raise
    return found


def spectrum_of(
    text: str, source: str, columns: Collection[str], parameters: Iterable[str] = ()
) -> dict[str, float]:
    """Read the particles of these columns, and the parameters in the text, by name.

    Columns may be names of parameters, too; one that the text lacks is missing in the result.

    Errors as for `read_spectrum`, and `read_parameters`.
    """
    names = {*parameters, *filter(unit_of_parameter, columns)} - {SQUARKS}
    further = {block for name in names for block in blocks_of(name)}
    sections = read_sections(text, source, {*_blocks_of(columns), *BLOCKS, *further})
    spectrum = read_spectrum(sections, source, columns)
    return read_parameters(sections, names, source, spectrum) | spectrum


def columns_at(
    sections: Sequence[Section], source: str, columns: Collection[str]
) -> dict[str, float]:
    """Read all columns of a process, and msq if the sections have it, by name.

    Errors as for `read_spectrum`, or if an entry of a slepton is missing, a mass of one is
    negative, or only blocks with mixing of their flavours are there.
    """
    of_sleptons = [*filter(unit_of_parameter, columns)]
    heads = {block_of(section.head) for section in sections}
    if of_sleptons and "SELMIX" in heads and "STAUMIX" not in heads:
        raise InputError("slha.other_model", where=source, found="block SELMIX", model=FLAVOURED)
    spectrum = read_spectrum(sections, source, columns)
    found = spectrum | read_parameters(sections, of_sleptons, source)
    for name in columns:
        if name not in found:
            blocks = blocks_of(name) - {f"IM{block}" for block in blocks_of(name)}
            entry = f"of {name}"
            raise InputError("slha.no_entry", where=source, block=min(blocks), entry=entry)
    return found


def unit_of(column: str) -> str:
    """Return the unit of a column of a spectrum."""
    return "GeV" if column.startswith("m") else "1"


def key_of(particles: Iterable[int]) -> tuple[int, ...]:
    """Sort the particle numbers of a pair by size, the positive one first."""
    return tuple(sorted(particles, key=lambda particle: (abs(particle), particle < 0)))


def same_energy(one_gev: float, other_gev: float) -> bool:
    """Return whether two energies are equal to the digits that files write."""
    return math.isclose(one_gev, other_gev, rel_tol=SAME_ENERGY)


def _blocks_of(columns: Iterable[str]) -> tuple[str, ...]:
    """Name MASS and the blocks of mixings for these columns, also those of other models."""
    requested = {*columns}
    mixings = [
        MIXINGS[letter]
        for letters, names in (("n", OF_NEUTRALINOS), ("uv", OF_CHARGINOS))
        if requested & names
        for letter in letters
    ]
    return ("MASS", *(prefix + name for prefix in ("", "IM", *OTHER_MODELS) for name in mixings))


def _read_particles(
    blocks: Mapping[str, Block],
    masses: Mapping[tuple[int, ...], float],
    particles: Sequence[int],
    source: str,
) -> dict[str, float]:
    """Read the masses and the mixings of some neutralinos, or of some charginos."""
    found: dict[str, float] = {}
    letters = dict.fromkeys(name[0] for name in columns_of(particles[0])[1:])
    matrices = {letter: _matrix(blocks, MIXINGS[letter], source) for letter in letters}
    if "n" in letters and (FIFTH_NEUTRALINO,) in masses:
        found_there = f"block MASS has {FIFTH_NEUTRALINO}"
        raise InputError("slha.other_model", where=source, found=found_there, model=NMSSM)
    for particle in particles:
        mass, *names = columns_of(particle)
        value = _entry(masses, (particle,), "MASS", source)
        row = [
            _entry(matrices[name[0]], (number_of(particle), int(name[2])), MIXINGS[name[0]], source)
            for name in names
        ]
        found |= zip((mass, *names), _real(particle, value, row, source), strict=True)
    return found


def _real(particle: int, mass: float, row: Sequence[complex], source: str) -> list[float]:
    """Return the mass and the mixings of a particle in the phase that makes them real.

    N* M N^dagger is diagonal, so a factor i of a row of N is a factor -1 of its mass. U* X V^dagger
    is diagonal, so any phase of a row of U cancels the opposite one of the row of V.
    """
    if particle in CHARGINOS:
        row = [*row[:2], *(mixing.conjugate() for mixing in row[2:])]
    largest = max(row, key=abs)
    phase = largest / abs(largest) if largest else 1.0
    if particle in NEUTRALINOS:
        phase = 1j if abs(phase.imag) > abs(phase.real) else 1.0
        mass = mass if phase == 1.0 else -mass
    elif phase.real < 0:
        phase = -phase  # a row that is real stays as it is
    turned = [mixing / phase for mixing in row]
    if any(abs(mixing.imag) > ROUNDING * abs(largest) for mixing in turned):
        name, blocks = name_of(particle), [f"IM{MIXINGS[n[0]]}" for n in columns_of(particle)[1:]]
        raise InputError("slha.complex_mixings", where=source, particle=name, blocks=blocks)
    return [mass, *(mixing.real for mixing in turned)]


def _matrix(blocks: Mapping[str, Block], block: str, source: str) -> dict[tuple[int, ...], complex]:
    """Read a block of mixings with the imaginary parts, if they have a block.

    Errors as for `read_entries`, or if the block is larger than in the MSSM or one of another
    model.
    """
    for prefix, model in OTHER_MODELS.items():
        if block not in blocks and prefix + block in blocks:
            found = f"block {prefix}{block}"
            raise InputError("slha.other_model", where=source, found=found, model=model)
    real = read_entries(blocks, block, 2, source)
    if further := [key for key in real if max(key) > SIZES[block]]:
        found = f"block {block} has entry {further[0][0]} {further[0][1]}"
        raise InputError("slha.other_model", where=source, found=found, model=LARGER)
    imaginary = f"IM{block}"
    parts = read_entries(blocks, imaginary, 2, source) if imaginary in blocks else {}
    return {key: complex(real.get(key, 0.0), parts.get(key, 0.0)) for key in real | parts}


def _entry(
    entries: Mapping[tuple[int, ...], Value], key: tuple[int, ...], block: str, source: str
) -> Value:
    if key not in entries:
        entry = " ".join(map(str, key))
        raise InputError("slha.no_entry", where=source, block=block, entry=entry)
    return entries[key]


def _mean_mass(
    blocks: Mapping[str, Block], masses: Mapping[tuple[int, ...], float], source: str
) -> float:
    """Average the sizes of the masses, each weighted by its light flavours; in GeV.

    Raises InputError if a mass is missing, or the squarks are numbered by mass and their mixings
    are missing or not unitary.

    Parameters
    ----------
    blocks
        Those of `BLOCKS` that the file has.
    masses
        Entries of block MASS.
    """
    selected = [line.words[:2] for line in blocks["MODSEL"].lines] if "MODSEL" in blocks else []
    by_mass = not {*ROWS}.isdisjoint(blocks) or ["6", "1"] in selected or ["6", "3"] in selected
    terms, weights = [], []
    for name, particles in ROWS.items():
        shares = _light_shares(blocks, name, source) if by_mass else {row: 1.0 for row in LIGHT}
        for row, share in shares.items():
            particle = particles[row - 1]
            if (particle,) not in masses:
                raise InputError("slha.no_entry", where=source, block="MASS", entry=f"{particle}")
            terms.append(share * abs(masses[particle,]))
            weights.append(share)
    return math.fsum(terms) / math.fsum(weights)


def _light_shares(blocks: Mapping[str, Block], name: str, source: str) -> dict[int, float]:
    """Sum the squared mixings of the light flavours, for every row that has them."""
    shares: dict[int, float] = {}
    for block in (name, f"IM{name}"):
        if block == name or block in blocks:
            for (row, column), mixing in read_entries(blocks, block, 2, source).items():
                if column in LIGHT and mixing:
                    shares[row] = shares.get(row, 0.0) + mixing**2
    total = math.fsum(shares.values())
    if not {*shares} <= {*range(1, 7)} or abs(total / len(LIGHT) - 1) > UNITARY:
        raise InputError("slha.squark_mixings", where=source, block=name, total=total)
    return shares
