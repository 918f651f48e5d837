"""The choice among the offers of a process at a spectrum, and its prediction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from operator import itemgetter
from typing import NamedTuple

from nlobayes.bundles.embedded import ENGINE, by_engine, needs_of, taken_to
from nlobayes.bundles.offers import Offer, Preference, among
from nlobayes.bundles.requests import Requested, pdg_text
from nlobayes.bundles.spectrum_values import Point, Spectrum, points_of
from nlobayes.errors import InputError
from nlobayes.surrogate.cross_section import CrossSection, Part, cross_section, domain_of, nothing
from nlobayes.surrogate.domain import OUTSIDE
from nlobayes.surrogate.surrogate import Surrogate

Located = tuple[Offer, Point]
"""An offer, and its values of a spectrum."""


class Chosen(NamedTuple):
    """An offer of a process, its values of a spectrum, and its prediction."""

    offer: Offer
    point: Point
    found: CrossSection


class Choice:
    """The choice among offers, with the last prediction of each.

    Attributes
    ----------
    surrogates
        Surrogates of entries by name.
    """

    def __init__(self, surrogates: Mapping[str, Surrogate]) -> None:
        self.surrogates = surrogates
        self._last: dict[tuple[str, tuple[int, ...], float], Chosen] = {}

    def choose(
        self,
        spectrum: Spectrum,
        requested: Requested,
        engine: bool = False,
        optional: Set[tuple[int, ...]] = frozenset(),
    ) -> dict[tuple[int, ...], Chosen]:
        """Predict each process by the offer that is preferred at a spectrum.

        Of the `optional` processes, those are left out for which the conditions of no entry hold.

        With `engine`, that computes those that are outside, if it has the process and the spectrum
        has its masses and mixings.

        Raises InputError if the spectrum lacks what is needed of all processes.
        """
        offers = {pair: among(each) for pair, each in requested.items()}
        needs = [offer.needs for each in offers.values() for offer in each]
        points = iter(points_of(spectrum, needs))
        located = {pair: [(offer, next(points)) for offer in each] for pair, each in offers.items()}
        chosen = {
            pair: self.of_known_state(each)
            for pair, each in located.items()
            if pair not in optional or any(offer.allows(point) for offer, point in each)
        }
        if engine:
            outside = {pair: one for pair, one in chosen.items() if one.found.domain == OUTSIDE}
            chosen |= chosen_by_engine(spectrum, outside)
        errors = [one.point for one in chosen.values() if isinstance(one.point, InputError)]
        if errors and len(errors) == len(chosen):
            error, pair = errors[0], pdg_text(next(iter(chosen)))
            raise error.within(pair) if error.where is None else error
        return chosen

    def of_known_state(self, located: Sequence[Located]) -> Chosen:
        """Predict one process by its best offer, unless the spectrum allows several states.

        Such a pair may be winos or higgsinos, whose cross sections differ.
        """
        offer, point = self.best(located)
        allowed = {frozenset(each.states.values()) for each, point in located if each.allows(point)}
        unknown = offer.unknown_states(_values(point))
        if unknown and len(allowed) > 1:
            reason = InputError("bundles.unknown_states", missing=unknown).reason
            return Chosen(offer, point, nothing(reason)._replace(entry=offer.entry.name))
        return self.predicted(offer, point)

    def best(self, located: Sequence[Located]) -> Located:
        """Return the offer of one process with the largest preference at a spectrum.

        Offers are tried from the most promising until no other can be preferred, so that most files
        of a bundle stay closed. If the spectrum lacks values for all, the first is returned.
        """
        read = [each for each in located if not isinstance(each[1], InputError)] or located[:1]
        if len(read) == 1:
            return read[0]
        bounds = [(each[0].preference(_values(each[1])), each) for each in read]
        best, known = read[0], None
        for bound, each in sorted(bounds, key=itemgetter(0), reverse=True):
            if known is not None and known > bound:
                break
            found = self.preference(*each)
            if known is None or found > known:
                best, known = each, found
        return best

    def preference(self, offer: Offer, point: Point) -> Preference:
        """Return the preference of an offer with the domain of its surrogate."""
        if isinstance(point, InputError):
            return offer.preference({}, OUTSIDE)
        return offer.preference(point, domain_of(self.surrogates[offer.entry.name], point))

    def predicted(self, offer: Offer, point: Point) -> Chosen:
        """Predict a process by an offer, unless its last point was the same."""
        entry, key = offer.entry, (offer.entry.name, offer.outgoing, offer.sqrt_s_gev)
        added = f"added up: {entry.inclusive}" if entry.inclusive else ""
        doubt = f"doubtful: {entry.doubt}" if entry.doubt else ""
        if isinstance(point, InputError):
            return Chosen(offer, point, nothing(point.reason)._replace(entry=entry.name))
        if key not in self._last or self._last[key].point != point:
            found = cross_section(self.surrogates[entry.name], point)
            reason = "; ".join(filter(None, [doubt, added, found.reason]))
            found = found._replace(entry=entry.name, reason=reason)
            if offer.is_scaled:
                energies = entry.sqrt_s_gev, offer.sqrt_s_gev
                found = taken_to(found, offer.outgoing, point, energies)
            self._last[key] = Chosen(offer, point, found)
        return self._last[key]

    def part(self, chosen: Chosen) -> Part:
        """Return a prediction as a part of a sum."""
        name = chosen.found.entry
        is_exact = name == ENGINE or chosen.offer.is_scaled  # but for an error far below the others
        surrogate = None if is_exact else self.surrogates[name]
        return Part(surrogate, _values(chosen.point), chosen.found)


def chosen_by_engine(
    spectrum: Spectrum, chosen: Mapping[tuple[int, ...], Chosen]
) -> dict[tuple[int, ...], Chosen]:
    """Compute processes by the embedded engine, except those for which it lacks something."""
    needs = {pair: needs_of(pair) for pair in chosen}
    known = {pair: each for pair, each in needs.items() if each is not None}
    points = points_of(spectrum, [*known.values()])
    return {
        pair: Chosen(chosen[pair].offer, point, by_engine(pair, point, energy))
        for pair, point in zip(known, points, strict=True)
        if not isinstance(point, InputError)
        for energy in [chosen[pair].offer.sqrt_s_gev]
    }


def _values(point: Point) -> Mapping[str, float]:
    """Return the values of a point; none if they cannot be read."""
    return {} if isinstance(point, InputError) else point
