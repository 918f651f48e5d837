"""What is asked of a bundle: processes, an energy and an order, and the offers that serve them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from nlobayes.bundles.offers import Offer, offers_at_energy, offers_of_order, together
from nlobayes.data.slha import key_of
from nlobayes.data.statements import QCD_ORDERS, read_order
from nlobayes.errors import InputError

Processes = Iterable[Iterable[int]] | Literal["all"]
"""Pairs of PDG numbers, in any order: `[(1000022, 1000023)]`."""
Order = str | int | None
"""A QCD order, as `NLO+NLL` or its number in blocks XSECTION; None for any."""
Requested = Mapping[tuple[int, ...], Sequence[Offer]]
"""For each requested process, the offers of its energy and order."""


def requests_of(
    every: Sequence[Offer], processes: Processes, energy: float | None, order: Order
) -> Requested:
    """Return the offers of each requested process, in the order of the request.

    Raises InputError if there are none of the energy, the order or a process, a process is
    given twice, or there are several energies.
    """
    known = offers_at_energy(every, energy)
    if not known:
        known_ones = tuple(sorted({offer.sqrt_s_gev for offer in every}))
        raise InputError("bundles.no_energy", received=energy, known=known_ones)
    number = check_order(order)
    offers = offers_of_order(known, number)
    if not offers:
        orders = sorted({offer.entry.order for offer in known})
        raise InputError("bundles.no_order", received=order, known=orders)
    pairs = together(offers) if processes == "all" else _pairs(processes)
    found = {pair: [o for o in offers if o.outgoing == pair] for pair in pairs}
    missing = [pdg_text(pair) for pair, each in found.items() if not each]
    if missing or not found:
        listed = dict.fromkeys(pdg_text(o.outgoing) for o in offers)
        raise InputError("bundles.lacks", missing=missing, known=[*listed])
    energies = sorted({o.sqrt_s_gev for each in found.values() for o in each})
    if len(energies) > 1:
        raise InputError("bundles.energies", energies=energies)
    return found


def pdg_text(pair: Iterable[int]) -> str:
    """Write PDG numbers with spaces between them."""
    return " ".join(map(str, pair))


def check_order(order: Order) -> int | None:
    """Return the number of a QCD order, None for any; raise InputError if there is no such one."""
    number = read_order(order) if isinstance(order, str) else order
    if order is not None and number not in QCD_ORDERS.values():
        raise InputError("bundles.no_order", received=order, known=[*QCD_ORDERS])
    return number


def _pairs(processes: Processes) -> list[tuple[int, ...]]:
    """Check and sort requested pairs of PDG numbers, each of which may occur once."""
    try:
        pairs = [key_of(int(number) for number in pair) for pair in processes]
    except (TypeError, ValueError):
        raise InputError("bundles.no_pairs", received=processes) from None
    twice = [pair for pair in pairs if pairs.count(pair) > 1]
    if twice:
        raise InputError("bundles.requested_twice", pair=pdg_text(twice[0]))
    return pairs
