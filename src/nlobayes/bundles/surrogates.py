"""Loading of surrogates of central cross sections, one for each process and energy."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from nlobayes.artifacts.seals import digest
from nlobayes.bundles.index import Index, Key, read_index
from nlobayes.data.slha import key_of
from nlobayes.errors import InputError
from nlobayes.surrogate.cross_section import central
from nlobayes.surrogate.identity import in_words
from nlobayes.surrogate.surrogate import Surrogate

Named = tuple[str, Surrogate]
"""The path of a surrogate file, and the surrogate."""


def load_each(paths: Iterable[Path]) -> dict[Key, Named]:
    """Load surrogate files, in their order.

    Raises
    ------
    InputError
        If a file cannot be loaded, stores no process, predicts no central cross section, or has the
        same process and energy as another.
    """
    loaded: dict[Key, Named] = {}
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


def load_folder(folder: Path) -> tuple[Index, dict[Key, Named]]:
    """Load a bundle: its index, and its surrogates.

    Raises
    ------
    InputError
        If the index cannot be used, or a file is missing, has another digest or another process
        than the index states; also as `load_each`.
    """
    index = read_index(folder)
    for entry in index.entries:
        path = folder / entry.file
        if digest(path) != entry.sha256:
            raise InputError("bundles.other_file", where=path, listed=entry.sha256[:12])
    loaded = load_each(folder / entry.file for entry in index.entries)
    for entry, key in zip(index.entries, loaded, strict=True):
        if entry.key != key:
            raise InputError("bundles.other_process", where=folder / entry.file, stated=entry.key)
    return index, loaded
