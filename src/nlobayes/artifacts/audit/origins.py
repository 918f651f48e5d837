"""Origins: the job and the inputs of each file of a project, and whether the inputs changed."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from nlobayes.artifacts.audit.folders import list_below
from nlobayes.artifacts.netcdf import open_artifact
from nlobayes.artifacts.places import RESULTS, is_result, name_of
from nlobayes.artifacts.records import read_record
from nlobayes.artifacts.seals import digest
from nlobayes.errors import InputError
from nlobayes.untyped import Document

RECORDS = f"{RESULTS}/records"


class Origin(NamedTuple):
    """The job that made a file, read from the file's attributes or from a record.

    `facts` holds all recorded values: code digest, specification, versions and so on.
    """

    verb: str
    inputs: dict[str, str]
    facts: Document
    recorded_in: str

    @property
    def place(self) -> Any:
        """Return the path that the attributes or the record contain; None if they have none."""
        return self.facts.get("place")


class Project:
    """The files of a project, named by their paths from its root as in records."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._digests: dict[str, str | None] = {}
        self._attributes: dict[str, Document] = {}

    def name(self, path: Path) -> str:
        """Return the name of a file in records."""
        return name_of(path, self.root)

    def due(self, path: Path) -> list[str]:
        """List the recorded outputs that are at or below a path, or whose record is."""
        here = self.name(path)
        return [
            name
            for name, origin in self._recorded.items()
            if any(PurePosixPath(each).is_relative_to(here) for each in (name, origin.recorded_in))
        ]

    def digest(self, name: str) -> str | None:
        """Return the SHA-256 of a file, computed once; None if there is no readable file."""
        if name not in self._digests:
            self._digests[name] = self._compute_digest(name)
        return self._digests[name]

    def is_file(self, name: str) -> bool:
        """Return whether a file of this name exists, readable or not."""
        try:
            return (self.root / name).is_file()
        except OSError:  # a name that no file can have
            return False

    def origin(self, name: str) -> Origin | None:
        """Find the origin of a file; None if neither attributes nor a record contain it.

        Raises InputError if an artifact has changed since it was written.
        """
        if name.endswith(".nc"):
            return self._from_attributes(name)
        if name.startswith(f"{RECORDS}/"):
            return _origin_of(read_record(self.root / name), name)
        return self._recorded.get(name)

    def recorded_digest(self, name: str) -> str | None:
        """Return the SHA-256 that a file had when it was made; None if no record has it."""
        origin = self._recorded.get(name)
        return None if origin is None else origin.facts["outputs"][name]

    def recorded_by(self, name: str) -> str | None:
        """Return the record with the digest of a file when it was made; None if there is none."""
        origin = self._recorded.get(name)
        return None if origin is None else origin.recorded_in

    def is_of_no_place(self, name: str) -> bool:
        """Return whether a result contains its origin but not its place."""
        origin = self._origin_if_readable(name) if is_result(name) else None
        return origin is not None and origin.recorded_in == name and origin.place is None

    def ancestors(self, names: Iterable[str]) -> Iterator[tuple[str, Origin | None]]:
        """Yield files and all files that they were made from, nearest first, each once.

        The search stops at files that are missing or have changed since they were written.
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
            read = open_artifact(self.root / name, only=())
            self._attributes[name], self._digests[name] = read.attrs, read.sha256
        facts = self._attributes[name]
        known = {"verb", "inputs", "code_digest", "spec"} <= facts.keys()
        return _origin_of(facts, name) if known else None

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
                origin = _origin_of(record, self.name(path))
            except InputError:
                continue
            found |= dict.fromkeys(record["outputs"], origin)
        return found


def _origin_of(facts: Document, recorded_in: str) -> Origin:
    verb, inputs = facts["verb"], facts["inputs"]
    if not (isinstance(verb, str) and isinstance(inputs, dict)):
        raise InputError("artifacts.no_origin", where=recorded_in, verb=verb)
    return Origin(verb, inputs, facts, recorded_in)
