"""CPU time and memory of jobs, from the timings that the workflow writes beside the results."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable
from pathlib import Path

CPU_TIME = "cpu_time"
PEAK = "max_rss"
"""Columns of Snakemake: CPU seconds, and peak memory of the process in MiB."""


def cpu_seconds(timings: Iterable[Path]) -> float | None:
    """Sum the CPU seconds of jobs; None if the file of one is missing or has no value.

    Timings are kept only on the machine that ran the jobs. Very short jobs have no value.
    """
    found = [recorded(path, CPU_TIME) for path in timings]
    return None if None in found else float(sum(filter(None, found)))


def recorded(path: Path, column: str) -> float | None:
    """Read a column of the timing of one job; None if it is not known."""
    try:
        rows = list(csv.DictReader(path.read_text("utf-8").splitlines(), delimiter="\t"))
        value = float(rows[-1][column])
    except (OSError, ValueError, KeyError, IndexError, TypeError):
        return None
    return value if math.isfinite(value) else None
