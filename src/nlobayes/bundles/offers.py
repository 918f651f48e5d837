"""What the entries of a bundle serve, and which one predicts a process at a spectrum.

An entry serves its own process, and those that one of `EXCHANGES` makes of it: Drell-Yan production
of sleptons does not see the generation, and the production of a stop pair by QCD does not see which
squark of the third generation it is. An entry of pure states serves all neutralinos and charginos:
its conditions say which of them are such states. Numbers are then exchanged in its inputs and
conditions, so that `mass_1000011` of a selectron is read from the mass of the smuon.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from itertools import chain, combinations, product

from nlobayes.bundles.embedded import needs_of
from nlobayes.bundles.index import Entry, place_of
from nlobayes.bundles.spectrum_values import Needs, Point
from nlobayes.data.slha import key_of, same_energy
from nlobayes.data.statements import FixedParameter, read_order
from nlobayes.errors import InputError
from nlobayes.physics.processes import CHARGINOS, NEUTRALINOS
from nlobayes.surrogate.cross_section import FROM_BAD_TO_GOOD
from nlobayes.surrogate.domain import INSIDE, OUTSIDE
from nlobayes.surrogate.identity import conditions

EXCHANGES: tuple[Mapping[int, int], ...] = (
    {1000011: 1000013, 2000011: 2000013, 1000012: 1000014},
    {1000012: 1000016},
    *({1000006: other} for other in (2000006, 1000005, 2000005)),
)
"""Particles in whose place others are produced with the same cross section. An exchange applies to
a process of these particles alone."""
STATES = ("bino", "wino", "higgsino")
KINDS = NEUTRALINOS, CHARGINOS
NUMBER = re.compile(r"[0-9]{7}")
LO = 0

Preference = tuple[int, bool, float, int, bool, int, int, bool, str]
"""What makes an entry preferred to others, the larger the more; `Offer.preference` has the list."""


class Offer:
    """A process that an entry serves: its own, or one of exchanged particles.

    Attributes
    ----------
    entry
        The entry.
    outgoing
        Ordered PDG numbers of the process.
    exchanged
        Numbers that replace those of the entry; none for its own process.
    order
        Number of its QCD order; -1 if it is not known.
    sqrt_s_gev
        Energy at which it predicts; `is_scaled` tells whether the entry has another.
    needs
        Names in a spectrum of its inputs and conditions.
    """

    def __init__(
        self,
        entry: Entry,
        exchange: Mapping[int, int] | None = None,
        sqrt_s_gev: float | None = None,
    ) -> None:
        given = exchange or {}
        self.entry = entry
        self.sqrt_s_gev = sqrt_s_gev or entry.sqrt_s_gev
        self.exchanged: Mapping[int, int] = {**{new: old for old, new in given.items()}, **given}
        self.outgoing = self._exchange_pair(entry.outgoing)
        order = read_order(entry.order)
        self.order = -1 if order is None else order

    @property
    def is_own(self) -> bool:
        """Whether the entry itself states process and energy."""
        return not self.exchanged and not self.is_scaled

    @property
    def is_scaled(self) -> bool:
        """Whether the embedded engine takes the cross section to another energy."""
        return self.sqrt_s_gev != self.entry.sqrt_s_gev

    @cached_property
    def conditions(self) -> tuple[FixedParameter, ...]:
        """Its conditions, with the names of the entry."""
        return conditions({"fixed": self.entry.fixed}, self.entry.inputs)

    @cached_property
    def needs(self) -> Needs:
        """Names in a spectrum of its inputs and conditions, by their names in the entry."""
        names = self.entry.inputs, (condition.name for condition in self.conditions)
        inputs, given = ({name: self._exchange_text(name) for name in each} for each in names)
        engine = needs_of(self.outgoing) if self.is_scaled else None
        return Needs(inputs, given | ({**engine.inputs, **engine.conditions} if engine else {}))

    @cached_property
    def states(self) -> Mapping[str, str]:
        """Names in a spectrum of the states that its conditions ask for, such as `wino_1000024`."""
        given = self.needs.conditions.items()
        return {own: name for own, name in given if own.partition("_")[0] in STATES}

    @cached_property
    def processes(self) -> frozenset[tuple[int, ...]]:
        """Pairs whose cross sections are in the entry: one, or those that it states as added."""
        stated = [int(n) for n in re.findall(r"-?\b[0-9]{7}\b", self.entry.inclusive)]
        pairs = zip(stated[::2], stated[1::2], strict=False)
        return frozenset({self.outgoing, *map(self._exchange_pair, pairs)})

    def preference(self, point: Mapping[str, float], domain: str = INSIDE) -> Preference:
        """Return the preference of the entry at a spectrum, by the names of the entry.

        In this order: the domain (inside, near edge, outside), all conditions given and met, the
        smaller distance to a condition that is not met (absolute for numbers up to 1, such as the
        content of a state, else relative), the domain without conditions, no doubt, the QCD
        order, the number of inputs, a process of its own, and the later name. `domain` is that
        without conditions.
        """
        gaps = self._gaps(point)
        gap = max((gap for gap in gaps if gap is not None), default=0.0)
        return (
            FROM_BAD_TO_GOOD.index(OUTSIDE if gap else domain),
            not gap and None not in gaps,
            -gap,
            FROM_BAD_TO_GOOD.index(domain),
            not self.entry.doubt,
            self.order,
            len(self.entry.inputs),
            not self.exchanged,
            self.entry.name,
        )

    def allows(self, point: Point) -> bool:
        """Return whether no value of a spectrum violates a condition; missing inputs do."""
        return not isinstance(point, InputError) and not any(self._gaps(point))

    def unknown_states(self, point: Mapping[str, float]) -> list[str]:
        """List the states of which a spectrum does not tell the content."""
        given = zip(self.conditions, self._gaps(point), strict=True)
        lacking = {condition.name for condition, gap in given if gap is None}
        return [name for own, name in self.states.items() if own in lacking]

    def _gaps(self, point: Mapping[str, float]) -> list[float | None]:
        return [_gap(condition, point.get(condition.name)) for condition in self.conditions]

    def _exchange_pair(self, pair: Iterable[int]) -> tuple[int, ...]:
        new = self.exchanged
        return key_of(new.get(abs(n), abs(n)) * (-1 if n < 0 else 1) for n in pair)

    def _exchange_text(self, name: str) -> str:
        new = self.exchanged
        return NUMBER.sub(lambda m: str(new.get(int(m[0]), m[0])), name) if new else name


def offers_of(entries: Iterable[Entry]) -> list[Offer]:
    """List all processes that entries serve, sorted by their particles."""
    found = []
    for entry in entries:
        particles = {abs(number) for number in entry.outgoing}
        served = [exchange for exchange in EXCHANGES if particles <= exchange.keys()]
        served += _pure_state_exchanges(entry, particles)
        found += [Offer(entry), *(Offer(entry, exchange) for exchange in served)]
    return sorted(found, key=lambda offer: place_of(offer.outgoing))


def _pure_state_exchanges(entry: Entry, particles: Set[int]) -> Iterator[Mapping[int, int]]:
    """Yield the other neutralinos and charginos that may be the states of an entry, in order.

    There are none unless its conditions name the state of each of its particles.
    """
    if not all(any(f"{state}_{n}" in entry.fixed for state in STATES) for n in particles):
        return
    own = [sorted(particles & {*kind}) for kind in KINDS]
    others = [combinations(kind, len(of)) for kind, of in zip(KINDS, own, strict=True)]
    for chosen in product(*others):
        exchange = dict(zip(chain(*own), chain(*chosen), strict=True))
        if any(old != new for old, new in exchange.items()):
            yield exchange


def offers_at_energy(offers: Sequence[Offer], energy: float | None) -> list[Offer]:
    """Select the offers of an energy in GeV; None takes all.

    Offers of other energies follow, if no offer of their process and order is of this one, and the
    embedded engine has the process: it takes them to this energy.
    """
    if energy is None:
        return [*offers]
    here = [offer for offer in offers if same_energy(offer.sqrt_s_gev, energy)]
    served = {(offer.outgoing, offer.order) for offer in here}
    others = [
        Offer(offer.entry, offer.exchanged, energy)
        for offer in offers
        if (offer.outgoing, offer.order) not in served and not offer.entry.inclusive
    ]
    return [*here, *(offer for offer in others if here and needs_of(offer.outgoing))]


def offers_of_order(offers: Iterable[Offer], order: int | None) -> list[Offer]:
    """Select the offers of a QCD order; None takes all."""
    return [o for o in offers if order is None or o.order == order]


def among(offers: Iterable[Offer]) -> list[Offer]:
    """Select, of the offers of one process, those among which the spectrum decides.

    An entry that adds processes counts where no entry has this process alone, and LO where there is
    no higher order.
    """
    found = [*offers]
    found = [o for o in found if not o.entry.inclusive] or found
    return [o for o in found if o.order != LO] or found


def together(offers: Iterable[Offer]) -> list[tuple[int, ...]]:
    """List the processes of offers without those that are in another entry alone, and in a sum."""
    found = [*offers]
    alone = {o.outgoing for o in found if not o.entry.inclusive}
    added = {o.outgoing for o in found if o.entry.inclusive and alone.isdisjoint(o.processes)}
    return sorted(alone | added, key=place_of)


def apart(offers: Sequence[Offer]) -> list[Offer]:
    """Select offers whose cross sections have no process in common: sums of processes come last."""
    kept, covered = [], set[tuple[int, ...]]()
    for offer in sorted(offers, key=lambda offer: offer.entry.inclusive != ""):
        if covered.isdisjoint(offer.processes):
            kept.append(offer)
            covered |= offer.processes
    return kept


def _gap(condition: FixedParameter, value: float | None) -> float | None:
    """Return the distance of a value to the range of a condition; None for no value."""
    if value is None or value != value:
        return None
    low, high = condition.low, condition.high
    beyond, bound = (low - value, low) if value < low else (value - high, high)
    return max(beyond, 0.0) / max(1.0, abs(bound))
