"""Record in dvc.lock what Snakemake made when it was called directly, so that a clone finds it."""

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
    """Let DVC record the results, unless a clone could not find them again, up to date.

    DVC calls Snakemake, which has nothing to do, as was checked, and stores what is there.
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
    """Read what Snakemake remembers: every file that it made, and what from.

    The name of a record is encoded; a long one is cut into folders that begin with @.
    """
    made = {}
    for path in (path for path in METADATA.rglob("*") if path.is_file()):
        encoded = "".join(part.removeprefix("@") for part in path.relative_to(METADATA).parts)
        made[urlsafe_b64decode(encoded).decode()] = {*read_json(path, "input")["input"]}
    return made


def _check_inputs(tables: Sequence[str]) -> None:
    """Check that Git holds what the results come from: tables of the user, too."""
    kept = [_kept_by_git(Path(table)) for table in tables]
    lost = [*_changed(*INPUTS), *(_changed("--ignored", *kept) if kept else [])]
    if lost:
        raise InputError("commands.not_committed", where="record", files=sorted(lost))


def _changed(*words: str) -> list[str]:
    status = _run("git", "status", "--porcelain", "--untracked-files=all", *words)
    return [line[3:] for line in status.splitlines()]


def _kept_by_git(table: Path) -> str:
    """Name the table, or its `.dvc` file in Git where DVC stores it or its folder."""
    stand_ins = (f"{part}.dvc" for part in (table, *table.parents))
    return next((name for name in stand_ins if Path(name).is_file()), str(table))


def _check_graph() -> None:
    """Check that Snakemake would run nothing, and that no file between was removed."""
    printed = _run("snakemake", "--summary")
    table = printed[printed.index("output_file\t") :].splitlines()
    files = [*csv.DictReader(table, delimiter="\t")]
    waiting = dict.fromkeys(file["rule"] for file in files if file["plan"] == "update pending")
    if waiting:
        raise InputError("commands.not_up_to_date", where="record", rules=[*waiting])
    missing = [file["output_file"] for file in files if file["status"] == "missing"]
    if missing:
        raise InputError("commands.removed", where="record", files=sorted(missing))


def _check_results(made: Iterable[str]) -> None:
    there = {path.as_posix() for path in Path("results").rglob("[!.]*") if path.is_file()}
    strange = there.difference(made)
    if strange:
        raise InputError("commands.not_of_workflow", where="record", files=sorted(strange))


def _run(*words: str) -> str:
    """Run a program, found beside our Python first, and give what it printed."""
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
        said = (error.stderr or error.stdout).strip().splitlines()[-LAST_LINES:]
        raise InputError(
            "commands.program_failed",
            where="record",
            command=" ".join(words),
            reason=" ".join(said),
        ) from None
    return done.stdout
