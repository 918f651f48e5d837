"""Check that cross sections may be added: they need one order and one parton distribution set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nlobayes.errors import InputError
from nlobayes.surrogate.identity import is_stated, qcd_order

Origin = Mapping[str, str]
PARTONS = "parton_distributions"
STATED = {PARTONS: "parton distributions", "engine": "engines"}
"""Entries that the reason of a sum lists if its parts differ in them, or only some state them."""


def check_summands(origins: Sequence[Origin]) -> None:
    """Check that cross sections may be added; unknown parton distributions are allowed.

    Raises
    ------
    InputError
        If two of them state different orders, or different parton distributions.
    """
    if len({qcd_order(origin) for origin in origins}) > 1:
        raise InputError("bundles.orders", orders=sorted({origin["order"] for origin in origins}))
    names = [origin[PARTONS] for origin in origins if is_stated(origin, PARTONS)]
    stated = {_plain(name): name for name in names}
    if len(stated) > 1:
        raise InputError("bundles.parton_distributions", found=sorted(stated.values()))


def differences(origins: Sequence[Origin]) -> str:
    """Describe the differences between the parts of a sum that may still be added."""
    entries = {label: {origin[name] for origin in origins} for name, label in STATED.items()}
    different = {label: sorted(values) for label, values in entries.items() if len(values) > 1}
    return "; ".join(f"{label}: {', '.join(values)}" for label, values in different.items())


def _plain(text: str) -> str:
    """Remove the differences between spellings of one set: spaces, signs and capitals."""
    return "".join(filter(str.isalnum, text.casefold()))
