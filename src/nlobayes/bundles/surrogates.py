"""`Bundle.load(path_or_name).predict(slha)`: cross sections of many processes from one folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Literal, NamedTuple, Self

from nlobayes.artifacts.seals import digest
from nlobayes.bundles.embedded import ENGINE, by_engine, needs_of, origin
from nlobayes.bundles.fetching import locate, names
from nlobayes.bundles.index import Entry, Index, entry_of, read_index
from nlobayes.bundles.offers import (
    Offer,
    Preference,
    among,
    apart,
    at_energy,
    of_order,
    offers_of,
    together,
)
from nlobayes.bundles.shared_rows import widening
from nlobayes.bundles.spectra import Point, Spectrum, points_of
from nlobayes.data.slha import key_of
from nlobayes.data.statements import QCD_ORDERS, read_order
from nlobayes.errors import InputError
from nlobayes.surrogate.cross_section import (
    CrossSection,
    Part,
    cross_section,
    domain_of,
    nothing,
    reasons_of,
    total,
)
from nlobayes.surrogate.domain import OUTSIDE
from nlobayes.surrogate.identity import check_summands, differences
from nlobayes.surrogate.surrogate import Surrogate

Processes = Iterable[Iterable[int]] | Literal["all"]
"""Pairs of PDG numbers, in any order: `[(1000022, 1000023)]`."""
Order = str | int | None
"""A QCD order, as `NLO+NLL` or its number in blocks XSECTION; None for any."""
Requested = Mapping[tuple[int, ...], Sequence[Offer]]
"""For each requested process, the offers of its energy and order."""
Located = tuple[Offer, Point]
"""An offer, and its values of a spectrum."""


class Surrogates(Mapping[str, Surrogate]):
    """Surrogates of entries by name, each loaded at its first use.

    Attributes
    ----------
    paths
        Their files.
    """

    def __init__(
        self, entries: Iterable[Entry], paths: Mapping[str, Path], loaded: Mapping[str, Surrogate]
    ) -> None:
        self.paths = paths
        self._entries = {entry.name: entry for entry in entries}
        self._loaded = {**loaded}

    def __getitem__(self, name: str) -> Surrogate:
        """Return a surrogate.

        Raises InputError if its file is missing, cannot be loaded, or has another digest or another
        content than the index states.
        """
        if name not in self._loaded:
            self._loaded[name] = self._load(self._entries[name])
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def _load(self, entry: Entry) -> Surrogate:
        path = self.paths[entry.name]
        if digest(path) != entry.sha256:
            raise InputError("bundles.other_file", where=path, listed=entry.sha256[:12])
        surrogate = Surrogate.load(path)
        if entry_of(surrogate) != entry:
            raise InputError("bundles.other_process", where=path, stated=entry.process)
        return surrogate


class Chosen(NamedTuple):
    """An offer of a process, its values of a spectrum, and its prediction."""

    offer: Offer
    point: Point
    found: CrossSection


class Bundle:
    """Surrogates of several processes, which predict spectra.

    A process may have several entries, of different orders, sources or pure states. `predict` takes
    for each process the entry that applies to the spectrum; `bundles.offers` has the rule.

    Attributes
    ----------
    entries
        Entries of the index, one for each surrogate: name, process, energy, SHA-256 and verdicts.
    shared
        Errors at the validation rows that surrogates share; they set the width of the interval of a
        sum.
    surrogates
        Each `Surrogate` by the name of its entry. It is loaded at its first use.
    """

    def __init__(
        self, index: Index, paths: Mapping[str, Path], loaded: Mapping[str, Surrogate] | None = None
    ) -> None:
        self.entries, self.shared = index
        self.surrogates = Surrogates(self.entries, paths, loaded or {})
        self._entries = {entry.name: entry for entry in self.entries}
        self._offers = offers_of(self.entries)
        self._last: dict[tuple[str, tuple[int, ...]], Chosen] = {}

    def __repr__(self) -> str:
        """Describe the bundle: numbers of surrogates and processes, energies, and failed checks."""
        failed = sum(any(entry.failed_checks.values()) for entry in self.entries)
        pairs = len({offer.outgoing for offer in self._offers})
        energies = ", ".join(f"{energy:g}" for energy in self.energies)
        verdict = f"checks of {failed} failed" if failed else "all checks passed"
        content = f"{len(self.entries)} surrogates of {pairs} processes at {energies} GeV"
        return f"<{type(self).__name__}: {content}; {verdict}>"

    @classmethod
    def load(cls, path_or_name: str | Path) -> Self:
        """Load a bundle from a folder, or by its name in `list`, under which it may be downloaded.

        Surrogates are loaded when they are needed, and then compared with the index.

        Raises
        ------
        InputError
            If there is no such folder or name, the download fails, or the index cannot be used.
        """
        folder = Path(path_or_name)
        if not folder.is_dir():
            folder = locate(str(path_or_name))
        index = read_index(folder)
        return cls(index, {entry.name: folder / entry.file for entry in index.entries})

    @classmethod
    def of(cls, *parts: Path | Bundle) -> Self:
        """Make a bundle of files of surrogates and of bundles, without shared rows.

        Raises
        ------
        InputError
            If a file cannot be loaded, stores no process, predicts no central cross section, or has
            the same name as another.
        """
        entries: dict[str, Entry] = {}
        paths: dict[str, Path] = {}
        loaded: dict[str, Surrogate] = {}
        for part in parts:
            for entry, path, surrogate in _listed(part):
                if first := paths.get(entry.name):
                    raise InputError(
                        "bundles.twice",
                        path=path,
                        first=first,
                        name=entry.name,
                        process=entry.process,
                    )
                entries[entry.name], paths[entry.name] = entry, path
                loaded |= {} if surrogate is None else {entry.name: surrogate}
        return cls(Index(tuple(sorted(entries.values(), key=lambda e: e.place))), paths, loaded)

    @staticmethod
    def list() -> tuple[str, ...]:
        """List the names of the bundles in the package, and of those that can be downloaded."""
        return names()

    @staticmethod
    def is_known(path_or_name: str | Path) -> bool:
        """Return whether `load` accepts the argument as a bundle: a folder, or a name in `list`."""
        return Path(path_or_name).is_dir() or str(path_or_name) in names()

    @property
    def energies(self) -> tuple[float, ...]:
        """Energies in GeV."""
        return tuple(sorted({entry.sqrt_s_gev for entry in self.entries}))

    def predict(
        self,
        spectrum: Spectrum,
        processes: Processes = "all",
        energy: float | None = None,
        order: Order = None,
        *,
        engine: bool = False,
    ) -> dict[tuple[int, ...], CrossSection]:
        """Predict the cross section of each process in pb, by PDG numbers.

        A process whose masses or mixings the spectrum lacks is NaN and `outside`, for a stated
        reason.

        Parameters
        ----------
        spectrum
            An SLHA file (a path), SLHA text, or values by the names of columns: a mapping, or a
            row of a frame (pandas, polars, Arrow) or of a structured array.
        processes
            Processes to predict; by default all at that energy.
        energy
            Energy in GeV; optional if all these processes have the same one.
        order
            QCD order, as `NLO+NLL` or its number in blocks XSECTION; by default the highest.
        engine
            Whether the embedded engine computes, at NLO, processes that are `outside`, such as
            those of mixed states for which there are entries of pure states alone.

        Raises
        ------
        InputError
            If no process can be predicted, a process is not in the bundle at that energy and order
            or is given twice, or there are several energies. Then nothing is predicted.
        """
        chosen = self._applying(spectrum, processes, (energy, order), engine)
        return {
            pair: one.found._replace(errors={**one.found.errors}) for pair, one in chosen.items()
        }

    def total(
        self,
        spectrum: Spectrum,
        processes: Processes = "all",
        energy: float | None = None,
        order: Order = None,
        *,
        engine: bool = False,
    ) -> CrossSection:
        """Add the cross sections of processes; `surrogate.cross_section` states how errors add.

        Of all processes, those are added that are inside or near the edge, and `reason` names the
        others; the sum is `outside` unless the spectrum lacks the particles of all of these.
        Requested processes are all added. `reason` also states if the processes have different
        orders, parton distributions or engines, or only some of them state these.

        Raises
        ------
        InputError
            As `predict`, or if only some of the processes are LO, or one is in the sum of another.
        """
        chosen = self._applying(spectrum, processes, (energy, order), engine)
        counted = [*chosen.values()]
        if processes == "all":
            counted = [one for one in counted if one.found.domain != OUTSIDE]
        offers = apart([one.offer for one in counted])
        if processes != "all" and len(offers) < len(counted):
            names = [one.offer.entry.name for one in counted]
            raise InputError("bundles.overlap", names=names)
        parts = {one.offer.outgoing: self._part(one) for one in counted if one.offer in offers}
        left_out = {pair: one for pair, one in chosen.items() if pair not in parts}
        if not parts:
            return nothing(reasons_of({pdg_text(p): one.found for p, one in left_out.items()}))
        origins = [p.surrogate.origin if p.surrogate else origin() for p in parts.values()]
        check_summands(origins)
        factor = self.widening(part.found.entry for part in parts.values())
        found = total({pdg_text(pair): part for pair, part in parts.items()}, widening=factor)
        without = f"without {', '.join(map(pdg_text, left_out))}" if left_out else ""
        if any(not isinstance(one.point, InputError) for one in left_out.values()):
            found = found._replace(domain=OUTSIDE)
        reasons = [found.reason, differences(origins), without]
        return found._replace(reason="; ".join(filter(None, reasons)))

    def candidates(
        self,
        spectrum: Spectrum,
        process: Iterable[int],
        energy: float | None = None,
        order: Order = None,
    ) -> Sequence[CrossSection]:
        """Predict a process by every entry that serves it, the one of `predict` first.

        Entries of LO and of sums of processes come last, if there are others.

        Raises
        ------
        InputError
            As `predict`, but entries whose inputs the spectrum lacks are NaN and `outside`.
        """
        ((_, offers),) = self._requested([process], energy, order).items()
        first, points = among(offers), points_of(spectrum, [offer.needs for offer in offers])

        def key(located: Located) -> tuple[bool, bool, Preference]:
            offer, point = located
            is_read = not isinstance(point, InputError)
            return offer in first, is_read, self._preference(offer, point)

        ranked = sorted(zip(offers, points, strict=True), key=key, reverse=True)
        return [self._predicted(*each).found for each in ranked]

    def entry(self, name: str) -> Entry:
        """Return the entry of this name."""
        return self._entries[name]

    def offered(
        self, processes: Processes = "all", energy: float | None = None, order: Order = None
    ) -> dict[str, Sequence[Entry]]:
        """Return the entries of processes at one energy, by PDG numbers; errors as `predict`."""
        requested = self._requested(processes, energy, order)
        return {pdg_text(pair): [o.entry for o in offers] for pair, offers in requested.items()}

    def widening(self, names: Iterable[str]) -> float:
        """Return the factor on the interval of the sum of surrogates, given by name.

        The widened interval covers 68 % of the sums at the validation rows that they share. The
        factor is 1 for one surrogate, and if the index has no rows that all of them share.
        """
        files = [self.entry(name).file for name in dict.fromkeys(names) if name != ENGINE]
        return widening(self.shared, files) if len(files) > 1 else 1.0

    def _applying(
        self,
        spectrum: Spectrum,
        processes: Processes,
        at: tuple[float | None, Order],
        engine: bool,
    ) -> dict[tuple[int, ...], Chosen]:
        """Predict requested processes.

        Of all, those that only entries of other particles serve count where one of these applies.
        """
        requested = self._requested(processes, *at)
        chosen = self._chosen(spectrum, requested, engine)
        if processes != "all":
            return chosen
        own = {pair for pair, offers in requested.items() if any(not o.exchanged for o in offers)}
        kept = {
            pair: one
            for pair, one in chosen.items()
            if pair in own or (one.found.domain != OUTSIDE and one.found.entry != ENGINE)
        }
        return kept or chosen

    def _chosen(
        self, spectrum: Spectrum, requested: Requested, engine: bool = False
    ) -> dict[tuple[int, ...], Chosen]:
        """Predict each process by the offer that is preferred at a spectrum.

        With `engine`, that computes those that are outside, if it has the process and the spectrum
        has its masses and mixings.

        Raises InputError if the spectrum lacks what is needed of all processes.
        """
        offers = {pair: among(each) for pair, each in requested.items()}
        needs = [offer.needs for each in offers.values() for offer in each]
        points = iter(points_of(spectrum, needs))
        located = {pair: [(offer, next(points)) for offer in each] for pair, each in offers.items()}
        chosen = {pair: self._predicted(*self._choose(each)) for pair, each in located.items()}
        if engine:
            outside = {pair: one for pair, one in chosen.items() if one.found.domain == OUTSIDE}
            chosen |= _by_engine(spectrum, outside)
        errors = [one.point for one in chosen.values() if isinstance(one.point, InputError)]
        if len(errors) == len(chosen):
            error, pair = errors[0], pdg_text(next(iter(chosen)))
            raise error.within(pair) if error.where is None else error
        return chosen

    def _part(self, chosen: Chosen) -> Part:
        name = chosen.found.entry
        surrogate = None if name == ENGINE else self.surrogates[name]
        return Part(surrogate, _values(chosen.point), chosen.found)

    def _choose(self, located: Sequence[Located]) -> Located:
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
            found = self._preference(*each)
            if known is None or found > known:
                best, known = each, found
        return best

    def _preference(self, offer: Offer, point: Point) -> Preference:
        """Return the preference of an offer with the domain of its surrogate."""
        if isinstance(point, InputError):
            return offer.preference({}, OUTSIDE)
        return offer.preference(point, domain_of(self.surrogates[offer.entry.name], point))

    def _predicted(self, offer: Offer, point: Point) -> Chosen:
        """Predict a process by an offer, unless its last point was the same."""
        entry, key = offer.entry, (offer.entry.name, offer.outgoing)
        added = f"added up: {entry.inclusive}" if entry.inclusive else ""
        doubt = f"doubtful: {entry.doubt}" if entry.doubt else ""
        if isinstance(point, InputError):
            return Chosen(offer, point, nothing(point.reason)._replace(entry=entry.name))
        if key not in self._last or self._last[key].point != point:
            found = cross_section(self.surrogates[entry.name], point)
            reason = "; ".join(filter(None, [doubt, added, found.reason]))
            self._last[key] = Chosen(offer, point, found._replace(entry=entry.name, reason=reason))
        return self._last[key]

    def _requested(self, processes: Processes, energy: float | None, order: Order) -> Requested:
        """Return the offers of each requested process, in the order of the request."""
        known = at_energy(self._offers, energy)
        if not known:
            raise InputError("bundles.no_energy", received=energy, known=self.energies)
        number = check_order(order)
        offers = of_order(known, number)
        if not offers:
            orders = sorted({offer.entry.order for offer in known})
            raise InputError("bundles.no_order", received=order, known=orders)
        pairs = together(offers) if processes == "all" else _pairs(processes)
        found = {pair: [o for o in offers if o.outgoing == pair] for pair in pairs}
        missing = [pdg_text(pair) for pair, each in found.items() if not each]
        if missing or not found:
            listed = dict.fromkeys(pdg_text(o.outgoing) for o in offers)
            raise InputError("bundles.lacks", missing=missing, known=[*listed])
        energies = sorted({o.entry.sqrt_s_gev for each in found.values() for o in each})
        if len(energies) > 1:
            raise InputError("bundles.energies", energies=energies)
        return found


def _by_engine(
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
        for energy in [chosen[pair].offer.entry.sqrt_s_gev]
    }


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


def _values(point: Point) -> Mapping[str, float]:
    """Return the values of a point; none if they cannot be read."""
    return {} if isinstance(point, InputError) else point


def _listed(part: Path | Bundle) -> Iterator[tuple[Entry, Path, Surrogate | None]]:
    """List the entries of a bundle, or that of a file of a surrogate, which is loaded."""
    if isinstance(part, Bundle):
        yield from ((e, part.surrogates.paths[e.name], None) for e in part.entries)
        return
    surrogate = Surrogate.load(part)
    try:
        yield entry_of(surrogate), part, surrogate
    except InputError as error:
        raise error.within(part) from None
