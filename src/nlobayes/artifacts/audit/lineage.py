"""Lineage: the files of a project and the jobs that made them, as one graph.

It contains no date, host or user, and every identifier is a hash of content. Equal projects
therefore have equal lineages.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from nlobayes.artifacts.audit.origins import RECORDS, Origin, Project
from nlobayes.untyped import Document

KINDS = {
    ".parquet": "table",
    ".csv": "table",
    ".gz": "table",
    ".md": "text",
    ".svg": "figure",
    ".png": "figure",
    ".json": "values",
}
OF_A_JOB = ("code_digest", "lock_digest", "spec", "inputs", "versions", "chain", "chains")
"""Facts that distinguish two jobs of a verb; they determine all others."""


class File(NamedTuple):
    """One version of a file; `size` is None if the file is missing or has changed since."""

    path: str
    sha256: str
    kind: str
    size: int | None

    @property
    def id(self) -> str:
        """Identify the file by its path and its content."""
        return _identify([self.path, self.sha256])


class Software(NamedTuple):
    """The lock file and the versions with which a job ran."""

    lock_digest: str | None
    versions: dict[str, str]

    @property
    def id(self) -> str:
        """Identify the environment."""
        return _identify(self._asdict())


class Job(NamedTuple):
    """One call of a verb: its recorded facts, its inputs and its outputs."""

    verb: str
    facts: Document
    used: list[File]
    made: list[File]

    @property
    def id(self) -> str:
        """Identify the job by the facts that determine its results."""
        return _identify([self.verb, {name: self.facts.get(name) for name in OF_A_JOB}])

    @property
    def software(self) -> Software:
        """Return the versions and the lock file with which the job ran."""
        versions = self.facts.get("versions")
        known = versions.items() if isinstance(versions, dict) else ()
        in_order = {name: in_a_line(version) for name, version in sorted(known)}
        return Software(self.facts.get("lock_digest"), in_order)

    @property
    def settings(self) -> dict[str, str]:
        """Return the settings of the job and of its machine, each as one line."""
        known = ("code_digest", "device", "precision", "exact", "chain", "chains", "spec")
        return {name: in_a_line(self.facts[name]) for name in known if name in self.facts}


class Lineage(NamedTuple):
    """Files ordered by path and digest, and jobs ordered by verb and identifier."""

    files: list[File]
    jobs: list[Job]


def trace(project: Project, names: Iterable[str]) -> Lineage:
    """Trace files, the records that describe them, and all files that they were made from."""
    origins = _with_records(project, names)
    kinds = {name: kind_of(name, origin) for name, origin in origins.items()}
    files: dict[str, File] = {}
    jobs: dict[str, Job] = {}

    def version(name: str, sha256: str) -> File:
        present = project.digest(name) == sha256
        size = (project.root / name).stat().st_size if present else None
        file = File(name, sha256, kinds[name], size)
        return files.setdefault(file.id, file)

    for name, origin in origins.items():
        present = project.digest(name)
        if present is not None:
            version(name, present)
        made = _digest_when_made(project, name, origin)
        if origin is not None and made is not None:
            used = [version(path, str(sha256)) for path, sha256 in sorted(origin.inputs.items())]
            job = Job(origin.verb, origin.facts, used, [])
            jobs.setdefault(job.id, job).made.append(version(name, made))
    for job in jobs.values():
        job.made.sort(key=lambda file: file[:2])
    in_order = sorted(jobs.values(), key=lambda job: (job.verb, job.id))
    return Lineage(sorted(files.values(), key=lambda file: file[:2]), in_order)


def in_a_line(value: Any) -> str:
    """Write a value on one line: text unchanged, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def kind_of(name: str, origin: Origin | None) -> str:
    """Return the kind of a file, which an artifact stores and the ending of other files gives."""
    if name.startswith(f"{RECORDS}/"):
        return "record"
    if name.endswith(".nc"):
        return str(origin.facts.get("kind", "netcdf")) if origin else "netcdf"
    return KINDS.get(name[name.rfind(".") :], "file")


def _with_records(project: Project, names: Iterable[str]) -> dict[str, Origin | None]:
    found: dict[str, Origin | None] = {}
    for name, origin in project.ancestors(names):
        found[name] = origin
        if origin is not None:
            found.setdefault(origin.recorded_in, origin)
    return found


def _digest_when_made(project: Project, name: str, origin: Origin | None) -> str | None:
    in_itself = origin is not None and origin.recorded_in == name
    return project.digest(name) if in_itself else project.recorded_digest(name)


def _identify(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]
