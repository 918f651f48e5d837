"""Origins: what made each file of a project, from what, and whether these are still the same."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from nlobayes.artifacts.audit.folders import list_below
from nlobayes.artifacts.netcdf import read_attrs
from nlobayes.artifacts.places import RESULTS, is_result, name_of
from nlobayes.artifacts.records import read_record
from nlobayes.artifacts.seals import digest
from nlobayes.errors import InputError

RECORDS = f"{RESULTS}/records"


class Origin(NamedTuple):
    """What made a file, from its own attributes or from a record.

    `facts` holds what was recorded: code digest, specification, versions and so on.
    """

    verb: str
    inputs: dict[str, str]
    facts: dict[str, Any]
    recorded_in: str

    @property
    def place(self) -> Any:
        """Give the path that the attributes or the record state; None where they state none."""
        return self.facts.get("place")


class Project:
    """The files of a project by their paths from its root, as records name them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._digests: dict[str, str | None] = {}
        self._attributes: dict[str, dict[str, Any]] = {}

    def name(self, path: Path) -> str:
        """Name a file as records do."""
        return name_of(path, self.root)

    def due(self, path: Path) -> list[str]:
        """List what was made according to records, where it or its record lies at or below here."""
        here = self.name(path)
        return [
            name
            for name, origin in self._recorded.items()
            if any(PurePosixPath(one).is_relative_to(here) for one in (name, origin.recorded_in))
        ]

    def digest(self, name: str) -> str | None:
        """Give the SHA-256 of a file, once computed; None where there is none to be read."""
        if name not in self._digests:
            self._digests[name] = self._compute_digest(name)
        return self._digests[name]

    def is_file(self, name: str) -> bool:
        """Return whether there is a file of this name, readable or not."""
        try:
            return (self.root / name).is_file()
        except OSError:  # a name that no file can have
            return False

    def origin(self, name: str) -> Origin | None:
        """Find what made a file; None if neither attributes nor a record state it.

        Raises
        ------
        InputError
            If an artifact is not what was written.
        """
        if name.endswith(".nc"):
            return self._from_attributes(name)
        if name.startswith(f"{RECORDS}/"):
            return _told(read_record(self.root / name), name)
        return self._recorded.get(name)

    def recorded_digest(self, name: str) -> str | None:
        """Give the SHA-256 that a file had when it was made; None where no record has it."""
        origin = self._recorded.get(name)
        return None if origin is None else origin.facts["outputs"][name]

    def recorded_by(self, name: str) -> str | None:
        """Name the record with the digest of a file as it was made; None where none has it."""
        origin = self._recorded.get(name)
        return None if origin is None else origin.recorded_in

    def is_of_no_place(self, name: str) -> bool:
        """Return whether a result states what made it but not its place."""
        origin = self._origin_if_readable(name) if is_result(name) else None
        return origin is not None and origin.recorded_in == name and origin.place is None

    def ancestors(self, names: Iterable[str]) -> Iterator[tuple[str, Origin | None]]:
        """Walk from files to all that they were made of, nearest first, each once.

        Files that are not there, or are no longer what was written, end the walk.
        """
        waiting = deque(names)
        seen = set(waiting)
        while waiting:
            current = waiting.popleft()
            origin = self._origin_if_readable(current)
            yield current, origin
            for other in origin.inputs if origin else ():
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)

    def _from_attributes(self, name: str) -> Origin | None:
        if name not in self._attributes:
            self._attributes[name] = read_attrs(self.root / name)
        facts = self._attributes[name]
        known = {"verb", "inputs", "code_digest", "spec"} <= facts.keys()
        return _told(facts, name) if known else None

    def _origin_if_readable(self, name: str) -> Origin | None:
        try:
            return self.origin(name) if self.is_file(name) else None
        except InputError:
            return None

    def _compute_digest(self, name: str) -> str | None:
        try:
            return digest(self.root / name) if self.is_file(name) else None
        except InputError:
            return None

    @cached_property
    def _recorded(self) -> dict[str, Origin]:
        found: dict[str, Origin] = {}
        for path in list_below(self.root / RECORDS).files:
            try:
                record = read_record(path)
                origin = _told(record, self.name(path))
            except InputError:
                continue
            found |= dict.fromkeys(record["outputs"], origin)
        return found


def _told(facts: dict[str, Any], by: str) -> Origin:
    verb, inputs = facts["verb"], facts["inputs"]
    if not (isinstance(verb, str) and isinstance(inputs, dict)):
        raise InputError("artifacts.no_origin", where=by, verb=verb)
    return Origin(verb, inputs, facts, by)
