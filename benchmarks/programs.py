"""What the workflow costs a program: overhead a point, and the planning of many points.

    python -m benchmarks.programs

The program does nothing but print its point, so all time is that of the workflow. `calls` are calls
of one process, with the store and without Snakemake. `stored` reads the same points again. `table`
is Snakemake on one core from a design to a table, its start included, less the time of the program
alone. Then follows a dry run of many points in chunks of 100. All run in a folder of their own.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from benchmarks.common import print_header, print_row
from benchmarks.graph import COLUMNS, dry_run
from nlobayes.programs.compute import compute
from nlobayes.study.program import Program

ROOT = Path(__file__).parents[1]
LINKED = ("Snakefile", "workflow", "config", "profiles", "environment.yml")
PROGRAM: dict[str, Any] = {
    "command": ["echo", "{a}"],
    "version": "1",
    "output": {"kind": "number", "column": "b", "unit": ""},
}
CHUNK = 100


def main() -> None:
    """Print milliseconds a point, then what planning takes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--points", type=int, default=400, help="points that are computed (400)")
    parser.add_argument("--planned", type=int, default=100_000, help="points planned (100 000)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for each in LINKED:
            (folder / each).symlink_to(ROOT / each)
        columns = ("what", "points", "ms/point", "cpu-ms/point")
        print_header(columns)
        for what, taken in _computed(folder, given.points):
            each = 1000 * taken / given.points
            print_row(dict(zip(columns, (what, given.points, *each), strict=True)), columns)
        print_header(COLUMNS)
        (folder / "many.yaml").write_text(yaml.safe_dump(study(given.planned)))
        words = ["--configfile", "many.yaml", "--", "results/tables/many.parquet"]
        for row in dry_run("many", words, folder):
            print_row(row, COLUMNS)


def study(points: int) -> dict[str, Any]:
    """State one dataset of a program."""
    design = {"kind": "sobol", "points": points, "ranges": {"a": {"low": 0, "high": 1}}}
    source = {"kind": "program", "program": PROGRAM, "design": design, "chunk": CHUNK}
    dataset = {
        "source": source,
        "features": {"columns": ["a"], "map": "raw", "units": {}},
        "target": {"column": "b", "unit": "", "scale": "identity"},
        "split": {"train": 0.6, "validation": 0.2, "test": 0.2},
    }
    return {"datasets": {"many": dataset}}


def _computed(folder: Path, points: int) -> Iterator[tuple[str, np.ndarray]]:
    """Time the program alone, calls of it, stored calls, and the workflow."""
    values = np.arange(points) / points
    alone = _seconds(lambda: [subprocess.run(["true"], check=True) for _ in range(points)])
    yield "program alone", alone
    one, given = Program.model_validate(PROGRAM), {"a": values}
    yield "calls", _seconds(lambda: compute(one, given, folder / "calls")) - alone
    yield "stored", _seconds(lambda: compute(one, given, folder / "calls"))
    (folder / "some.yaml").write_text(yaml.safe_dump(study(points)))
    words = ["--configfile", "some.yaml", "--cores", "1", "--quiet", "all"]
    command = ["snakemake", *words, "--", "results/tables/many.parquet"]
    run = lambda: subprocess.run(command, cwd=folder, check=True, capture_output=True)  # noqa: E731
    yield "table", _seconds(run) - alone


def _seconds(call: Callable[[], Any]) -> np.ndarray:
    """Return wall time and CPU time of a call and of its processes."""
    begin = time.perf_counter(), sum(os.times()[:4])
    call()
    return np.array([time.perf_counter(), sum(os.times()[:4])]) - begin


if __name__ == "__main__":
    main()
