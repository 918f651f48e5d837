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
SHOWN = 5
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
        raise InputError(
            f"record: no {' and no '.join(missing)} in {Path.cwd()}; call it in the root of the "
            "project, after `git init` and `dvc init` where there is none yet"
        )


def _check_nothing_runs() -> None:
    if [*Path(".snakemake/locks").glob("*.lock")]:
        raise InputError(
            "record: Snakemake holds its lock; wait until it has ended or, if it was killed, "
            "call `snakemake --unlock` and `snakemake` first"
        )


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
        raise InputError(
            f"record: not committed: {_some(lost)}; without, the results could not be found again: "
            "`git add` and `git commit` first, a large table by `dvc add`"
        )


def _changed(*words: str) -> list[str]:
    status = _run("git", "status", "--porcelain", "--untracked-files=all", *words)
    return [line[3:] for line in status.splitlines()]


def _kept_by_git(table: Path) -> str:
    """Name the table, or what stands for it in Git where DVC keeps it or its folder."""
    stand_ins = (f"{part}.dvc" for part in (table, *table.parents))
    return next((name for name in stand_ins if Path(name).is_file()), str(table))


def _check_graph() -> None:
    """Check that Snakemake would run nothing, and that no file between was removed."""
    printed = _run("snakemake", "--summary")
    table = printed[printed.index("output_file\t") :].splitlines()
    files = [*csv.DictReader(table, delimiter="\t")]
    waiting = dict.fromkeys(file["rule"] for file in files if file["plan"] == "update pending")
    if waiting:
        raise InputError(
            f"record: the results are not up to date: rules {', '.join(waiting)} have to run; "
            "call `snakemake` first, or `dvc checkout` to return to what was recorded"
        )
    missing = [file["output_file"] for file in files if file["status"] == "missing"]
    if missing:
        raise InputError(
            f"record: {_some(missing)} was made and is missing; `dvc checkout` restores what was "
            "recorded before, `snakemake FILE` makes it again"
        )


def _check_results(made: Iterable[str]) -> None:
    there = {path.as_posix() for path in Path("results").rglob("[!.]*") if path.is_file()}
    strange = there.difference(made)
    if strange:
        raise InputError(
            f"record: the workflow did not make {_some(strange)}; move it out of "
            "results/, and call `snakemake`"
        )


def _run(*words: str) -> str:
    """Run a program, found beside our Python first, and give what it printed."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    try:
        done = subprocess.run(
            words, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=True
        )
    except OSError as error:
        raise InputError(f"record: cannot run {words[0]}: {error}; install it first") from None
    except subprocess.CalledProcessError as error:
        said = (error.stderr or error.stdout).strip().splitlines()[-SHOWN:]
        raise InputError(
            f"record: `{' '.join(words)}` failed: {' '.join(said)}; mend that and call it again"
        ) from None
    return done.stdout


def _some(paths: Iterable[str]) -> str:
    names = sorted(paths)
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
