"""`Bundle.load(path_or_name).predict(slha)`: cross sections of many processes from one folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self

from nlobayes.artifacts.seals import digest
from nlobayes.bundles.fetching import catalog, fetch
from nlobayes.bundles.index import Index, Key, read_index
from nlobayes.bundles.shared_rows import widening
from nlobayes.data.slha import key_of, same_energy, spectrum_of
from nlobayes.data.slha_blocks import read_text
from nlobayes.errors import InputError
from nlobayes.surrogate.cross_section import CrossSection, central, cross_sections, total
from nlobayes.surrogate.identity import check_summands, differences, in_words
from nlobayes.surrogate.point_arrays import values_of
from nlobayes.surrogate.surrogate import Surrogate

Spectrum = Any
"""An SLHA file, SLHA text of several lines, or values by the names of columns (masses in GeV): a
mapping, or a row of a frame."""
Processes = Iterable[Iterable[int]] | Literal["all"]
"""Pairs of PDG numbers, in any order: `[(1000022, 1000023)]`."""
NamedSurrogate = tuple[str, Surrogate]
"""The path of a surrogate file, and the surrogate."""


class Bundle:
    """Surrogates of several processes, which predict spectra.

    Attributes
    ----------
    entries
        Entries of the index, one for each surrogate: process, energy, file, SHA-256 and verdicts.
    shared
        Errors at the validation rows that surrogates share; they set the width of the interval of a
        sum.
    surrogates
        Each `Surrogate` by the `key` of its entry: produced particles, and energy in GeV.
    loaded
        The same surrogates, each with the path of its file.
    """

    def __init__(self, index: Index, loaded: Mapping[Key, NamedSurrogate]) -> None:
        self.entries, self.shared = index
        self.loaded = loaded
        self.surrogates: dict[Key, Surrogate] = {key: named[1] for key, named in loaded.items()}
        self._last: dict[Key, tuple[Mapping[str, float], CrossSection]] = {}

    def __repr__(self) -> str:
        """Describe the bundle: numbers of surrogates and processes, energies, and failed checks."""
        failed = sum(any(entry.failed_checks.values()) for entry in self.entries)
        pairs = len({outgoing for outgoing, _ in self.surrogates})
        energies = ", ".join(f"{energy:g}" for energy in self.energies)
        verdict = f"checks of {failed} failed" if failed else "all checks passed"
        content = f"{len(self.entries)} surrogates of {pairs} processes at {energies} GeV"
        return f"<{type(self).__name__}: {content}; {verdict}>"

    @classmethod
    def load(cls, path_or_name: str | Path) -> Self:
        """Load a bundle from a folder, or download it once by its name in `list`.

        Raises
        ------
        InputError
            If there is no such folder or name, the download fails, or a file differs from the
            index.
        """
        folder = Path(path_or_name)
        if not folder.is_dir():
            folder = fetch(str(path_or_name))
        return cls(*load_folder(folder))

    @staticmethod
    def list() -> tuple[str, ...]:
        """List the names of bundles that can be downloaded."""
        return tuple(catalog())

    @staticmethod
    def is_known(path_or_name: str | Path) -> bool:
        """Return whether `load` accepts the argument as a bundle: a folder, or a name in `list`."""
        return Path(path_or_name).is_dir() or str(path_or_name) in catalog()

    @property
    def energies(self) -> tuple[float, ...]:
        """Energies in GeV."""
        return tuple(sorted({energy for _, energy in self.surrogates}))

    def predict(
        self, spectrum: Spectrum, processes: Processes = "all", energy: float | None = None
    ) -> dict[tuple[int, ...], CrossSection]:
        """Predict the cross section of each process in pb, by PDG numbers.

        Parameters
        ----------
        spectrum
            An SLHA file (a path), SLHA text, or values by the names of columns: a mapping, or a
            row of a frame (pandas, polars, Arrow) or of a structured array.
        processes
            Processes to predict; by default all at that energy.
        energy
            Energy in GeV; optional if all these processes have the same one.

        Raises
        ------
        InputError
            If the spectrum cannot be used, a process is not in the bundle at that energy or is
            given twice, or there are several energies. Then nothing is predicted.
        """
        chosen = self._chosen(processes, energy)
        predicted = self._predicted(chosen, self._spectrum(spectrum, chosen))
        return {key[0]: predicted[key]._replace(errors={**predicted[key].errors}) for key in chosen}

    def total(
        self, spectrum: Spectrum, processes: Processes = "all", energy: float | None = None
    ) -> CrossSection:
        """Add the cross sections of processes; `surrogate.cross_section` states how errors add.

        `reason` also states if the processes come from several engines, or if only some of them
        state their parton distributions.

        Raises
        ------
        InputError
            As `predict`, or if two processes state different orders or parton distributions.
        """
        chosen = self._chosen(processes, energy)
        parts = self._named(sorted(chosen))
        origins = [surrogate.origin for surrogate in parts.values()]
        check_summands(origins)
        point = self._spectrum(spectrum, chosen)
        added = total(parts, point, widening=self.widening(chosen))
        return added._replace(reason="; ".join(filter(None, [added.reason, differences(origins)])))

    def chosen(
        self, processes: Processes = "all", energy: float | None = None
    ) -> dict[str, Surrogate]:
        """Return the surrogates of processes at one energy, by PDG numbers; errors as `predict`."""
        return self._named(self._chosen(processes, energy))

    def widening(self, chosen: Sequence[Key]) -> float:
        """Return the factor on the interval of the sum of surrogates, which are given by key.

        The widened interval covers 68 % of the sums at the validation rows that they share. The
        factor is 1 for one surrogate, and if the index has no rows that all of them share.
        """
        files = [entry.file for entry in self.entries if entry.key in chosen]
        return widening(self.shared, files) if len(files) > 1 else 1.0

    def _predicted(
        self, chosen: Sequence[Key], spectrum: Mapping[str, float]
    ) -> Mapping[Key, CrossSection]:
        """Return predictions, computing those that are not known from the last call."""
        points = {key: self._point(key, spectrum) for key in chosen}
        new = [key for key in chosen if self._last.get(key, ({},))[0] != points[key]]
        predicted = cross_sections(self._named(new), spectrum).values()
        for key, found in zip(new, predicted, strict=True):
            self._last[key] = points[key], found
        return {key: self._last[key][1] for key in chosen}

    def _point(self, key: Key, spectrum: Mapping[str, float]) -> dict[str, float]:
        """Select the values of a spectrum on which the prediction of a surrogate depends."""
        surrogate = self.surrogates[key]
        names = (*surrogate.inputs, *surrogate.condition_names)
        return {name: spectrum[name] for name in names if name in spectrum}

    def _named(self, chosen: Sequence[Key]) -> dict[str, Surrogate]:
        return {pdg_text(outgoing): self.surrogates[outgoing, at] for outgoing, at in chosen}

    def _chosen(self, processes: Processes, energy: float | None) -> Sequence[Key]:
        """Return the keys of the requested surrogates, in the order of the request."""
        keys = [key for key in self.surrogates if energy is None or same_energy(key[1], energy)]
        available = dict.fromkeys(pair for pair, _ in keys)
        requested = [*available] if processes == "all" else _pairs(processes)
        missing = [pair for pair in requested if pair not in available]
        if missing or not requested:
            raise self._lacks(missing, energy)
        chosen = [key for pair in requested for key in keys if key[0] == pair]
        energies = sorted({at for _, at in chosen})
        if len(energies) > 1:
            raise InputError("bundles.energies", energies=energies)
        return chosen

    def _lacks(self, missing: Sequence[tuple[int, ...]], energy: float | None) -> InputError:
        at = "any energy" if energy is None else f"{energy:g} GeV"
        known = [f"{pdg_text(pair)} at {e:g} GeV" for pair, e in self.surrogates]
        return InputError("bundles.lacks", missing=[*map(pdg_text, missing)], at=at, known=known)

    def _spectrum(self, given: Spectrum, chosen: Sequence[Key]) -> Mapping[str, float]:
        """Read the values that the requested surrogates need, and no others."""
        surrogates = [self.surrogates[key] for key in chosen]
        columns = {name for surrogate in surrogates for name in surrogate.inputs}
        conditions = {name for surrogate in surrogates for name in surrogate.condition_names}
        if not isinstance(given, str | Path):
            return values_of(given, columns | conditions)
        is_text = isinstance(given, str) and "\n" in given
        text, source = (given, "SLHA") if is_text else (read_text(Path(given)), str(given))
        return spectrum_of(str(text), source, columns, conditions)


def pdg_text(pair: Iterable[int]) -> str:
    """Write PDG numbers with spaces between them."""
    return " ".join(map(str, pair))


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


def load_each(paths: Iterable[Path]) -> dict[Key, NamedSurrogate]:
    """Load surrogate files, in their order.

    Raises
    ------
    InputError
        If a file cannot be loaded, stores no process, predicts no central cross section, or has the
        same process and energy as another.
    """
    loaded: dict[Key, NamedSurrogate] = {}
    for path in paths:
        surrogate = Surrogate.load(path)
        try:
            process = central(surrogate)
        except InputError as error:
            raise error.within(path) from None
        key = key_of(process.outgoing), process.sqrt_s_gev
        if key in loaded:
            raise repeated_process(str(path), loaded[key][0], surrogate)
        loaded[key] = str(path), surrogate
    return loaded


def repeated_process(path: str, first: str, surrogate: Surrogate) -> InputError:
    """Return the error for two files with the same process and energy."""
    return InputError("bundles.twice", path=path, first=first, process=in_words(surrogate.origin))


def load_folder(folder: Path) -> tuple[Index, dict[Key, NamedSurrogate]]:
    """Load a bundle: its index, and its surrogates.

    Raises
    ------
    InputError
        If the index cannot be used, or a file is missing, has another digest or another process
        than the index states; also as `load_each`.
    """
    index = read_index(folder)
    for entry in index.entries:
        if digest(folder / entry.file) != entry.sha256:
            raise InputError(
                "bundles.other_file", where=folder / entry.file, listed=entry.sha256[:12]
            )
    loaded = load_each(folder / entry.file for entry in index.entries)
    for entry, key in zip(index.entries, loaded, strict=True):
        if entry.key != key:
            raise InputError("bundles.other_process", where=folder / entry.file, stated=entry.key)
    return index, loaded
