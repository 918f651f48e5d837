"""The process that plans: its early end, what it does without, the Python of its jobs."""

from __future__ import annotations

import atexit
import gc
import shlex
import sys
from pathlib import Path
from typing import NoReturn, Protocol


class Scheduler(Protocol):
    """What of Snakemake's scheduler is changed here."""

    job_rate_limiter: object | None


def stop(fault: object) -> NoReturn:
    """Print the reason in one line if nothing is planned."""
    sys.stderr.write(f"nlobayes: error: {fault}\n")
    sys.exit(2)


def collect_no_garbage() -> None:
    """Let a graph grow without a search for garbage, which takes a tenth of the planning.

    It finds none: nothing in a graph is freed. At the end nothing is taken apart either.
    """
    gc.disable()
    atexit.register(gc.freeze)


def collect_garbage_again() -> None:
    """Search for garbage again while jobs run, but not in the graph."""
    gc.freeze()
    gc.enable()


def start_jobs_at_once(scheduler: Scheduler) -> None:
    """Let jobs of this machine start as soon as there is room.

    Snakemake starts at most 100 jobs a second. For this limit, which is meant for clusters, it
    wakes up once a second, for ever, for each job that it ever started: after 300 jobs that takes
    a fifth of a core, and each run ends a second late.
    """
    scheduler.job_rate_limiter = None


def shell_prefix() -> str:
    """Let jobs find the same Python as Snakemake, however it was started."""
    folder = shlex.quote(str(Path(sys.executable).parent))
    return f"set -euo pipefail; export PATH={folder}:$PATH; "
