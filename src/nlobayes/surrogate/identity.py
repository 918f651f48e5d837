"""What a surrogate is of: process, energy and settings, as the table of its points states them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

UNKNOWN = "unknown"
STATED = (
    *("process", "sqrt_s_tev", "order", "parton_distributions", "scales", "squark_mass_gev"),
    "engine",
)
"""What tells cross sections apart; an entry that no table stated is unknown."""


LONGEST = 200
"""Characters of an entry that are given."""

PLACE = re.compile(r"results/surrogates/(.+)\.nc")


def origin(facts: Mapping[str, Any]) -> dict[str, str]:
    """Give every entry of `STATED`, all else that the table stated, and the reference, as text."""
    stated = facts.get("table_metadata")
    entries = stated.items() if isinstance(stated, Mapping) else ()
    said = {_plain(name): _plain(said) for name, said in entries}
    return dict.fromkeys(STATED, UNKNOWN) | said | _reference(facts)


def _reference(facts: Mapping[str, Any]) -> dict[str, str]:
    """Say what the target was learned relative to; nothing where it was learned itself."""
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
    """Say in one line of which process `origin` tells, and how it was computed."""
    if all(stated[name] == UNKNOWN for name in STATED):
        return stated.get("problem", "a process unknown: its table states none")
    order = stated["order"].split(";")[0]
    said = (
        f"{_known('process', stated['process'])} at {_energy(stated['sqrt_s_tev'])}",
        _known("order", order),
        _known("parton distributions", stated["parton_distributions"]),
        _squarks(stated["squark_mass_gev"]),
    )
    return ", ".join(said)


def _plain(value: Any) -> str:
    """Give text that may be printed: whoever wrote the table chose it."""
    text = str(value)
    shown = "".join(sign if sign.isprintable() else "?" for sign in text[:LONGEST])
    return shown if len(text) <= LONGEST else f"{shown}…"


def _known(what: str, text: str) -> str:
    return f"{what} unknown" if text == UNKNOWN else text


def _energy(text: str) -> str:
    return "unknown energy" if text == UNKNOWN else f"{_short(text)} TeV"


def _squarks(text: str) -> str:
    if text == UNKNOWN:
        return "squark masses unknown"
    mass, _, how = text.partition(", ")
    return f"squarks of {_short(mass)} GeV" + (f" ({how})" if how else "")


def _short(text: str) -> str:
    """Write 13.0 as 13."""
    return text.removesuffix(".0")
