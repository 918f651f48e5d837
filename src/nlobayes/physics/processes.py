"""Pairs of electroweakinos that two quarks produce at tree level: particle numbers and columns.

The settings import this module, so it imports no numerics. Particle numbers are those of the
Particle Data Group: 1000024 is the lighter chargino of charge +1, -1000024 of -1.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from nlobayes.errors import InputError

NEUTRALINOS = (1000022, 1000023, 1000025, 1000035)
"""Particle numbers of the neutralinos 1 to 4."""
CHARGINOS = (1000024, 1000037)
"""Particle numbers of the charginos 1 and 2 of charge +1."""
KNOWN = (*NEUTRALINOS, *CHARGINOS, *(-chargino for chargino in CHARGINOS))


class Process(NamedTuple):
    """Two particles in order: neutralinos first, then the lighter, then the positive one."""

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
        return not {self.first, self.second} & {*NEUTRALINOS}

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the mass and the mixings of each particle, once if both are the same."""
        return tuple(chain.from_iterable(dict.fromkeys(map(columns_of, self))))


def make_process(first: int, second: int) -> Process:
    """Make the process of two particle numbers, in either order.

    Raises InputError if a number is not that of an electroweakino, or the charge of the pair is
    above 1 in size, which two quarks cannot have.
    """
    for particle in (first, second):
        if particle not in KNOWN:
            raise InputError("physics.no_electroweakino", received=particle, known=KNOWN)
    if abs(charge_of(first) + charge_of(second)) > 1:
        raise InputError("physics.doubly_charged", received=(first, second))
    return Process(*sorted((first, second), key=_place))


def neutralino_pair(pair: Sequence[int]) -> Process:
    """Make the process of two neutralinos by their numbers, 1 to 4.

    Raises InputError if they are not two of these numbers.
    """
    if len(pair) != 2 or not {*pair} <= {1, 2, 3, 4}:
        raise InputError("physics.no_neutralino", pair=pair)
    first, second = sorted(pair)
    return Process(NEUTRALINOS[first - 1], NEUTRALINOS[second - 1])


def columns_of(particle: int) -> tuple[str, ...]:
    """Name the mass of a particle and its row of N, or its rows of U and V."""
    number = number_of(particle)
    if particle in NEUTRALINOS:
        return (f"m{number}", *(f"n{number}{component}" for component in range(1, 5)))
    return (f"mc{number}", *(f"{matrix}{number}{k}" for matrix in "uv" for k in (1, 2)))


def charge_of(particle: int) -> int:
    """Return the charge of an electroweakino."""
    if particle in NEUTRALINOS:
        return 0
    return 1 if particle > 0 else -1


def number_of(particle: int) -> int:
    """Return the number of a neutralino, 1 to 4, or of a chargino, 1 or 2."""
    among = NEUTRALINOS if particle in NEUTRALINOS else CHARGINOS
    return among.index(abs(particle)) + 1


def name_of(particle: int) -> str:
    """Name an electroweakino in words, as `chi+_1`."""
    return f"chi{'-0+'[charge_of(particle) + 1]}_{number_of(particle)}"


def _place(particle: int) -> tuple[bool, int, bool]:
    return particle not in NEUTRALINOS, abs(particle), particle < 0
