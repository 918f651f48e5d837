"""The index of a bundle, `bundle.json`: the surrogates in its folder and their processes."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from nlobayes.artifacts.files import read_json
from nlobayes.bundles import shared_rows
from nlobayes.bundles.shared_rows import SharedRows, read_rows
from nlobayes.data.slha import key_of
from nlobayes.errors import InputError
from nlobayes.surrogate.facts import POSITIVE, TRUTH_OR_NONE, Rule
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.untyped import Document

INDEX = "bundle.json"
ENDING = ".nc"
"""Ending of surrogate files."""
VERSION = 1
NAMED = "nlobayes_bundle"
SHARED = "shared_rows"
PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,199}\.nc")
SHA256 = re.compile(r"[0-9a-f]{64}")
MOST = 10_000
"""Largest number of surrogates of a bundle."""

Key = tuple[tuple[int, ...], float]
"""Produced particles as ordered PDG numbers, and the energy in GeV."""


class Entry(NamedTuple):
    """A surrogate of a bundle: its process, energy in GeV, file, and its failed checks."""

    process: str
    incoming: tuple[int, ...]
    outgoing: tuple[int, ...]
    sqrt_s_gev: float
    order: str
    file: str
    sha256: str
    converged: bool | None
    failed_checks: dict[str, list[str]]

    @property
    def key(self) -> Key:
        """Key that is unique in its bundle."""
        return key_of(self.outgoing), self.sqrt_s_gev


def entry_of(surrogate: Surrogate) -> Entry:
    """Make the entry of a surrogate, which must store its process, and name its file."""
    process = surrogate.process
    assert process is not None
    outgoing = key_of(process.outgoing)
    name = "_".join(map(str, outgoing))
    return Entry(
        process=surrogate.origin["process"],
        incoming=process.incoming,
        outgoing=outgoing,
        sqrt_s_gev=process.sqrt_s_gev,
        order=surrogate.origin["order"],
        file=f"{process.sqrt_s_gev:g}GeV_{name}.nc",
        sha256=surrogate.sha256,
        converged=surrogate.facts["verdict"]["converged"],
        failed_checks=surrogate.failed_checks,
    )


class Index(NamedTuple):
    """Entries of a bundle, and the validation rows that some of its surrogates share."""

    entries: tuple[Entry, ...]
    shared: tuple[SharedRows, ...] = ()


def as_mapping(index: Index) -> Document:
    """Return the index of a bundle as a JSON object."""
    listed = [entry._asdict() for entry in index.entries]
    shared = [*map(shared_rows.as_mapping, index.shared)]
    return {NAMED: VERSION, "surrogates": listed, SHARED: shared}


def read_index(folder: Path) -> Index:
    """Read the index of a folder, which may come from an unknown source.

    Raises InputError if the index is missing, has another version, or has an invalid entry.
    """
    path = folder / INDEX
    content = read_json(path, NAMED, "surrogates")
    if content[NAMED] != VERSION:
        raise InputError("bundles.version", where=path, received=content[NAMED], allowed=VERSION)
    listed = content["surrogates"]
    if not isinstance(listed, list) or not 0 < len(listed) <= MOST:
        raise InputError("bundles.no_list", where=path, most=MOST)
    entries = tuple(_entry(given, f"{path}: surrogate {n}") for n, given in enumerate(listed, 1))
    files = [entry.file for entry in entries]
    for values in ([entry.key for entry in entries], files):
        for value, count in Counter[object](values).items():
            if count > 1:
                raise InputError("bundles.index_twice", where=path, value=value)
    shared = content.get(SHARED, [])  # bundles of earlier versions have none
    if not isinstance(shared, list) or len(shared) > MOST:
        raise InputError("bundles.shared_rows", where=path)
    return Index(entries, tuple(read_rows(given, files, str(path)) for given in shared))


def _entry(given: Any, where: str) -> Entry:
    if not isinstance(given, dict) or given.keys() != {*Entry._fields}:
        raise InputError("bundles.entry", where=where, allowed=[*Entry._fields])
    for name, rule in RULES.items():
        if not rule.holds(given[name]):
            raise InputError("bundles.not_allowed", where=where, name=name, allowed=rule.allowed)
    both = {name: tuple(given[name]) for name in ("incoming", "outgoing")}
    return Entry(**{**given, **both, "sqrt_s_gev": float(given["sqrt_s_gev"])})


def _are_checks(value: Any) -> bool:
    lists = value.values() if isinstance(value, dict) else [None]
    return all(isinstance(names, list) and all(map(TEXT.holds, names)) for names in lists)


TEXT = Rule("printable text", lambda v: isinstance(v, str) and v.isprintable() and len(v) <= 1000)
PARTICLES = Rule(
    "PDG numbers", lambda v: isinstance(v, list) and len(v) > 1 and all(type(n) is int for n in v)
)
RULES = {
    "process": TEXT,
    "incoming": PARTICLES,
    "outgoing": PARTICLES,
    "sqrt_s_gev": Rule("an energy above 0, in GeV", POSITIVE.holds),
    "order": TEXT,
    "file": Rule(
        "the plain name of a file, which ends in .nc",
        lambda v: isinstance(v, str) and PLAIN_NAME.fullmatch(v) is not None,
    ),
    "sha256": Rule(
        "64 hexadecimal digits", lambda v: isinstance(v, str) and SHA256.fullmatch(v) is not None
    ),
    "converged": TRUTH_OR_NONE,
    "failed_checks": Rule("lists of names by kind", _are_checks),
}
"""Rule of each field of an entry."""
