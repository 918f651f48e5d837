"""Problems of a file of a project: of its contents, its place and its origin."""

from __future__ import annotations

import json
from collections.abc import Iterator

from nlobayes.artifacts.audit.file_damage import inspect
from nlobayes.artifacts.audit.origins import RECORDS, Origin, Project
from nlobayes.artifacts.places import is_result, remedy
from nlobayes.code_digest import code_digest
from nlobayes.errors import InputError
from nlobayes.study import jobs
from nlobayes.study.stage_jobs import SPECIFICATIONS

AGAIN = "run the workflow again"
UNREAD = "surrogate"
"""The kind of artifact that no job reads; only a record shows that one is missing."""


def problems(files: Project, name: str, by_name: bool, other_code: bool) -> Iterator[str]:
    """List the problems of a file; of a user's file, only whether it is missing or has changed."""
    if files.digest(name) is None:
        yield _of_absence(files, name)
        return
    ours = by_name or is_result(name)
    damage = inspect(files.root / name) if ours else []
    yield from damage
    try:
        origin = files.origin(name)
    except InputError as error:
        if not damage:
            yield str(error).removeprefix(f"{name}: ")
        return
    if origin is not None:
        yield from _of_origin(files, name, origin, other_code)
    elif ours and not damage:
        yield (
            f"no attribute and no record below {RECORDS} states what made it; move it away, or "
            "restore its record"
        )


def _of_absence(files: Project, name: str) -> str:
    if files.is_file(name):
        return "cannot be read; check the rights to it, and the disk"
    recorder = files.recorded_by(name)
    evidence = f"{recorder} states that it was made" if recorder else "others were made from it"
    if not is_result(name):
        return f"is missing, though {evidence}; put it back"
    return (
        f"is missing, though {evidence}; `dvc checkout --force {name}` restores it, "
        f"`snakemake {name}` makes it again"
    )


def _of_origin(files: Project, name: str, origin: Origin, other_code: bool) -> Iterator[str]:
    recorded = files.recorded_digest(name)
    if recorded not in (None, files.digest(name)):
        recorder = files.recorded_by(name)
        yield f"has changed since {recorder} recorded it; {remedy(files.root / name)}"
    if name != origin.recorded_in:
        return  # further problems are those of the record, which are reported once
    for source, made_from in origin.inputs.items():
        if files.digest(source) not in (None, made_from):
            yield f"was made from another {source} than the present one; {AGAIN}"
    if origin.verb not in SPECIFICATIONS:
        yield f"verb {origin.verb!r} is none of {', '.join(SPECIFICATIONS)}"
        return
    installed = code_digest(origin.verb, origin.facts["spec"] or {})
    ours = origin.facts["code_digest"] == installed
    if not (ours or other_code):
        yield (
            f"was made by other code of `{origin.verb}` ({origin.facts['code_digest']}) than is "
            f"installed ({installed}); {AGAIN}, or check out the commit that made it"
        )
    if is_result(name) and (ours or origin.place is not None):
        yield from _of_place(files, name, origin)
    yield from _of_spec(origin)


def _of_place(files: Project, name: str, origin: Origin) -> Iterator[str]:
    """Check the stated place of a result; earlier code stated none and recorded no surrogate."""
    if origin.place is None:
        yield "states no place below results/; move it away"
    elif origin.place != name:
        yield (
            f"states the place {origin.place}; put it back, or delete it; `dvc checkout "
            f"--force {name}` brings back what was recorded here"
        )
    elif origin.facts.get("kind") == UNREAD and files.recorded_by(name) is None:
        yield (
            f"no record below {RECORDS} states that it was made; restore its record, or delete it "
            f"and call `snakemake {name}`"
        )


def _of_spec(origin: Origin) -> Iterator[str]:
    job = SPECIFICATIONS[origin.verb]
    if job is not None:
        try:
            jobs.read_job(job, json.dumps(origin.facts["spec"]))
        except InputError as error:
            yield f"specification: {error}"
