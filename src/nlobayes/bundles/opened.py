"""Surrogates of a bundle by name; a file is opened at its first use and compared with the index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from nlobayes.artifacts.seals import digest
from nlobayes.bundles.index import Entry, entry_of
from nlobayes.errors import InputError
from nlobayes.surrogate.surrogate import Surrogate


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
