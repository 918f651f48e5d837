"""What the entries of a bundle serve, and which one predicts a process at a spectrum.

An entry serves its own process, and those that one of `EXCHANGES` makes of it: Drell-Yan production
of sleptons does not see the generation, and the production of a stop pair by QCD does not see which
squark of the third generation it is. Numbers are then exchanged in its inputs and conditions, so
that `mass_1000011` of a selectron is read from the mass of the smuon.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from nlobayes.bundles.index import Entry, place_of
from nlobayes.data.slha import key_of, same_energy
from nlobayes.data.statements import read_order
from nlobayes.surrogate.cross_section import FROM_BAD_TO_GOOD, Standing

EXCHANGES: tuple[Mapping[int, int], ...] = (
    {1000011: 1000013, 2000011: 2000013, 1000012: 1000014},
    *({1000006: other} for other in (2000006, 1000005, 2000005)),
)
"""Particles in whose place others are produced with the same cross section."""
NUMBER = re.compile(r"[0-9]{7}")
LO = 0


class Offer(NamedTuple):
    """A process that an entry serves: its own, or one of exchanged particles."""

    entry: Entry
    outgoing: tuple[int, ...]
    exchanged: Mapping[int, int] = {}

    def named(self, name: str) -> str:
        """Return the name in a spectrum of an input or a condition of the surrogate."""
        return _exchange(name, self.exchanged)

    @property
    def processes(self) -> frozenset[tuple[int, ...]]:
        """Pairs whose cross sections are in the entry: one, or those that it states as added."""
        stated = [int(n) for n in re.findall(r"-?\b[0-9]{7}\b", self.entry.inclusive)]
        pairs = zip(stated[::2], stated[1::2], strict=False)
        added = {key_of(self.exchanged.get(abs(n), abs(n)) * _sign(n) for n in p) for p in pairs}
        return frozenset({self.outgoing, *added})


def offers_of(entries: Iterable[Entry]) -> list[Offer]:
    """List all processes that entries serve, sorted by their particles."""
    found = []
    for entry in entries:
        own = key_of(entry.outgoing)
        found.append(Offer(entry, own))
        for exchange in EXCHANGES:
            if all(abs(number) in exchange for number in own):
                both = {**exchange, **{new: old for old, new in exchange.items()}}
                other = key_of(both.get(abs(n), abs(n)) * _sign(n) for n in own)
                found.append(Offer(entry, other, both))
    return sorted(found, key=lambda offer: place_of(offer.outgoing))


def at_energy(offers: Iterable[Offer], energy: float | None) -> list[Offer]:
    """Select the offers of an energy in GeV; None takes all."""
    return [o for o in offers if energy is None or same_energy(o.entry.sqrt_s_gev, energy)]


def of_order(offers: Iterable[Offer], order: int | None) -> list[Offer]:
    """Select the offers of a QCD order; None takes all."""
    return [o for o in offers if order is None or read_order(o.entry.order) == order]


def among(offers: Iterable[Offer]) -> list[Offer]:
    """Select, of the offers of one process, those among which the spectrum decides.

    An entry that adds processes counts where no entry has this process alone, and LO where there is
    no higher order.
    """
    found = [*offers]
    found = [o for o in found if not o.entry.inclusive] or found
    return [o for o in found if read_order(o.entry.order) != LO] or found


def together(offers: Iterable[Offer]) -> list[tuple[int, ...]]:
    """List the processes of offers whose cross sections may be added without counting one twice.

    An entry that adds processes is left out if one of them is served by another entry.
    """
    found = [*offers]
    alone = dict.fromkeys(o.outgoing for o in found if not o.entry.inclusive)
    pairs, covered = [*alone], {*alone}
    for offer in found:
        known = offer.outgoing in pairs
        if offer.entry.inclusive and not known and covered.isdisjoint(offer.processes):
            pairs.append(offer.outgoing)
            covered |= offer.processes
    return sorted(pairs, key=place_of)


def overlapping(offers: Sequence[Offer]) -> tuple[Offer, Offer] | None:
    """Find two offers that both have the cross section of one process; None if there are none."""
    for place, one in enumerate(offers):
        for other in offers[:place]:
            if one.processes & other.processes:
                return other, one
    return None


def preference(
    offer: Offer, standing: Standing, inputs: int
) -> tuple[int, bool, int, int, bool, str]:
    """Return the key of an entry at a spectrum; the entry with the largest one predicts it.

    In this order: the domain (inside, near edge, outside), all conditions given and met, the QCD
    order, the number of inputs, a process of its own, and the name.
    """
    order = read_order(offer.entry.order)
    return (
        FROM_BAD_TO_GOOD.index(standing.domain),
        standing.holds,
        -1 if order is None else order,
        inputs,
        not offer.exchanged,
        offer.entry.name,
    )


def _exchange(name: str, numbers: Mapping[int, int]) -> str:
    return NUMBER.sub(lambda m: str(numbers.get(int(m[0]), int(m[0]))), name) if numbers else name


def _sign(number: int) -> int:
    return -1 if number < 0 else 1
