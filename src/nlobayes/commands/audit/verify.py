"""Verify artifacts: their contents, their inputs, and the code that made them."""

import json
import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track

from nlobayes.artifacts.audit.file_damage import inspect
from nlobayes.artifacts.audit.folders import Listing, list_below
from nlobayes.artifacts.audit.origins import RECORDS, Origin, Project
from nlobayes.artifacts.places import is_result, remedy
from nlobayes.code_digest import code_digest
from nlobayes.errors import InputError, one_line
from nlobayes.study.read_jobs import SPECIFICATIONS, read_job

AGAIN = "run the workflow again"
UNREAD = "surrogate"
"""The kind of artifact that no job reads; only a record shows that one is missing."""
MOST_FILES = 20
"""Most files of the user that a chain of custody lists one by one."""
SHOWN = 80
"""Characters shown of a path that is too long."""


def verify(
    path: Annotated[Path, typer.Argument(help="An artifact, or a folder of them.")] = Path(
        "results"
    ),
    project: Annotated[Path, typer.Option(help="Root of the project.")] = Path(),
    other_code: Annotated[
        bool, typer.Option("--other-code", help="Accept what other code than this made.")
    ] = False,
) -> None:
    """Check every file, its inputs, and that none is missing; status 1 after a problem."""
    _check_path(path)
    files, listing = Project(project), list_below(path)
    requested = dict.fromkeys([*map(files.name, listing.files), *files.due(path)])
    if not requested and not listing.odd:
        raise InputError("commands.no_file_below", where="verify", path=path)
    names, count = _with_ancestors(files, requested), 0
    odd = ((files.name(odd_path), problem) for odd_path, problem in listing.odd.items())
    reported = (
        (name, problem)
        for name in _tracked(names)
        for problem in _problems(files, name, name in requested, other_code)
    )
    for name, problem in chain(reported, odd):
        typer.echo(one_line(f"{name}: {problem}"))
        count += 1
    for note in _notes(files, names, listing, other_code):
        typer.echo(one_line(f"note: {note}"), err=True)
    if path.is_file():
        _report_custody(files, files.name(path))
    typer.echo(f"{_count(len(names), 'file')} verified, {_count(count, 'problem')}")
    if count:
        sys.exit(1)


def _check_path(path: Path) -> None:
    try:
        exists = path.exists()
    except OSError as error:
        shown, reason = str(path)[:SHOWN], error.strerror
        raise InputError(
            "commands.unusable_path", where="verify", path=shown, reason=reason
        ) from None
    if not exists:
        raise InputError("commands.no_path", where="verify", path=path)


def _with_ancestors(files: Project, names: Iterable[str]) -> list[str]:
    """List the files, their ancestors and the records of both, each once."""
    found = dict.fromkeys(names)
    for name, origin in files.ancestors(names):
        found[name] = found[origin.recorded_in if origin else name] = None
    return [*found]


def _tracked(names: list[str]) -> Iterator[str]:
    console = Console(stderr=True)
    yield from track(names, "verify", console=console, disable=not console.file.isatty())


def _notes(files: Project, names: list[str], listing: Listing, other_code: bool) -> Iterator[str]:
    """Report files that were not verified, or not completely."""
    for path, reason in listing.hidden.items():
        yield f"{files.name(path)} {reason}"
    older = [name for name in names if files.is_of_no_place(name)] if other_code else []
    if older:
        yield (
            f"{_count(len(older), 'file')} of earlier code, {older[0]} among them, do not state "
            "their place: a swap would not be detected"
        )


def _report_custody(files: Project, name: str) -> None:
    """Print the chain of custody: each file with the command that made it and its inputs."""
    links = dict(files.ancestors([name]))
    given = [file for file, origin in links.items() if origin is None]
    hidden = given[1:-1] if len(given) > MOST_FILES else []
    for file in hidden:
        del links[file]
    for file, origin in links.items():
        typer.echo(one_line(f"{file} <- {_making(file, origin)}"))
    if hidden:
        typer.echo(f"and {len(hidden)} more given by the user")


def _making(name: str, origin: Origin | None) -> str:
    if origin is not None:
        return f"{origin.verb} of {_few([*origin.inputs]) or 'its settings alone'}"
    return "not known" if is_result(name) else "given by the user"


def _few(names: list[str]) -> str:
    if len(names) > MOST_FILES:
        return f"{names[0]} to {names[-1]}, {len(names)} files"
    return ", ".join(names)


def _count(number: int, what: str) -> str:
    return f"{number or 'no'} {what}{'s' * (number != 1)}"


def _problems(files: Project, name: str, by_name: bool, other_code: bool) -> Iterator[str]:
    """List the problems of a file; of a user's file, only whether it is missing or has changed."""
    if files.digest(name) is None:
        yield _absence(files, name)
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
        yield from _problems_of_origin(files, name, origin, other_code)
    elif ours and not damage:
        yield (
            f"no attribute and no record below {RECORDS} states what made it; move it away, or "
            "restore its record"
        )


def _absence(files: Project, name: str) -> str:
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


def _problems_of_origin(
    files: Project, name: str, origin: Origin, other_code: bool
) -> Iterator[str]:
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
        yield from _problems_of_place(files, name, origin)
    yield from _problems_of_spec(origin)


def _problems_of_place(files: Project, name: str, origin: Origin) -> Iterator[str]:
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


def _problems_of_spec(origin: Origin) -> Iterator[str]:
    job = SPECIFICATIONS[origin.verb]
    if job is not None:
        try:
            read_job(job, json.dumps(origin.facts["spec"]))
        except InputError as error:
            yield f"specification: {error}"
