"""CPU time of jobs, from the timings that the workflow writes beside the results."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable
from pathlib import Path

COLUMN = "cpu_time"


def cpu_seconds(timings: Iterable[Path]) -> float | None:
    """Sum the CPU seconds of jobs; None where the file of one is missing or has no value.

    Timings stay on the machine that ran the jobs, and a job that is too short has none.
    """
    found = [_seconds(path) for path in timings]
    return None if None in found else float(sum(filter(None, found)))


def _seconds(path: Path) -> float | None:
    try:
        rows = list(csv.DictReader(path.read_text("utf-8").splitlines(), delimiter="\t"))
        value = float(rows[-1][COLUMN])
    except (OSError, ValueError, KeyError, IndexError, TypeError):
        return None
    return value if math.isfinite(value) else None
