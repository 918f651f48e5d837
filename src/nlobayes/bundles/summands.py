"""Which cross sections may be added: those of one order and one set of parton distributions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nlobayes.errors import InputError
from nlobayes.surrogate.identity import is_stated, qcd_order

Origin = Mapping[str, str]
PARTONS = "parton_distributions"
STATED = {PARTONS: "parton distributions", "engine": "engines"}
"""What a sum states about its parts where they differ, or only some state it."""


def check_summands(origins: Sequence[Origin]) -> None:
    """Check that cross sections may be added; those that state no parton distributions may.

    Raises
    ------
    InputError
        If they state other orders, or other parton distributions.
    """
    if len({qcd_order(one) for one in origins}) > 1:
        raise InputError("bundles.orders", orders=sorted({one["order"] for one in origins}))
    stated = {_plain(one[PARTONS]): one[PARTONS] for one in origins if is_stated(one, PARTONS)}
    if len(stated) > 1:
        raise InputError("bundles.parton_distributions", found=sorted(stated.values()))


def unlike(origins: Sequence[Origin]) -> str:
    """Describe what differs among parts of a sum, although they may be added."""
    said = {words: sorted({one[name] for one in origins}) for name, words in STATED.items()}
    return "; ".join(f"{words}: {', '.join(found)}" for words, found in said.items() if found[1:])


def _plain(text: str) -> str:
    """Leave out what spellings of one set differ in: spaces, signs, capitals."""
    return "".join(filter(str.isalnum, text.casefold()))
