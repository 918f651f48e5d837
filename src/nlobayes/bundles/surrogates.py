"""Surrogates of central cross sections by what they are of: one for each process and energy."""

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
"""A surrogate, and the path that it was read from."""


def load_each(paths: Iterable[Path]) -> dict[Key, Named]:
    """Load surrogate files, in their order.

    Raises
    ------
    InputError
        If one cannot be loaded, is of no process that it knows, of no central cross section, or of
        the same process and energy as another.
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
            raise twice(str(path), loaded[key][0], surrogate)
        loaded[key] = str(path), surrogate
    return loaded


def twice(path: str, first: str, surrogate: Surrogate) -> InputError:
    """State that two files are of one process and energy."""
    return InputError("bundles.twice", path=path, first=first, of=in_words(surrogate.origin))


def load_folder(folder: Path) -> tuple[Index, dict[Key, Named]]:
    """Load a bundle: its index, and its surrogates.

    Raises
    ------
    InputError
        If the index cannot be used, a file is missing, is not the one that the index means, or of
        something else; as `load_each`.
    """
    index = read_index(folder)
    for entry in index.entries:
        path = folder / entry.file
        if digest(path) != entry.sha256:
            raise InputError("bundles.other_file", where=path, wanted=entry.sha256[:12])
    loaded = load_each(folder / entry.file for entry in index.entries)
    for entry, key in zip(index.entries, loaded, strict=True):
        if entry.key != key:
            raise InputError("bundles.other_process", where=folder / entry.file, said=entry.key)
    return index, loaded
