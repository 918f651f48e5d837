"""The index of a bundle, `bundle.json`: the surrogates in its folder and their processes.

An entry is known by its name, which is that of the grid or table behind the surrogate if it states
one. Several entries may have one process and energy: of different orders, sources or pure states.
The index has all that decides which of them apply to a spectrum, so that few files are opened.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from nlobayes.artifacts.files import read_json
from nlobayes.bundles import shared_rows
from nlobayes.bundles.shared_rows import SharedRows, read_rows
from nlobayes.data.slha import key_of
from nlobayes.data.statements import NAMES, UNKNOWN, read_order
from nlobayes.errors import InputError
from nlobayes.surrogate.cross_section import central
from nlobayes.surrogate.facts import POSITIVE, TRUTH_OR_NONE, Rule
from nlobayes.surrogate.identity import LONGEST_LIST
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.untyped import Document

INDEX = "bundle.json"
ENDING = ".nc"
"""Ending of surrogate files."""
VERSION = 2
NAMED = "nlobayes_bundle"
SHARED = "shared_rows"
PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,199}")
SHA256 = re.compile(r"[0-9a-f]{64}")
MOST = 10_000
"""Largest number of surrogates of a bundle."""

Key = tuple[tuple[int, ...], float]
"""Produced particles as ordered PDG numbers, and the energy in GeV."""


class Entry(NamedTuple):
    """A surrogate of a bundle: its name, process, energy in GeV, inputs, and failed checks.

    `inclusive` states which processes are added, and is empty if the cross section is of one.
    `doubt` states why its numbers are doubtful, and is empty if nothing is known.
    `fixed` states the fixed parameters, as in the surrogate's `origin`.
    """

    name: str
    process: str
    incoming: tuple[int, ...]
    outgoing: tuple[int, ...]
    sqrt_s_gev: float
    order: str
    inclusive: str
    doubt: str
    inputs: tuple[str, ...]
    fixed: str
    sha256: str
    converged: bool | None
    failed_checks: dict[str, list[str]]

    @property
    def file(self) -> str:
        """Name of its file."""
        return f"{self.name}{ENDING}"

    @property
    def qcd_order(self) -> int:
        """Number of its QCD order in blocks XSECTION; -1 if it is not known."""
        number = read_order(self.order)
        return -1 if number is None else number

    @property
    def key(self) -> Key:
        """Produced particles and energy."""
        return key_of(self.outgoing), self.sqrt_s_gev

    @property
    def place(self) -> tuple[object, ...]:
        """Key by which entries are sorted: energy, particles, name."""
        return self.sqrt_s_gev, *place_of(key_of(self.outgoing)), self.name


def words_of(pair: Iterable[int]) -> str:
    """Name the particles of a pair, as `chi0_1 chi+_1`."""
    return " ".join(NAMES.get(number, str(number)) for number in pair)


def place_of(pair: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the key by which processes are sorted: particles, then charges."""
    return tuple(map(abs, pair)), pair


def entry_of(surrogate: Surrogate) -> Entry:
    """Make the entry of a surrogate, whose target must be a central cross section.

    Raises InputError if it is not, or if the stated name cannot be that of a file.
    """
    process, stated = central(surrogate), surrogate.origin
    outgoing, unstated = key_of(process.outgoing), {"", UNKNOWN}
    name = stated.get("name", "")
    if name in unstated:
        name = f"{process.sqrt_s_gev:g}GeV_{'_'.join(map(str, outgoing))}"
    if not RULES["name"].holds(name):
        raise InputError("bundles.no_name", name=name)
    inclusive, doubt = stated.get("inclusive", ""), stated.get("doubt", "")
    return Entry(
        name=name,
        process=stated["process"],
        incoming=process.incoming,
        outgoing=outgoing,
        sqrt_s_gev=process.sqrt_s_gev,
        order=stated["order"],
        inclusive="" if inclusive in unstated else inclusive,
        doubt="" if doubt in unstated else doubt,
        inputs=surrogate.inputs,
        fixed=stated["fixed"],
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
    version = content[NAMED]
    if version != VERSION:
        raise InputError("bundles.version", where=path, received=version, allowed=VERSION)
    listed = content["surrogates"]
    if not isinstance(listed, list) or not 0 < len(listed) <= MOST:
        raise InputError("bundles.no_list", where=path, most=MOST)
    entries = tuple(_entry(given, f"{path}: surrogate {n}") for n, given in enumerate(listed, 1))
    for name, count in Counter(entry.name for entry in entries).items():
        if count > 1:
            raise InputError("bundles.index_twice", where=path, value=name)
    files = [entry.file for entry in entries]
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
    listed = {name: tuple(given[name]) for name in ("incoming", "outgoing", "inputs")}
    return Entry(**{**given, **listed, "sqrt_s_gev": float(given["sqrt_s_gev"])})


def _are_checks(value: Any) -> bool:
    lists = value.values() if isinstance(value, dict) else [None]
    return all(isinstance(names, list) and all(map(TEXT.holds, names)) for names in lists)


TEXT = Rule("printable text", lambda v: isinstance(v, str) and v.isprintable() and len(v) <= 1000)
PARTICLES = Rule(
    "PDG numbers", lambda v: isinstance(v, list) and len(v) > 1 and all(type(n) is int for n in v)
)
RULES = {
    "name": Rule(
        "a plain name of at most 200 letters, digits and . _ + -",
        lambda v: isinstance(v, str) and PLAIN_NAME.fullmatch(v) is not None,
    ),
    "process": TEXT,
    "incoming": PARTICLES,
    "outgoing": PARTICLES,
    "sqrt_s_gev": Rule("an energy above 0, in GeV", POSITIVE.holds),
    "order": TEXT,
    "inclusive": TEXT,
    "doubt": TEXT,
    "inputs": Rule(
        "a list of names",
        lambda v: isinstance(v, list) and len(v) > 0 and all(map(TEXT.holds, v)),
    ),
    "fixed": Rule(
        "printable text",
        lambda v: isinstance(v, str) and v.isprintable() and len(v) <= LONGEST_LIST,
    ),
    "sha256": Rule(
        "64 hexadecimal digits", lambda v: isinstance(v, str) and SHA256.fullmatch(v) is not None
    ),
    "converged": TRUTH_OR_NONE,
    "failed_checks": Rule("lists of names by kind", _are_checks),
}
"""Rule of each field of an entry."""
