"""Verify artifacts: what they hold, what they were made from, and by which code."""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track

from nlobayes import provenance
from nlobayes.artifacts.audit.inspection import inspect
from nlobayes.artifacts.audit.origins import RECORDS, Origin, Project
from nlobayes.errors import InputError
from nlobayes.study import jobs
from nlobayes.study.comparison import CompareJob
from nlobayes.study.values import Frozen

AGAIN = "run the workflow again"
MOST_FILES = 20
"""Given files that a chain of custody names each."""
SPECIFICATIONS: dict[str, type[Frozen] | None] = {
    "simulate": jobs.SimulateJob,
    "ingest": jobs.IngestJob,
    "prepare": jobs.PrepareJob,
    "pretrain": jobs.PretrainJob,
    "warmup": jobs.WarmupJob,
    "draw": jobs.DrawJob,
    "judge": jobs.JudgeJob,
    "assemble": jobs.DrawJob,
    "diagnose": jobs.DiagnoseJob,
    "thin": jobs.DrawJob,
    "propagate": jobs.PropagateJob,
    "evaluate": jobs.EvaluateJob,
    "tabulate": jobs.TabulateJob,
    "tabulate_classes": jobs.TabulateJob,
    "export": jobs.ExportJob,
    "reweight": jobs.ReweightJob,
    "condense": jobs.CondenseJob,
    "landscape": jobs.LandscapeJob,
    "prior_predictive": jobs.PriorPredictiveJob,
    "agree": None,
    "compare": CompareJob,
    "plot": None,
}
"""What each verb was told; None where its command line says it all."""


def verify(
    path: Annotated[Path, typer.Argument(help="An artifact, or a folder of them.")] = Path(
        "results"
    ),
    project: Annotated[Path, typer.Option(help="Root of the project.")] = Path(),
    other_code: Annotated[
        bool, typer.Option("--other-code", help="Accept what other code than this made.")
    ] = False,
) -> None:
    """Check every file and all that it was made of, back to the table; status 1 if one fails."""
    if not path.exists():
        raise InputError(f"verify: there is no {path}; give an artifact or a folder of them")
    files = Project(project)
    asked = dict.fromkeys(files.files(path))
    if not asked:
        raise InputError(f"verify: {path} holds no file; run the workflow first")
    names, found = _with_ancestors(files, asked), 0
    for name in _tracked(names):
        for problem in _problems(files, name, name in asked, other_code):
            typer.echo(f"{name}: {problem}")
            found += 1
    for name in files.left_behind(path):
        typer.echo(f"note: {name} was left behind by a killed writer; it can be deleted", err=True)
    if path.is_file():
        typer.echo(_custody(files, *asked))
    typer.echo(f"{_count(len(names), 'file')} verified, {_count(found, 'problem')}")
    if found:
        sys.exit(1)


def _with_ancestors(files: Project, names: Iterable[str]) -> list[str]:
    """List files, all that they were made of, and the records that tell it, each once."""
    found = dict.fromkeys(names)
    for name, origin in files.ancestors(names):
        found[name] = found[origin.told_by if origin else name] = None
    return [*found]


def _tracked(names: list[str]) -> Iterator[str]:
    console = Console(stderr=True)
    yield from track(names, "verify", console=console, disable=not console.is_terminal)


def _problems(files: Project, name: str, asked: bool, other_code: bool) -> Iterator[str]:
    if files.digest(name) is None:
        yield f"is missing, though others were made from it; restore it, or {AGAIN}"
        return
    ours = asked or name.startswith("results/")
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
        yield f"no attribute and no record below {RECORDS} says what made it; {AGAIN}"


def _problems_of_origin(
    files: Project, name: str, origin: Origin, other_code: bool
) -> Iterator[str]:
    recorded = files.recorded_digest(name)
    if recorded not in (None, files.digest(name)):
        yield f"has changed since {files.recorded_by(name)} recorded it; restore it, or {AGAIN}"
    if name != origin.told_by:
        return  # what follows is said of the record, once
    for source, made_from in origin.inputs.items():
        if files.digest(source) not in (None, made_from):
            yield f"was made from another {source} than the present one; {AGAIN}"
    if origin.verb not in SPECIFICATIONS:
        yield f"verb {origin.verb!r} is none of {', '.join(SPECIFICATIONS)}"
        return
    installed = provenance.code_digest(origin.verb)
    if origin.facts["code_digest"] != installed and not other_code:
        yield (
            f"was made by other code of `{origin.verb}` ({origin.facts['code_digest']}) than is "
            f"installed ({installed}); {AGAIN}, or check out the commit that made it"
        )
    yield from _problems_of_spec(origin)


def _problems_of_spec(origin: Origin) -> Iterator[str]:
    job = SPECIFICATIONS[origin.verb]
    if job is not None:
        try:
            jobs.read_job(job, json.dumps(origin.facts["spec"]))
        except InputError as error:
            yield f"specification: {error}"


def _custody(files: Project, name: str) -> str:
    """Draw the chain of custody: each file, what made it, and what that read."""
    chain = dict(files.ancestors([name]))
    given = [one for one, origin in chain.items() if origin is None]
    hidden = given[1:-1] if len(given) > MOST_FILES else []
    for one in hidden:
        del chain[one]
    lines = [f"{one} <- {_making(one, origin)}" for one, origin in chain.items()]
    if hidden:
        lines.append(f"and {len(hidden)} more given by the user")
    return "\n".join(lines)


def _making(name: str, origin: Origin | None) -> str:
    if origin is not None:
        return f"{origin.verb} of {_few([*origin.inputs]) or 'its settings alone'}"
    return "not known" if name.startswith("results/") else "given by the user"


def _few(names: list[str]) -> str:
    if len(names) > MOST_FILES:
        return f"{names[0]} to {names[-1]}, {len(names)} files"
    return ", ".join(names)


def _count(number: int, what: str) -> str:
    return f"{number or 'no'} {what}{'s' * (number != 1)}"
