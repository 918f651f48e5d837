"""Verify artifacts: what they hold, what they were made from, and by which code."""

import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track

from nlobayes.artifacts.audit.folders import Listing, list_below
from nlobayes.artifacts.audit.origins import Origin, Project
from nlobayes.artifacts.places import is_result
from nlobayes.commands.shared.problems import problems
from nlobayes.errors import InputError, one_line

MOST_FILES = 20
"""Given files that a chain of custody names each."""
SHOWN = 80
"""Characters of a path that is too long."""


def verify(
    path: Annotated[Path, typer.Argument(help="An artifact, or a folder of them.")] = Path(
        "results"
    ),
    project: Annotated[Path, typer.Option(help="Root of the project.")] = Path(),
    other_code: Annotated[
        bool, typer.Option("--other-code", help="Accept what other code than this made.")
    ] = False,
) -> None:
    """Check every file, all that it was made of, and that all is there; status 1 if not."""
    _check_path(path)
    files, listing = Project(project), list_below(path)
    asked = dict.fromkeys([*map(files.name, listing.files), *files.due(path)])
    if not asked and not listing.odd:
        raise InputError("commands.no_file_below", where="verify", path=path)
    names, found = _with_ancestors(files, asked), 0
    odd = ((files.name(one), said) for one, said in listing.odd.items())
    told = (
        (name, said)
        for name in _tracked(names)
        for said in problems(files, name, name in asked, other_code)
    )
    for name, said in chain(told, odd):
        typer.echo(one_line(f"{name}: {said}"))
        found += 1
    for note in _notes(files, names, listing, other_code):
        typer.echo(one_line(f"note: {note}"), err=True)
    if path.is_file():
        _report_custody(files, files.name(path))
    typer.echo(f"{_count(len(names), 'file')} verified, {_count(found, 'problem')}")
    if found:
        sys.exit(1)


def _check_path(path: Path) -> None:
    try:
        there = path.exists()
    except OSError as error:
        shown, reason = str(path)[:SHOWN], error.strerror
        raise InputError(
            "commands.unusable_path", where="verify", path=shown, reason=reason
        ) from None
    if not there:
        raise InputError("commands.no_path", where="verify", path=path)


def _with_ancestors(files: Project, names: Iterable[str]) -> list[str]:
    """List files, their inputs and the records of both, each once."""
    found = dict.fromkeys(names)
    for name, origin in files.ancestors(names):
        found[name] = found[origin.recorded_in if origin else name] = None
    return [*found]


def _tracked(names: list[str]) -> Iterator[str]:
    console = Console(stderr=True)
    yield from track(names, "verify", console=console, disable=not console.is_terminal)


def _notes(files: Project, names: list[str], listing: Listing, other_code: bool) -> Iterator[str]:
    """List what was not verified."""
    for path, said in listing.hidden.items():
        yield f"{files.name(path)} {said}"
    older = [name for name in names if files.is_of_no_place(name)] if other_code else []
    if older:
        yield (
            f"{_count(len(older), 'file')} of earlier code, {older[0]} among them, do not state "
            "their place: a swap would not be detected"
        )


def _report_custody(files: Project, name: str) -> None:
    """Draw the chain of custody: each file, what made it, and what that read."""
    links = dict(files.ancestors([name]))
    given = [one for one, origin in links.items() if origin is None]
    hidden = given[1:-1] if len(given) > MOST_FILES else []
    for one in hidden:
        del links[one]
    for one, origin in links.items():
        typer.echo(one_line(f"{one} <- {_making(one, origin)}"))
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
