"""Pairs that two quarks produce by electroweak bosons at tree level: particle numbers and columns.

The settings import this module, so it imports no numerics. Particle numbers are those of the
Particle Data Group: 1000024 is the lighter chargino of charge +1 and -1000024 of -1, 1000011 is the
left selectron of charge -1 and -1000011 its antiparticle. Selectrons and smuons do not mix.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, combinations_with_replacement
from typing import NamedTuple

from nlobayes.errors import InputError

NEUTRALINOS = (1000022, 1000023, 1000025, 1000035)
"""Particle numbers of the neutralinos 1 to 4."""
CHARGINOS = (1000024, 1000037)
"""Particle numbers of the charginos 1 and 2 of charge +1."""
LEFT_SLEPTONS, RIGHT_SLEPTONS = (1000011, 1000013, 1000015), (2000011, 2000013, 2000015)
"""Particle numbers of the charged sleptons of charge -1 in three generations; the last ones are the
lighter and the heavier stau, which mix."""
SNEUTRINOS = (1000012, 1000014, 1000016)
STAUS = (LEFT_SLEPTONS[2], RIGHT_SLEPTONS[2])
SLEPTONS = (*LEFT_SLEPTONS, *RIGHT_SLEPTONS, *SNEUTRINOS)
ELECTROWEAKINOS = (*NEUTRALINOS, *CHARGINOS, *(-chargino for chargino in CHARGINOS))
KNOWN = (*ELECTROWEAKINOS, *SLEPTONS, *(-slepton for slepton in SLEPTONS))


class Process(NamedTuple):
    """Two particles in order: neutralinos first, then by the size of the number, then its sign."""

    first: int
    second: int

    @property
    def charge(self) -> int:
        """Charge of the pair: 0, 1 or -1."""
        return charge_of(self.first) + charge_of(self.second)

    @property
    def numbers(self) -> tuple[int, int]:
        """Numbers of the two among neutralinos or charginos; the lightest is 1."""
        return number_of(self.first), number_of(self.second)

    @property
    def of_neutralinos(self) -> bool:
        """Whether both are neutralinos."""
        return {self.first, self.second} <= {*NEUTRALINOS}

    @property
    def of_charginos(self) -> bool:
        """Whether both are charginos."""
        return {abs(self.first), abs(self.second)} <= {*CHARGINOS}

    @property
    def of_sleptons(self) -> bool:
        """Whether both are charged sleptons or sneutrinos."""
        return {abs(self.first), abs(self.second)} <= {*SLEPTONS}

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the mass and the mixings of each particle, once if both are the same."""
        return tuple(chain.from_iterable(dict.fromkeys(map(columns_of, self))))


def make_process(first: int, second: int) -> Process:
    """Make the process of two particle numbers, in either order.

    Raises InputError if a particle is not in `KNOWN`, the charge of the pair is above 1 in size,
    which two quarks cannot have, or no photon, Z or W couples to the pair.
    """
    for particle in (first, second):
        if particle not in KNOWN:
            raise InputError("physics.unknown_particle", received=particle, known=KNOWN)
    if abs(charge_of(first) + charge_of(second)) > 1:
        raise InputError("physics.doubly_charged", received=(first, second))
    if not _is_coupled(first, second):
        raise InputError("physics.uncoupled", received=(first, second))
    return Process(*sorted((first, second), key=_place))


def processes() -> tuple[Process, ...]:
    """List every process."""
    found = []
    for first, second in combinations_with_replacement(KNOWN, 2):
        if abs(charge_of(first) + charge_of(second)) <= 1 and _is_coupled(first, second):
            found.append(make_process(first, second))
    return tuple(found)


def neutralino_pair(pair: Sequence[int]) -> Process:
    """Make the process of two neutralinos by their numbers, 1 to 4.

    Raises InputError if they are not two of these numbers.
    """
    if len(pair) != 2 or not {*pair} <= {1, 2, 3, 4}:
        raise InputError("physics.no_neutralino", pair=pair)
    first, second = sorted(pair)
    return Process(NEUTRALINOS[first - 1], NEUTRALINOS[second - 1])


def columns_of(particle: int) -> tuple[str, ...]:
    """Name the mass of a particle and its row of N, or of U and V; of a stau its left part.

    The left part of a stau is the square of its left mixing, from 0 to 1.
    """
    if abs(particle) in SLEPTONS:
        left = [f"left_{abs(particle)}"] if abs(particle) in STAUS else []
        return (f"mass_{abs(particle)}", *left)
    number = number_of(particle)
    if particle in NEUTRALINOS:
        return (f"m{number}", *(f"n{number}{component}" for component in range(1, 5)))
    return (f"mc{number}", *(f"{matrix}{number}{k}" for matrix in "uv" for k in (1, 2)))


def charge_of(particle: int) -> int:
    """Return the charge of a particle."""
    if abs(particle) in (*NEUTRALINOS, *SNEUTRINOS):
        return 0
    return 1 if (particle > 0) == (abs(particle) in CHARGINOS) else -1


def chirality_of(slepton: int) -> str:
    """Return L or R of a charged slepton or a sneutrino, and LR of a stau, which has both."""
    if abs(slepton) in STAUS:
        return "LR"
    return "R" if abs(slepton) in RIGHT_SLEPTONS else "L"


def number_of(particle: int) -> int:
    """Return the number of a neutralino, 1 to 4, or of a chargino or a stau, 1 or 2."""
    families = (NEUTRALINOS, CHARGINOS, STAUS)
    among = next(family for family in families if abs(particle) in family)
    return among.index(abs(particle)) + 1


def name_of(particle: int) -> str:
    """Name a particle in words, as `chi+_1`, `~e-_L`, `~tau+_1`, `~nu_e` or `~nubar_e`."""
    sign = "-0+"[charge_of(particle) + 1]
    if abs(particle) not in SLEPTONS:
        return f"chi{sign}_{number_of(particle)}"
    flavour = ("e", "mu", "tau")[_generation(particle)]
    if abs(particle) in SNEUTRINOS:
        return f"~nu{'' if particle > 0 else 'bar'}_{flavour}"
    return f"~{flavour}{sign}_{number_of(particle) if flavour == 'tau' else chirality_of(particle)}"


def _is_coupled(first: int, second: int) -> bool:
    """Return whether a photon, Z or W couples to the pair.

    Bosons couple to two electroweakinos, or to a slepton and an antislepton of one generation and
    chirality.
    """
    sleptons = [particle for particle in (first, second) if abs(particle) in SLEPTONS]
    if len(sleptons) != 2:
        return not sleptons
    alike = _generation(first) == _generation(second)
    common = {*chirality_of(first)} & {*chirality_of(second)}
    return alike and bool(common) and (first > 0) != (second > 0)


def _generation(slepton: int) -> int:
    """Return 0, 1 or 2."""
    return (abs(slepton) % 100 - 11) // 2


def _place(particle: int) -> tuple[bool, int, bool]:
    return particle not in NEUTRALINOS, abs(particle), particle < 0
