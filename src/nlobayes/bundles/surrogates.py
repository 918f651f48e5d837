"""`Bundle.load(path_or_name).predict(slha)`: cross sections of many processes from one folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

from nlobayes.bundles.choice import Choice, Chosen, Located
from nlobayes.bundles.embedded import ENGINE, origin
from nlobayes.bundles.fetching import locate, names
from nlobayes.bundles.index import Entry, Index, entry_of, read_index
from nlobayes.bundles.offers import Preference, among, apart, offers_of
from nlobayes.bundles.opened import Surrogates
from nlobayes.bundles.requests import Order, Processes, pdg_text, requests_of
from nlobayes.bundles.shared_rows import widening
from nlobayes.bundles.spectrum_values import Spectrum, points_of
from nlobayes.errors import InputError
from nlobayes.surrogate.cross_section import CrossSection, nothing, reasons_of, total
from nlobayes.surrogate.domain import OUTSIDE
from nlobayes.surrogate.identity import check_summands, differences
from nlobayes.surrogate.surrogate import Surrogate


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
        self._choice = Choice(self.surrogates)

    def __repr__(self) -> str:
        """Describe the bundle: numbers of surrogates and processes, energies, and failed checks."""
        checks = (item for entry in self.entries for item in entry.failed_checks.items())
        failed = [kind for kind, names in checks if names]
        pairs = len({offer.outgoing for offer in self._offers})
        energies = ", ".join(f"{energy:g}" for energy in self.energies)
        counts = (f"{failed.count(kind)} fail checks of {kind}" for kind in sorted({*failed}))
        verdict = ", ".join(counts) or "all checks passed"
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
        parts = {
            one.offer.outgoing: self._choice.part(one) for one in counted if one.offer in offers
        }
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
        ((_, offers),) = requests_of(self._offers, [process], energy, order).items()
        first, points = among(offers), points_of(spectrum, [offer.needs for offer in offers])

        def key(located: Located) -> tuple[bool, bool, Preference]:
            offer, point = located
            is_read = not isinstance(point, InputError)
            return offer in first, is_read, self._choice.preference(offer, point)

        ranked = sorted(zip(offers, points, strict=True), key=key, reverse=True)
        return [self._choice.predicted(*each).found for each in ranked]

    def entry(self, name: str) -> Entry:
        """Return the entry of this name."""
        return self._entries[name]

    def offered(
        self, processes: Processes = "all", energy: float | None = None, order: Order = None
    ) -> dict[str, Sequence[Entry]]:
        """Return the entries of processes at one energy, by PDG numbers; errors as `predict`."""
        requested = requests_of(self._offers, processes, energy, order)
        return {pdg_text(pair): [o.entry for o in offers] for pair, offers in requested.items()}

    def named(
        self, processes: Processes = "all", energy: float | None = None, order: Order = None
    ) -> Sequence[str]:
        """Name processes; of all, those that entries state themselves. Errors as `predict`."""
        requested = requests_of(self._offers, processes, energy, order)
        own = [pair for pair, offers in requested.items() if any(o.is_own for o in offers)]
        return [*map(pdg_text, own if processes == "all" else requested)]

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

        Of all, those that only entries of other particles or energies serve count where one of
        these applies.
        """
        requested = requests_of(self._offers, processes, *at)
        if processes != "all":
            return self._choice.choose(spectrum, requested, engine)
        own = {pair for pair, offers in requested.items() if any(o.is_own for o in offers)}
        chosen = self._choice.choose(spectrum, requested, engine, requested.keys() - own)
        kept = {
            pair: one
            for pair, one in chosen.items()
            if pair in own or (one.found.domain != OUTSIDE and one.found.entry != ENGINE)
        }
        return kept or chosen


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
