"""Identity of a surrogate: process, energy and settings, as the table of its points states them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from nlobayes.data.references import reference_of
from nlobayes.data.statements import (
    NOTHING,
    UNKNOWN,
    Fixed,
    read_energy,
    read_fixed,
    read_order,
    read_particles,
)

STATED = (
    *("process", "incoming", "outgoing", "sqrt_s_tev", "order", "parton_distributions", "alpha_s"),
    *("scales", "squark_mass_gev", "fixed", "engine"),
)
"""Entries that distinguish cross sections; an entry that no table stated is unknown."""

LONGEST = 200
"""Largest number of characters of an entry; longer ones are cut."""

PLACE = re.compile(r"results/surrogates/(.+)\.nc")


def origin(facts: Mapping[str, Any]) -> dict[str, str]:
    """Return all entries of `STATED` and of the table's metadata, and the reference, as text."""
    stated = facts.get("table_metadata")
    entries = stated.items() if isinstance(stated, Mapping) else ()
    texts = {_plain(name): _plain(value, _longest(name)) for name, value in entries}
    if "order" in texts:
        texts["order"] = _order_of(texts["order"], str(facts.get("target", "")))
    return dict.fromkeys(STATED, UNKNOWN) | texts | _reference(facts)


class Process(NamedTuple):
    """Incoming and outgoing particles as PDG numbers, and the energy in GeV."""

    incoming: tuple[int, ...]
    outgoing: tuple[int, ...]
    sqrt_s_gev: float


def process_of(stated: Mapping[str, str]) -> Process | None:
    """Read the process from the result of `origin`; None if particles or energy are unknown."""
    incoming, outgoing = (read_particles(stated[name]) for name in ("incoming", "outgoing"))
    energy = read_energy(stated["sqrt_s_tev"])
    if incoming is None or outgoing is None or energy is None:
        return None
    return Process(incoming, outgoing, round(1000 * energy, 6))


def is_stated(stated: Mapping[str, str], name: str) -> bool:
    """Return whether the table stated an entry."""
    return stated[name] != UNKNOWN


def qcd_order(stated: Mapping[str, str]) -> int | None:
    """Return the order of QCD with the numbers of blocks XSECTION; None if it is unknown."""
    return read_order(stated["order"])


def conditions(stated: Mapping[str, str], inputs: Sequence[str]) -> tuple[Fixed, ...]:
    """Return the fixed parameters of the training data, whose ranges points must not leave."""
    return tuple(each for each in read_fixed(stated["fixed"]) or () if each.name not in inputs)


def _reference(facts: Mapping[str, Any]) -> dict[str, str]:
    """Describe the reference of the target; empty if the target itself was learned."""
    target = facts.get("transforms", {}).get("target", {})
    settings = target.get("relative_to")
    if settings is None:
        return {}
    return {"relative_to": _plain(reference_of(settings).meaning, 2 * LONGEST)}


def run_of(facts: Mapping[str, Any]) -> str:
    """Return the name of the run from the place of the file; empty if the place is no result."""
    match = PLACE.fullmatch(str(facts.get("place", "")))
    return match[1] if match else ""


def in_words(stated: Mapping[str, str]) -> str:
    """Describe process, calculation and unknown entries of `origin` in one line."""
    if all(stated[name] == UNKNOWN for name in STATED):
        return stated.get("problem", "an unknown process: its table states none")
    parts = (
        f"{_process(stated)} at {_energy(stated['sqrt_s_tev'])}",
        *filter(None, (_worded(name, stated) for name in WORDED)),
    )
    missing = [label for name, label in WORDED.items() if not _worded(name, stated)]
    return ", ".join(parts) + (f"; unknown: {', '.join(missing)}" if missing else "")


WORDED = {
    "particles": "particles by PDG number",
    "order": "order",
    "parton_distributions": "parton distributions",
    "alpha_s": "alpha_s",
    "masses": "squark masses",
    "engine": "engine",
}
"""Entries of `in_words` after process and energy, and their labels in the list of unknown ones."""


def _worded(name: str, stated: Mapping[str, str]) -> str:
    """Describe an entry of `WORDED`; empty if it is unknown."""
    if name == "particles":
        sides = (stated["incoming"], stated["outgoing"])
        return "" if UNKNOWN in sides else f"PDG {' -> '.join(sides)}"
    if name == "masses":
        return _masses(stated)
    text = stated[name].split(";")[0]
    prefix = "alpha_s " if name == "alpha_s" else ""
    return "" if text == UNKNOWN else f"{prefix}{text}"


def _masses(stated: Mapping[str, str]) -> str:
    """Describe the fixed parameters, or the masses of squarks."""
    if stated["fixed"] not in (UNKNOWN, NOTHING):
        return f"for {stated['fixed']}"
    mass, _, how = stated["squark_mass_gev"].partition(", ")
    if mass == UNKNOWN:
        return "nothing held fixed" if stated["fixed"] == NOTHING else ""
    return f"squarks of {_short(mass)} GeV" + (f" ({how})" if how else "")


def _process(stated: Mapping[str, str]) -> str:
    return "process unknown" if stated["process"] == UNKNOWN else stated["process"]


def _order_of(text: str, target: str) -> str:
    """Choose the order of a target from `first order; target: order; ...`.

    Targets without an entry have the first order. Without a target, the whole text is returned.
    """
    if not target:
        return text
    first, *others = (part.strip() for part in text.split(";"))
    orders = dict(part.split(": ", 1) for part in others if ": " in part)
    return orders.get(target, first)


def _longest(name: str) -> int:
    """Return the largest length of an entry, larger for `fixed`: a cut list would mislead."""
    return 20 * LONGEST if name == "fixed" else LONGEST


def _plain(value: Any, longest: int = LONGEST) -> str:
    """Make text from an unknown source printable, and limit its length."""
    text = str(value)
    shown = "".join(letter if letter.isprintable() else "?" for letter in text[:longest])
    return shown if len(text) <= longest else f"{shown}…"


def _energy(text: str) -> str:
    return "unknown energy" if text == UNKNOWN else f"{_short(text)} TeV"


def _short(text: str) -> str:
    """Write 13.0 as 13."""
    return text.removesuffix(".0")
