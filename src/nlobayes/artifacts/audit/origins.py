"""Origins: what made each file of a project, from what, and whether these are still the same."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from nlobayes.artifacts.netcdf import read_attrs
from nlobayes.artifacts.records import read_record
from nlobayes.artifacts.seals import digest
from nlobayes.errors import InputError

RECORDS = "results/records"


class Origin(NamedTuple):
    """What made a file: told by its own attributes, or by a record.

    `facts` holds what was recorded: code digest, specification, versions and so on.
    """

    verb: str
    inputs: dict[str, str]
    facts: dict[str, Any]
    told_by: str


class Project:
    """The files of a project by their paths from its root, as records name them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._digests: dict[str, str | None] = {}
        self._attributes: dict[str, dict[str, Any]] = {}

    def files(self, below: Path) -> list[str]:
        """List the visible files below a folder, or a file itself."""
        found = [below] if below.is_file() else sorted(below.rglob("*"))
        return [self.name(path) for path in found if path.is_file() and not _hidden(path, below)]

    def left_behind(self, below: Path) -> list[str]:
        """List the hidden files below a folder: what killed writers left."""
        found = sorted(below.rglob(".*")) if below.is_dir() else []
        return [self.name(p) for p in found if p.is_file() and p.name != ".gitignore"]

    def name(self, path: Path) -> str:
        """Name a file as records do."""
        path, root = path.absolute(), self.root.absolute()
        return (path.relative_to(root) if path.is_relative_to(root) else path).as_posix()

    def digest(self, name: str) -> str | None:
        """Give the SHA-256 of a file, once computed; None where there is none."""
        if name not in self._digests:
            path = self.root / name
            self._digests[name] = digest(path) if path.is_file() else None
        return self._digests[name]

    def origin(self, name: str) -> Origin | None:
        """Find what made a file; None where nothing says it.

        Raises
        ------
        InputError
            If an artifact is not what was written.
        """
        if name.endswith(".nc"):
            return self._told_by_attributes(name)
        if name.startswith(f"{RECORDS}/"):
            return _told(read_record(self.root / name), name)
        return self._recorded.get(name)

    def recorded_digest(self, name: str) -> str | None:
        """Give the SHA-256 that a file had when it was made; None where no record has it."""
        origin = self._recorded.get(name)
        return None if origin is None else origin.facts["outputs"][name]

    def recorded_by(self, name: str) -> str | None:
        """Name the record that tells what a file was when it was made; None where none does."""
        origin = self._recorded.get(name)
        return None if origin is None else origin.told_by

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

    def _told_by_attributes(self, name: str) -> Origin | None:
        if name not in self._attributes:
            self._attributes[name] = read_attrs(self.root / name)
        facts = self._attributes[name]
        known = {"verb", "inputs", "code_digest", "spec"} <= facts.keys()
        return _told(facts, name) if known else None

    def _origin_if_readable(self, name: str) -> Origin | None:
        try:
            return self.origin(name) if (self.root / name).is_file() else None
        except InputError:
            return None

    @cached_property
    def _recorded(self) -> dict[str, Origin]:
        found: dict[str, Origin] = {}
        for path in sorted((self.root / RECORDS).rglob("*.json")):
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
        raise InputError(f"{by}: verb {verb!r} and inputs must be a name and a mapping of paths")
    return Origin(verb, inputs, facts, by)


def _hidden(path: Path, below: Path) -> bool:
    inside = path.relative_to(below) if path != below else Path(path.name)
    return any(part.startswith(".") for part in inside.parts)
