"""Settings of the planning process: exit, garbage collection, rate of jobs, Python of jobs."""

from __future__ import annotations

import atexit
import gc
import re
import shlex
import sys
from collections.abc import Collection
from pathlib import Path
from typing import NoReturn, Protocol

from nlobayes.errors import InputError


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
