"""Record in dvc.lock the results of direct calls of Snakemake, so that a clone finds them."""

import csv
import os
import subprocess
import sys
from base64 import urlsafe_b64decode
from collections.abc import Iterable, Sequence
from pathlib import Path

import typer

from nlobayes.artifacts.files import read_json
from nlobayes.errors import InputError

PLACE = ("Snakefile", "dvc.yaml", ".dvc")
INPUTS = ("Snakefile", "workflow", "src", "config", "dvc.yaml", "uv.lock")
METADATA = Path(".snakemake/metadata")
LOCK = Path("dvc.lock")
LAST_LINES = 5
"""Lines of the output of a program that are shown when it fails."""
TO_SHARE = (
    "`dvc push` sends them to your remote, which `dvc remote add --default NAME PATH_OR_URL` "
    "names once"
)


def record() -> None:
    """Let DVC record the results, if they are up to date and a clone can restore them.

    DVC calls Snakemake, for which nothing is left to run, as checked before. Then DVC stores the
    results.
    """
    _check_place()
    _check_nothing_runs()
    made = _read_metadata()
    _check_inputs(sorted(set().union(*made.values()) - made.keys()))
    _check_graph()
    _check_results(made)
    before = LOCK.read_bytes() if LOCK.exists() else None
    _run("dvc", "repro")
    if LOCK.read_bytes() == before:
        typer.echo(f"dvc.lock holds these results already; {TO_SHARE}")
    else:
        typer.echo(
            "dvc.lock holds these results now; next: "
            f"`git add dvc.lock && git commit -m Results`; {TO_SHARE}"
        )


def _check_place() -> None:
    missing = [name for name in PLACE if not Path(name).exists()]
    if missing:
        raise InputError("commands.no_project", where="record", folder=Path.cwd(), missing=missing)


def _check_nothing_runs() -> None:
    if [*Path(".snakemake/locks").glob("*.lock")]:
        raise InputError("commands.workflow_runs", where="record")


def _read_metadata() -> dict[str, set[str]]:
    """Read Snakemake's records: every file that it made, with the inputs of that file.

    The file name of a record is the encoded path; a long one is split into folders that begin
    with @.
    """
    made = {}
    for path in (path for path in METADATA.rglob("*") if path.is_file()):
        encoded = "".join(part.removeprefix("@") for part in path.relative_to(METADATA).parts)
        made[urlsafe_b64decode(encoded).decode()] = {*read_json(path, "input")["input"]}
    return made


def _check_inputs(tables: Sequence[str]) -> None:
    """Check that all inputs of the results are committed to Git, tables of the user included."""
    kept = [_kept_by_git(Path(table)) for table in tables]
    lost = [*_changed(*INPUTS), *(_changed("--ignored", *kept) if kept else [])]
    if lost:
        raise InputError("commands.not_committed", where="record", files=sorted(lost))


def _changed(*words: str) -> list[str]:
    status = _run("git", "status", "--porcelain", "--untracked-files=all", *words)
    return [line[3:] for line in status.splitlines()]


def _kept_by_git(table: Path) -> str:
    """Return the table, or the `.dvc` file in Git if DVC stores the table or its folder."""
    dvc_files = (f"{part}.dvc" for part in (table, *table.parents))
    return next((name for name in dvc_files if Path(name).is_file()), str(table))


def _check_graph() -> None:
    """Check that Snakemake would run no job, and that no intermediate file was removed."""
    output = _run("snakemake", "--summary")
    table = output[output.index("output_file\t") :].splitlines()
    files = [*csv.DictReader(table, delimiter="\t")]
    waiting = dict.fromkeys(file["rule"] for file in files if file["plan"] == "update pending")
    if waiting:
        raise InputError("commands.not_up_to_date", where="record", rules=[*waiting])
    missing = [file["output_file"] for file in files if file["status"] == "missing"]
    if missing:
        raise InputError("commands.removed", where="record", files=sorted(missing))


def _check_results(made: Iterable[str]) -> None:
    present = {path.as_posix() for path in Path("results").rglob("[!.]*") if path.is_file()}
    unknown = present.difference(made)
    if unknown:
        raise InputError("commands.not_of_workflow", where="record", files=sorted(unknown))


def _run(*words: str) -> str:
    """Run a program and return its standard output; a program beside our Python comes first."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    try:
        done = subprocess.run(
            words, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=True
        )
    except OSError as error:
        raise InputError(
            "commands.no_program", where="record", program=words[0], reason=str(error)
        ) from None
    except subprocess.CalledProcessError as error:
        last_lines = (error.stderr or error.stdout).strip().splitlines()[-LAST_LINES:]
        raise InputError(
            "commands.program_failed",
            where="record",
            command=" ".join(words),
            reason=" ".join(last_lines),
        ) from None
    return done.stdout
