"""What a table states of its cross sections: entries of text that engines write and others read.

Particles are PDG numbers, as `1000022 1000023`. A parameter that was held fixed has its value and
the span for which that holds, as `msq = 3000 GeV (2970 to 3030)`; several are parted by `;`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from nlobayes.data.processes import KNOWN, name_of
from nlobayes.errors import InputError

PROTON = 2212
PROTONS = (PROTON, PROTON)
NAMES = {PROTON: "p", **{number: name_of(number) for number in KNOWN}}
"""What particles are called in words; others go by their numbers."""
NUMBERS = {name: number for number, name in NAMES.items()}
QCD_ORDERS = {"LO": 0, "NLO": 1, "NLO+NLL": 2, "NLO+NLL+NNLL": 3, "aNNLO+NNLL": 3}
"""Orders of QCD as blocks XSECTION number them: Les Houches 2013 does so up to NLO+NLL. Number 3
has the first name in SModelS 3.2.1, the second in HEPi."""
NOTHING = "none"
"""Text for parameters if none was fixed."""
SPAN = 0.01
"""Share of its value by which a fixed parameter may differ. With squarks of 3 TeV, 1 % of their
mass moves the cross sections of the pairs 11, 12 and 22 by 5 % at most and by 2 % in the median:
about the error of a surrogate. The exchange of squarks falls with their mass to the 4th."""
NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
FIXED = re.compile(rf"(\S+) = ({NUMBER}) (\S+) \(({NUMBER}) to ({NUMBER})\)")
PARTICLES = re.compile(r"[+-]?[0-9]{1,9}( +[+-]?[0-9]{1,9})*")


class Fixed(NamedTuple):
    """A parameter that was held fixed: its value, and the span of values for which that holds."""

    name: str
    value: float
    unit: str
    low: float
    high: float


def fixed_around(name: str, values: Sequence[float] | np.ndarray, unit: str) -> Fixed:
    """Take the median of what a parameter was, and its range widened by `SPAN`."""
    low, high = float(np.min(values)), float(np.max(values))
    widened = (low - SPAN * abs(low), high + SPAN * abs(high))
    return Fixed(name, float(np.median(values)), unit, *widened)


def spell_fixed(fixed: Sequence[Fixed]) -> str:
    """Spell parameters that were held fixed."""
    return "; ".join(map(_spell, fixed)) or NOTHING


def read_fixed(text: str) -> tuple[Fixed, ...] | None:
    """Read parameters that were held fixed; None where the text has no such statement."""
    if text == NOTHING:
        return ()
    found = [FIXED.fullmatch(part.strip()) for part in text.split(";")]
    read = [
        Fixed(match[1], float(match[2]), match[3], float(match[4]), float(match[5]))
        for match in found
        if match
    ]
    ordered = all(-math.inf < one.low <= one.value <= one.high < math.inf for one in read)
    return tuple(read) if ordered and len(read) == len(found) else None


def read_order(text: str) -> int | None:
    """Read the number of an order of QCD, with which the text begins; None where it has none."""
    return QCD_ORDERS.get(text.partition(" ")[0].rstrip(",;"))


def spell_order(number: int) -> str:
    """Spell an order of QCD by its number."""
    names = (name for name, known in QCD_ORDERS.items() if known == number)
    name = next(names, f"QCD order {number}")
    return f"{name} QCD" if number in (1, 2, 3) else name


def spell_particles(numbers: Sequence[int]) -> str:
    """Spell PDG numbers."""
    return " ".join(map(str, numbers))


def read_particles(text: str) -> tuple[int, ...] | None:
    """Read PDG numbers; None where these are none."""
    return tuple(map(int, text.split())) if PARTICLES.fullmatch(text) else None


def read_energy(text: str) -> float | None:
    """Read an energy in TeV; None where it is none."""
    energy = float(text) if re.fullmatch(NUMBER, text) else math.nan
    return energy if 0 < energy < math.inf else None


def state_process(incoming: Sequence[int], outgoing: Sequence[int]) -> dict[str, str]:
    """State which particles collide and come out, in words and as PDG numbers."""
    words = [" ".join(NAMES.get(n, str(n)) for n in numbers) for numbers in (incoming, outgoing)]
    return {
        "process": " -> ".join(words),
        "incoming": spell_particles(incoming),
        "outgoing": spell_particles(outgoing),
    }


def read_process(text: str) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Read particles out of the words of `state_process`; None where these are other words."""
    sides = [side.split() for side in text.split("->")]
    if len(sides) != 2 or not all(side and {*side} <= NUMBERS.keys() for side in sides):
        return None
    incoming, outgoing = (tuple(NUMBERS[word] for word in side) for side in sides)
    return incoming, outgoing


def spell(given: Mapping[str, Any]) -> dict[str, str]:
    """Spell what a user gave: particles, `sqrt_s_tev`, `fixed` by name, and words of all else."""
    words = {name: said for name, said in given.items() if isinstance(said, str)}
    told = state_process(given["incoming"], given["outgoing"])
    told |= {"sqrt_s_tev": repr(float(given["sqrt_s_tev"]))}
    if "fixed" in given:
        told["fixed"] = spell_fixed([_fixed(name, of) for name, of in given["fixed"].items()])
    return told | words


def complete(
    stated: Mapping[str, str], given: Mapping[str, str], inputs: Collection[str]
) -> dict[str, str]:
    """Add to what a table states what the user gave, and the particles that its words name.

    A parameter that is an input was not held fixed.

    Raises
    ------
    InputError
        If both state different values of one entry, or an entry cannot be read.
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
        whole["fixed"] = spell_fixed([one for one in fixed if one.name not in inputs])
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
"""How entries are read that are more than words, and what they must be."""


def _fixed(name: str, of: Mapping[str, Any]) -> Fixed:
    around = fixed_around(name, [of["value"]], of["unit"])
    return around._replace(low=of.get("low", around.low), high=of.get("high", around.high))


def _spell(fixed: Fixed) -> str:
    value, low, high = (f"{number:.10g}" for number in (fixed.value, fixed.low, fixed.high))
    return f"{fixed.name} = {value} {fixed.unit} ({low} to {high})"
