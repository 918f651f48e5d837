"""Verify artifacts: their contents, their inputs, and the code that made them."""

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
        for problem in problems(files, name, name in requested, other_code)
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
    yield from track(names, "verify", console=console, disable=not console.is_terminal)


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
