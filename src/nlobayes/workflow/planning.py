"""The planning process: what it checks first, and its settings.

These are exit, garbage collection, rate of jobs, and the Python of jobs.
"""

from __future__ import annotations

import atexit
import gc
import re
import shlex
import sys
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NoReturn, Protocol

from nlobayes.errors import InputError
from nlobayes.study.labels import DEFAULT_STUDY
from nlobayes.study.yaml_files import read_study


class Scheduler(Protocol):
    """The attribute of Snakemake's scheduler that is changed here."""

    job_rate_limiter: object | None


def stop(fault: object) -> NoReturn:
    """Print the reason in one line and exit with status 2."""
    sys.stderr.write(f"nlobayes: error: {fault}\n")
    sys.exit(2)


def refused_target(message: str, grids: Collection[str]) -> object | None:
    """Return the error in a message of Snakemake on a target that the study lacks, or None."""
    if refused := re.search("InputError: (.+)", message):
        return refused[1]
    if missing := re.search(r"No rule to produce (.+) \(if you use", message):
        return InputError("workflow.no_target", target=missing[1], grids=grids)
    return None


def collect_no_garbage() -> None:
    """Switch off garbage collection, which takes a tenth of the time of planning.

    It would free nothing, because all objects of the graph stay in use. At exit they are not freed
    either.
    """
    gc.disable()
    atexit.register(gc.freeze)


def collect_garbage_again() -> None:
    """Switch on garbage collection again while jobs run, except for the objects of the graph."""
    gc.freeze()
    gc.enable()


def start_jobs_at_once(scheduler: Scheduler) -> None:
    """Let jobs on this machine start as soon as resources are free.

    Snakemake starts at most 100 jobs a second, a limit for clusters. For this limit it wakes up
    once a second for each job that it has ever started. After 300 jobs this takes a fifth of a
    core, and each run ends a second late.
    """
    scheduler.job_rate_limiter = None


def shell_prefix() -> str:
    """Return the shell prefix by which jobs find the Python of this Snakemake."""
    folder = shlex.quote(str(Path(sys.executable).parent))
    return f"set -euo pipefail; export PATH={folder}:$PATH; "


MENDING = {"--cleanup-metadata", "--lint", "--touch", "-t", "--unlock"}
"""Options of Snakemake that plan nothing, or that repair records."""
RECORDS = (Path(".snakemake/metadata"), Path(".snakemake/incomplete"))


def check_study_files(given: Iterable[Path]) -> None:
    """Exit if the default study or another given file is no plain study.

    Snakemake's own reader runs templates and accepts repeated keys, of which the last wins. As in
    Snakemake, the default study may be missing if another file is given.
    """
    files = [*given]
    default = [DEFAULT_STUDY] if DEFAULT_STUDY.exists() or not files else []
    try:
        for path in (*default, *files):
            read_study(path)
    except InputError as error:
        stop(error)


def refuse_results_without_records(arguments: Iterable[str]) -> None:
    """Exit if there are results but no records, as Snakemake would assume that they are current."""
    if MENDING & {*arguments} or any(_first_file(folder) for folder in RECORDS):
        return
    for path in _first_file(Path("results"), "[!.]*"):
        stop(InputError("workflow.no_records", result=path))


def _first_file(folder: Path, pattern: str = "*") -> list[Path]:
    """Return the first file below a folder as a list, which is empty if there is none."""
    return next(([path] for path in folder.rglob(pattern) if path.is_file()), [])
