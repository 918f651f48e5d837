"""Statements of a table about its cross sections: text entries that engines write and others read.

Particles are PDG numbers, as `1000022 1000023`. A fixed parameter has its value and the range in
which it counts as fixed, as `msq = 3000 GeV (2970 to 3030)`; `;` separates several.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from nlobayes.errors import InputError
from nlobayes.physics.processes import KNOWN, name_of
from nlobayes.untyped import Facts

PROTON = 2212
PROTONS = (PROTON, PROTON)
NAMES = {PROTON: "p", **{number: name_of(number) for number in KNOWN}}
"""Names of particles in words; all others are written by their numbers."""
NUMBERS = {name: number for number, name in NAMES.items()}
QCD_ORDERS = {
    "LO": 0,
    "NLO": 1,
    "NLO+NLL": 2,
    "NLO+NLL+NNLL": 3,
    "aNNLO+NNLL": 3,
    "NNLOapprox+NNLL": 3,
}
"""Orders of QCD as blocks XSECTION number them: Les Houches 2013 does so up to NLO+NLL. Number 3
has the first name in SModelS 3.2.1, the second in HEPi, and the third in grids."""
NOTHING = "none"
"""Text of `fixed` if no parameter was fixed."""
SPAN = 0.01
"""Relative range of a fixed parameter. With squarks of 3 TeV, 1 % of their mass changes the cross
sections of the pairs 11, 12 and 22 by at most 5 %, and by 2 % in the median: about the error of a
surrogate. The exchange of squarks falls with the 4th power of their mass."""
NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
FIXED = re.compile(rf"(\S+) = ({NUMBER}) (\S+) \(({NUMBER}) to ({NUMBER})\)")
PARTICLES = re.compile(r"[+-]?[0-9]{1,9}( +[+-]?[0-9]{1,9})*")


class FixedParameter(NamedTuple):
    """A fixed parameter: its value, and the range in which it counts as fixed."""

    name: str
    value: float
    unit: str
    low: float
    high: float


def fixed_around(name: str, values: Sequence[float] | np.ndarray, unit: str) -> FixedParameter:
    """Return the median of the values of a parameter, and their range widened by `SPAN`."""
    low, high = float(np.min(values)), float(np.max(values))
    widened = (low - SPAN * abs(low), high + SPAN * abs(high))
    return FixedParameter(name, float(np.median(values)), unit, *widened)


def spell_fixed(fixed: Sequence[FixedParameter]) -> str:
    """Spell fixed parameters."""
    return "; ".join(map(_spell, fixed)) or NOTHING


def read_fixed(text: str) -> tuple[FixedParameter, ...] | None:
    """Read fixed parameters; None if the text is no such statement."""
    if text == NOTHING:
        return ()
    found = [FIXED.fullmatch(part.strip()) for part in text.split(";")]
    read = [
        FixedParameter(match[1], float(match[2]), match[3], float(match[4]), float(match[5]))
        for match in found
        if match
    ]
    ordered = all(-math.inf < fixed.low <= fixed.value <= fixed.high < math.inf for fixed in read)
    return tuple(read) if ordered and len(read) == len(found) else None


def read_order(text: str) -> int | None:
    """Read the number of the QCD order with which the text begins; None if there is none."""
    return QCD_ORDERS.get(text.partition(" ")[0].rstrip(",;"))


def spell_order(number: int) -> str:
    """Spell a QCD order by its number."""
    names = (name for name, known in QCD_ORDERS.items() if known == number)
    name = next(names, f"QCD order {number}")
    return f"{name} QCD" if number in (1, 2, 3) else name


def spell_particles(numbers: Sequence[int]) -> str:
    """Spell PDG numbers."""
    return " ".join(map(str, numbers))


def read_particles(text: str) -> tuple[int, ...] | None:
    """Read PDG numbers; None if the text has other content."""
    return tuple(map(int, text.split())) if PARTICLES.fullmatch(text) else None


def read_energy(text: str) -> float | None:
    """Read an energy in TeV; None if the text is not a positive number."""
    energy = float(text) if re.fullmatch(NUMBER, text) else math.nan
    return energy if 0 < energy < math.inf else None


def state_process(incoming: Sequence[int], outgoing: Sequence[int]) -> dict[str, str]:
    """Describe the incoming and outgoing particles, in words and as PDG numbers."""
    words = [" ".join(NAMES.get(n, str(n)) for n in numbers) for numbers in (incoming, outgoing)]
    return {
        "process": " -> ".join(words),
        "incoming": spell_particles(incoming),
        "outgoing": spell_particles(outgoing),
    }


def read_process(text: str) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Parse particles from the words of `state_process`; None for other words."""
    sides = [side.split() for side in text.split("->")]
    if len(sides) != 2 or not all(side and {*side} <= NUMBERS.keys() for side in sides):
        return None
    incoming, outgoing = (tuple(NUMBERS[word] for word in side) for side in sides)
    return incoming, outgoing


def spell(given: Facts) -> dict[str, str]:
    """Spell a user's statements: particles, `sqrt_s_tev`, `fixed` by name, and other text."""
    words = {name: value for name, value in given.items() if isinstance(value, str)}
    entries = state_process(given["incoming"], given["outgoing"])
    entries |= {"sqrt_s_tev": repr(float(given["sqrt_s_tev"]))}
    if "fixed" in given:
        entries["fixed"] = spell_fixed(
            [_fixed(name, settings) for name, settings in given["fixed"].items()]
        )
    return entries | words


def complete(
    stated: Mapping[str, str], given: Mapping[str, str], inputs: Collection[str]
) -> dict[str, str]:
    """Merge the statements of a table with those of the user, and add the particles of its words.

    A parameter that is an input is not fixed and is left out.

    Raises InputError if both state different values of one entry, or an entry cannot be read.
    """
    whole = {**_particles(stated), **stated}
    for name, (read, allowed) in READERS.items():
        if whole.get(name, UNKNOWN) != UNKNOWN and read(whole[name]) is None:
            raise InputError("data.statement", name=name, stated=whole[name], allowed=allowed)
    for name in whole.keys() & given.keys() - {"process"}:
        read = READERS.get(name, (str, ""))[0]
        if whole[name] != UNKNOWN and read(whole[name]) != read(given[name]):
            raise InputError(
                "data.stated_otherwise", name=name, stated=whole[name], given=given[name]
            )
    whole |= given
    fixed = read_fixed(whole.get("fixed", UNKNOWN))
    if fixed is not None:
        whole["fixed"] = spell_fixed(
            [parameter for parameter in fixed if parameter.name not in inputs]
        )
    return whole


def _particles(stated: Mapping[str, str]) -> dict[str, str]:
    found = read_process(stated.get("process", ""))
    return {} if found is None else state_process(*found)


UNKNOWN = "unknown"
"""Text for an entry that no table stated."""
READERS: dict[str, tuple[Callable[[str], Any], str]] = {
    "incoming": (read_particles, "PDG numbers, as 2212 2212"),
    "outgoing": (read_particles, "PDG numbers, as 1000022 1000023"),
    "sqrt_s_tev": (read_energy, "a number above 0, in TeV"),
    "fixed": (read_fixed, f"as 'msq = 3000 GeV (2970 to 3030)', or {NOTHING!r}"),
}
"""Reader of each entry that is not plain text, and its allowed content."""


def _fixed(name: str, settings: Facts) -> FixedParameter:
    around = fixed_around(name, [settings["value"]], settings["unit"])
    return around._replace(
        low=settings.get("low", around.low), high=settings.get("high", around.high)
    )


def _spell(fixed: FixedParameter) -> str:
    value, low, high = (f"{number:.10g}" for number in (fixed.value, fixed.low, fixed.high))
    return f"{fixed.name} = {value} {fixed.unit} ({low} to {high})"
