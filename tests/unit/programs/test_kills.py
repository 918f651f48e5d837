"""Processes that compute the same points: at once, or killed at any time, no point is lost."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from nlobayes.artifacts.point_store import read_point
from nlobayes.programs.compute import compute
from nlobayes.study.program import Program

POINTS = 24
COMPUTE = """
import sys
from pathlib import Path
import numpy as np
from nlobayes.programs.compute import compute
from nlobayes.study.program import Program
program = Program.model_validate_json(sys.argv[1])
points = np.random.default_rng(int(sys.argv[3])).permutation(int(sys.argv[4])).astype(float)
print("computes", flush=True)
value, reasons, _ = compute(program, {"a": points}, Path(sys.argv[2]), workers=2)
sys.exit(any(reasons) or list(value) != list(2 * points))
"""


def program(log: Path) -> Program:
    """A program that writes its point into a log and takes 20 ms."""
    script = f"echo {{a:d}} >> '{log}'; sleep 0.02; echo $(({{a:d}} * 2))"
    output = {"kind": "number", "column": "b", "unit": ""}
    given = {"command": ["sh", "-c", script], "version": "1", "output": output}
    return Program.model_validate(given)


def start(one: Program, store: Path, seed: int) -> subprocess.Popen[bytes]:
    """Start a process that computes all points in an order of its own, and wait until it does."""
    words = [one.model_dump_json(), str(store), str(seed), str(POINTS)]
    process = subprocess.Popen([sys.executable, "-c", COMPUTE, *words], stdout=subprocess.PIPE)
    assert process.stdout
    with process.stdout as told:
        assert told.readline() == b"computes\n"
    return process


def stored(store: Path) -> dict[str, bytes]:
    """Read all files of finished points."""
    files = [path for path in store.glob("*/??/*.json") if read_point(path) is not None]
    return {path.relative_to(store).as_posix(): path.read_bytes() for path in files}


def called(log: Path) -> list[str]:
    return log.read_text().split() if log.exists() else []


@pytest.fixture
def unharmed(tmp_path: Path) -> dict[str, bytes]:
    """The store of a run without faults, with the same program."""
    store = tmp_path / "unharmed"
    compute(program(tmp_path / "log"), {"a": np.arange(float(POINTS))}, store)
    (tmp_path / "log").unlink()
    return stored(store)


def test_processes_at_once_compute_each_point_once(
    tmp_path: Path, unharmed: dict[str, bytes]
) -> None:
    one, store = program(tmp_path / "log"), tmp_path / "points"
    processes = [start(one, store, seed) for seed in range(3)]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    assert Counter(called(tmp_path / "log")) == Counter(map(str, range(POINTS)))
    assert stored(store) == unharmed


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.by_day(1)
def test_no_stored_point_is_computed_again_after_a_kill(
    tmp_path: Path, unharmed: dict[str, bytes], seed: int
) -> None:
    one, store, log = program(tmp_path / "log"), tmp_path / "points", tmp_path / "log"
    chance = random.Random(seed)
    point_of = {key: str(place) for place, key in enumerate(keys(one, tmp_path / "unharmed"))}
    kills = 0
    while True:
        safe, before = {point_of[key] for key in stored(store)}, len(called(log))
        process = start(one, store, seed)
        wanted = before + chance.randint(2, 8)
        while process.poll() is None and len(called(log)) < wanted:  # calls, on any machine
            time.sleep(0.002)
        time.sleep(chance.uniform(0.0, 0.03))
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
            kills += 1
        status = process.wait(60)
        assert not safe & {*called(log)[before:]}
        if status == 0:
            break
        assert status == -signal.SIGKILL
        assert {*stored(store)} <= {*unharmed}
    assert kills >= 2
    assert stored(store) == unharmed
    assert len(called(log)) <= POINTS + 2 * kills, "only points in work are computed again"


def keys(one: Program, store: Path) -> list[str]:
    """Name the files of the points in the order of their values."""
    outcome = compute(one, {"a": np.arange(float(POINTS))}, store)
    return [path.relative_to(store).as_posix() for path in outcome.files]


def test_a_program_ends_with_the_process_that_called_it(tmp_path: Path) -> None:
    mark = tmp_path / "ended"
    script = f"echo x > '{tmp_path}/began'; sleep 0.5; echo x > '{mark}'"
    output = {"kind": "number", "column": "b", "unit": ""}
    given = {"command": ["sh", "-c", script], "version": "1", "output": output}
    process = start(Program.model_validate(given), tmp_path / "points", 0)
    end = time.monotonic() + 20
    while not (tmp_path / "began").exists() and time.monotonic() < end:
        time.sleep(0.01)
    process.kill()
    process.wait()
    time.sleep(1)
    assert (tmp_path / "began").exists()
    assert not mark.exists()
