"""What a surrogate is of: process, energy and settings, as the table of its points states them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

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
"""What distinguishes cross sections; an entry that no table stated is unknown."""

LONGEST = 200
"""Characters of an entry that are given."""

PLACE = re.compile(r"results/surrogates/(.+)\.nc")


def origin(facts: Mapping[str, Any]) -> dict[str, str]:
    """Give every entry of `STATED`, all else that the table stated, and the reference, as text."""
    stated = facts.get("table_metadata")
    entries = stated.items() if isinstance(stated, Mapping) else ()
    said = {_plain(name): _plain(said, _longest(name)) for name, said in entries}
    if "order" in said:
        said["order"] = _order_of(said["order"], str(facts.get("target", "")))
    return dict.fromkeys(STATED, UNKNOWN) | said | _reference(facts)


class Process(NamedTuple):
    """What collides and what comes out, as PDG numbers, and the energy in GeV."""

    incoming: tuple[int, ...]
    outgoing: tuple[int, ...]
    sqrt_s_gev: float


def process_of(stated: Mapping[str, str]) -> Process | None:
    """Take the process from `origin`; None where particles or energy are unknown."""
    incoming, outgoing = (read_particles(stated[name]) for name in ("incoming", "outgoing"))
    energy = read_energy(stated["sqrt_s_tev"])
    if incoming is None or outgoing is None or energy is None:
        return None
    return Process(incoming, outgoing, round(1000 * energy, 6))


def is_stated(stated: Mapping[str, str], name: str) -> bool:
    """Return whether the table stated an entry."""
    return stated[name] != UNKNOWN


def qcd_order(stated: Mapping[str, str]) -> int | None:
    """Take the order of QCD as blocks XSECTION number it; None where it is unknown."""
    return read_order(stated["order"])


def conditions(stated: Mapping[str, str], inputs: Sequence[str]) -> tuple[Fixed, ...]:
    """Take the parameters that were held fixed: points must lie in their spans."""
    return tuple(one for one in read_fixed(stated["fixed"]) or () if one.name not in inputs)


def _reference(facts: Mapping[str, Any]) -> dict[str, str]:
    """Name the reference of the target; empty where it was learned itself."""
    target = facts.get("transforms", {}).get("target", {})
    settings = target.get("relative_to")
    if settings is None:
        return {}
    if "column" in settings:
        return {"relative_to": f"column {_plain(settings['column'])}, which points must have"}
    squarks = settings["squark_mass_gev"]
    mass = f"of column {squarks}" if isinstance(squarks, str) else f"of {squarks:g} GeV"
    return {
        "relative_to": f"{settings['calculation']} of the embedded engine at every point: "
        f"{settings['sqrt_s_tev']:g} TeV, squarks {mass}, mu = {settings['mu_over_q']:g} Q"
    }


def run_of(facts: Mapping[str, Any]) -> str:
    """Name the run by the place where the file was written, as results are; else nothing."""
    found = PLACE.fullmatch(str(facts.get("place", "")))
    return found[1] if found else ""


def in_words(stated: Mapping[str, str]) -> str:
    """Give the process in `origin`, its calculation and unknown entries in one line."""
    if all(stated[name] == UNKNOWN for name in STATED):
        return stated.get("problem", "a process unknown: its table states none")
    said = (
        f"{_process(stated)} at {_energy(stated['sqrt_s_tev'])}",
        *(words for words in (_worded(name, stated) for name in WORDED) if words),
    )
    missing = [label for name, label in WORDED.items() if not _worded(name, stated)]
    return ", ".join(said) + (f"; unknown: {', '.join(missing)}" if missing else "")


WORDED = {
    "particles": "particles by PDG number",
    "order": "order",
    "parton_distributions": "parton distributions",
    "alpha_s": "alpha_s",
    "masses": "squark masses",
    "engine": "engine",
}
"""Entries in `in_words` after process and energy, and their names if unknown."""


def _worded(name: str, stated: Mapping[str, str]) -> str:
    """Put one of `WORDED` in words; empty where it is unknown."""
    if name == "particles":
        sides = (stated["incoming"], stated["outgoing"])
        return "" if UNKNOWN in sides else f"PDG {' -> '.join(sides)}"
    if name == "masses":
        return _masses(stated)
    said = stated[name].split(";")[0]
    prefix = "alpha_s " if name == "alpha_s" else ""
    return "" if said == UNKNOWN else f"{prefix}{said}"


def _masses(stated: Mapping[str, str]) -> str:
    """Name the fixed parameters, or the masses of squarks."""
    if stated["fixed"] not in (UNKNOWN, NOTHING):
        return f"for {stated['fixed']}"
    mass, _, how = stated["squark_mass_gev"].partition(", ")
    if mass == UNKNOWN:
        return "nothing held fixed" if stated["fixed"] == NOTHING else ""
    return f"squarks of {_short(mass)} GeV" + (f" ({how})" if how else "")


def _process(stated: Mapping[str, str]) -> str:
    return "process unknown" if stated["process"] == UNKNOWN else stated["process"]


def _order_of(text: str, target: str) -> str:
    """Choose the order of the target: behind the first, others have entries of their own.

    All of it is given where no target is known.
    """
    if not target:
        return text
    first, *others = (part.strip() for part in text.split(";"))
    of = dict(part.split(": ", 1) for part in others if ": " in part)
    return of.get(target, first)


def _longest(name: str) -> int:
    """Allow more characters for fixed parameters, because a cut list would mislead."""
    return 20 * LONGEST if name == "fixed" else LONGEST


def _plain(value: Any, longest: int = LONGEST) -> str:
    """Give text that may be printed: whoever wrote the table chose it."""
    text = str(value)
    shown = "".join(sign if sign.isprintable() else "?" for sign in text[:longest])
    return shown if len(text) <= longest else f"{shown}…"


def _energy(text: str) -> str:
    return "unknown energy" if text == UNKNOWN else f"{_short(text)} TeV"


def _short(text: str) -> str:
    """Write 13.0 as 13."""
    return text.removesuffix(".0")
