"""Identity of a surrogate: process, energy and settings, as the table of its points states them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from nlobayes.data.references import make_reference
from nlobayes.data.statements import (
    NOTHING,
    UNKNOWN,
    FixedParameter,
    read_energy,
    read_fixed,
    read_order,
    read_particles,
)
from nlobayes.errors import InputError
from nlobayes.untyped import Facts

STATED = (
    *("process", "incoming", "outgoing", "sqrt_s_tev", "order", "parton_distributions", "alpha_s"),
    *("scales", "squark_mass_gev", "fixed", "engine", "name", "source", "inclusive", "doubt"),
)
"""Entries that distinguish cross sections; an entry that no table stated is unknown."""

LONGEST = 200
LONGEST_LIST = 20 * LONGEST
"""Largest number of characters of an entry, and of `fixed`, which would mislead if it were cut."""

TEX = "_&%$#"
BIBTEX = """\
@software{{nlobayes,
  author  = {{The nlobayes developers}},
  title   = {{nlobayes: exact-MCMC Bayesian neural networks for NLO cross sections}},
  version = {{{version}}},
  note    = {{Surrogate of {target} of {origin};
             code {code}, posterior SHA-256 {posterior}}},
}}
"""
PLACE = re.compile(r"results/surrogates/(.+)\.nc")


def origin(facts: Facts) -> dict[str, str]:
    """Return all entries of `STATED` and of the table's metadata, and the reference, as text."""
    stated = facts.get("table_metadata")
    entries = stated.items() if isinstance(stated, Mapping) else ()
    texts = {
        _plain(name): _plain(value, LONGEST_LIST if name == "fixed" else LONGEST)
        for name, value in entries
    }
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


def qcd_order(stated: Mapping[str, str]) -> int | None:
    """Return the order of QCD with the numbers of blocks XSECTION; None if it is unknown."""
    return read_order(stated["order"])


def conditions(stated: Mapping[str, str], inputs: Sequence[str]) -> tuple[FixedParameter, ...]:
    """Return the fixed parameters of the training data, whose ranges points must not leave."""
    return tuple(each for each in read_fixed(stated["fixed"]) or () if each.name not in inputs)


def _reference(facts: Facts) -> dict[str, str]:
    """Describe the reference of the target; empty if the target itself was learned."""
    target = facts.get("transforms", {}).get("target", {})
    settings = target.get("relative_to")
    if settings is None:
        return {}
    return {"relative_to": _plain(make_reference(settings).meaning, 2 * LONGEST)}


def run_of(facts: Facts) -> str:
    """Return the name of the run from the place of the file; empty if the place is no result."""
    match = PLACE.fullmatch(str(facts.get("place", "")))
    return match[1] if match else ""


def in_words(stated: Mapping[str, str]) -> str:
    """Describe process, calculation and unknown entries of `origin` in one line."""
    if all(stated[name] == UNKNOWN for name in STATED):
        return stated.get("problem", "a table that states no process")
    known = {name: text for name, text in stated.items() if text != UNKNOWN}
    first = {name: text.split(";")[0] for name, text in known.items()}
    energy = f"{_short(known['sqrt_s_tev'])} TeV" if "sqrt_s_tev" in known else "unknown energy"
    sides = {"incoming", "outgoing"} <= known.keys()
    calculation = {
        "particles by PDG number": f"PDG {stated['incoming']} -> {stated['outgoing']}"
        if sides
        else "",
        "order": first.get("order", ""),
        "parton distributions": first.get("parton_distributions", ""),
        "alpha_s": f"alpha_s {first['alpha_s']}" if "alpha_s" in first else "",
        "squark masses": _masses(stated),
        "engine": first.get("engine", ""),
    }
    parts = [f"{known.get('process', 'process unknown')} at {energy}", *calculation.values()]
    missing = ", ".join(label for label, text in calculation.items() if not text)
    return ", ".join(filter(None, parts)) + (f"; unknown: {missing}" if missing else "")


def _masses(stated: Mapping[str, str]) -> str:
    """Describe the fixed parameters, or the masses of squarks."""
    if stated["fixed"] not in (UNKNOWN, NOTHING):
        return f"for {stated['fixed']}"
    mass, _, how = stated["squark_mass_gev"].partition(", ")
    if mass == UNKNOWN:
        return "nothing held fixed" if stated["fixed"] == NOTHING else ""
    return f"squarks of {_short(mass)} GeV" + (f" ({how})" if how else "")


def _order_of(text: str, target: str) -> str:
    """Choose the order of a target from `first order; target: order; ...`.

    Targets without an entry have the first order. Without a target, the whole text is returned.
    """
    if not target:
        return text
    first, *others = (part.strip() for part in text.split(";"))
    orders = dict(part.split(": ", 1) for part in others if ": " in part)
    return orders.get(target, first)


def _plain(value: Any, longest: int = LONGEST) -> str:
    """Make text from an unknown source printable, and limit its length."""
    text = str(value)
    shown = "".join(letter if letter.isprintable() else "?" for letter in text[:longest])
    return shown if len(text) <= longest else f"{shown}…"


def _short(text: str) -> str:
    """Write 13.0 as 13."""
    return text.removesuffix(".0")


SUMMED = {"order": "orders", "parton_distributions": "parton distributions", "engine": "engines"}
"""Entries that the reason of a sum lists if its parts differ in them, or only some state them."""


def check_summands(origins: Sequence[Mapping[str, str]]) -> None:
    """Check that cross sections may be added: of one order, or of different orders above LO.

    Raises InputError if only some of them are LO, or state an order.
    """
    orders = {qcd_order(origin) for origin in origins}
    if len(orders) > 1 and not orders.isdisjoint({0, None}):
        raise InputError("bundles.orders", orders=sorted({origin["order"] for origin in origins}))


def differences(origins: Sequence[Mapping[str, str]]) -> str:
    """Describe the differences between the parts of a sum that may still be added."""
    entries = {
        label: {_letters(origin[name]): origin[name] for origin in origins}
        for name, label in SUMMED.items()
    }
    different = {
        label: sorted(values.values()) for label, values in entries.items() if len(values) > 1
    }
    return "; ".join(f"{label}: {', '.join(values)}" for label, values in different.items())


def _letters(text: str) -> str:
    """Remove the differences between spellings of one set: spaces and capitals."""
    return "".join(text.casefold().split())


def bibtex(target: str, described: str, *, version: str, code: str, posterior: str) -> str:
    """Write the entry to cite a surrogate by, with its digests."""
    target, described = _for_tex(target), _for_tex(described)
    return BIBTEX.format(
        version=version, target=target, origin=described, code=code, posterior=posterior
    )


def _for_tex(text: str) -> str:
    """Escape characters with a meaning in TeX, and replace braces, which would end the entry."""
    plain = text.replace("\\", "/").replace("{", "(").replace("}", ")").replace("->", "to")
    return "".join(f"\\{sign}" if sign in TEX else sign for sign in plain)
