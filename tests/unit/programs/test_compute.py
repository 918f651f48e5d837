"""A program at points: each is computed once, and every failure is a row with its reason."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlobayes.programs import call
from nlobayes.programs.compute import compute
from nlobayes.study.program import Program
from tests.refusals import refused

COUNTED = 'echo x >> "$COUNTER"; '
NUMBER = {"kind": "number", "column": "sigma", "unit": "pb"}
OUTPUT = {"kind": "pattern", "pattern": r"sigma = (\S+) pb", "column": "sigma", "unit": "pb"}


@pytest.fixture
def counter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that gets a line of each call."""
    monkeypatch.setenv("COUNTER", str(tmp_path / "counter"))
    (tmp_path / "counter").touch()
    return tmp_path / "counter"


def calls(counter: Path) -> int:
    return len(counter.read_text().splitlines())


def program(script: str, **settings: Any) -> Program:
    """A program that is a line of the shell, which counts its calls."""
    given: dict[str, Any] = {
        "command": ("sh", "-c", COUNTED + script),
        "version": "1",
        "output": OUTPUT,
    }
    return Program(**(given | settings))


def points(*values: float) -> dict[str, np.ndarray]:
    return {"a": np.array(values)}


@pytest.mark.parametrize("workers", [1, 3])
def test_points_are_computed_once(counter: Path, tmp_path: Path, workers: int) -> None:
    doubled = program("echo sigma = $(({a:d} * 2)) pb")
    first = compute(doubled, points(1, 2, 3, 4), tmp_path / "points", workers)
    assert first.value.tolist() == [2, 4, 6, 8]
    assert first.reasons == ["", "", "", ""]
    assert calls(counter) == 4
    again = compute(doubled, points(5, 3, 3, 1), tmp_path / "points", workers)
    assert again.value.tolist() == [10, 6, 6, 2]
    assert calls(counter) == 5
    assert again.files[1] == first.files[2]


def test_the_program_runs_in_a_folder_of_its_own(counter: Path, tmp_path: Path) -> None:
    (tmp_path / "grid").mkdir()
    (tmp_path / "grid/pdf").write_text("7")
    script = "cat > left; cat {input}; ls | tr '\\n' ' '; echo sigma = $(cat grid/pdf) pb"
    output = OUTPUT | {"pattern": r"^a\n1\.0\ngrid left point\.csv sigma = (\d) pb"}
    settings: dict[str, Any] = {"input": {"kind": "csv"}, "files": [str(tmp_path / "grid")]}
    result = compute(program(script, output=output, **settings), points(1), tmp_path / "points")
    assert result.reasons == [""]
    assert result.value.tolist() == [7]
    (tmp_path / "grid/pdf").write_text("8")
    compute(program(script, output=output, **settings), points(1), tmp_path / "points")
    assert calls(counter) == 2, "another content of a file is another program"


def test_files_are_copies_that_a_program_may_change(counter: Path, tmp_path: Path) -> None:
    (tmp_path / "card").write_text("5")
    script = "cat card; echo 6 > card; test $(realpath card) = $PWD/card"
    one = program(script, output=NUMBER, files=[str(tmp_path / "card")])
    assert compute(one, points(1, 2), tmp_path / "points").value.tolist() == [5, 5]
    assert (tmp_path / "card").read_text() == "5"


def test_what_makes_another_program_and_what_does_not(counter: Path, tmp_path: Path) -> None:
    script = "echo LO = 1 pb, sigma = {a:d} pb"
    compute(program(script), points(2), tmp_path / "points")
    other = OUTPUT | {"pattern": r"LO = (\S+) pb", "column": "lo"}
    assert compute(program(script, output=other), points(2), tmp_path / "points").value == [1]
    compute(program(script, timeout_s=7, attempts=9), points(2), tmp_path / "points")
    assert calls(counter) == 1
    compute(program(script, version="2"), points(2), tmp_path / "points")
    compute(program(script + " "), points(2), tmp_path / "points")
    assert calls(counter) == 3


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo oops >&2; exit 3", "the program ended with status 3: oops"),
        ("kill -SEGV $$", "the program died by SIGSEGV in each of 2 runs"),
        ("echo sigma = 1 fb", "pattern 'sigma = (\\\\S+) pb' is not in the output"),
        ("echo sigma = 1 pb sigma = 2 pb", "the output has 2 numbers where one is expected"),
        ("echo sigma = nan pb", "the result is nan, which is not finite"),
        ("echo sigma = -1 pb", "the result is -1.0, which is not above 0"),
        ("sleep 60", "the program ran longer than 0.2 s in each of 2 runs"),
        ("yes | head -c 3000000 > out; echo $?", "pattern"),
    ],
)
def test_a_failure_is_a_row_with_its_reason(
    counter: Path, tmp_path: Path, script: str, reason: str
) -> None:
    case = f"if [ {{a:d}} = 1 ]; then {script}; else echo sigma = 5 pb; fi"
    settings = {"output": OUTPUT | {"above": 0}, "timeout_s": 0.2 if "sleep" in script else 60}
    one = program(case, most_mb=1, **settings)
    outcome = compute(one, points(1, 2), tmp_path / "points")
    assert np.isnan(outcome.value[0])
    assert outcome.reasons[0].startswith(reason)
    assert "\n" not in outcome.reasons[0]
    assert (outcome.value[1], outcome.reasons[1]) == (5, "")
    before = calls(counter)
    assert compute(one, points(1, 2), tmp_path / "points")[1] == outcome.reasons
    assert calls(counter) == before, "failures are stored, too"


def test_a_file_that_is_not_written(counter: Path, tmp_path: Path) -> None:
    output = OUTPUT | {"file": "result.dat"}
    outcome = compute(program("echo no", output=output), points(1), tmp_path / "points")
    assert outcome.reasons == ["the program wrote no file 'result.dat': no"]
    written = program("echo sigma = 3 pb > result.dat", output=output)
    assert compute(written, points(1), tmp_path / "points").value == [3]


def test_more_attempts_and_more_time_repeat_what_may_succeed(counter: Path, tmp_path: Path) -> None:
    def run(script: str, **settings: Any) -> int:
        before = calls(counter)
        compute(program(script, **settings), points(1), tmp_path / "points")
        return calls(counter) - before

    for script in ("kill -9 $$", "sleep 60"):
        assert run(script, attempts=2, timeout_s=0.1) == 2
        assert run(script, attempts=1, timeout_s=0.1) == 0
        assert run(script, attempts=3, timeout_s=0.1) == 1
    assert run("sleep 60", attempts=1, timeout_s=0.2) == 1
    assert run("exit 1", attempts=2) == 1
    assert run("exit 1", attempts=3) == 0


def test_a_program_that_hangs_ends_with_its_children(tmp_path: Path, counter: Path) -> None:
    mark = f"61.{os.getpid()}"
    hanging = program(f"trap '' TERM; sleep {mark} & sleep {mark}", timeout_s=0.3, attempts=1)
    compute(hanging, points(1), tmp_path / "points")
    assert not running(mark)


def test_children_that_a_program_leaves_behind_end(tmp_path: Path, counter: Path) -> None:
    mark = f"62.{os.getpid()}"
    script = f"sleep {mark} >/dev/null 2>&1 & echo sigma = 1 pb"
    assert compute(program(script), points(1), tmp_path / "points").value == [1]
    assert not running(mark)


def running(mark: str) -> bool:
    """Return whether a process with this argument still runs after a second."""
    end = time.monotonic() + 2
    while time.monotonic() < end:
        found = [*map(arguments, Path("/proc").glob("[0-9]*/cmdline"))]
        if not any(mark in words for words in found):
            return False
        time.sleep(0.05)
    return True


def arguments(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8", errors="replace").split("\0")
    except OSError:
        return []


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (("no-such-program",), "programs.missing"),
        (("./absent",), "programs.missing"),
        (("./plain",), "programs.not_executable"),
        (("./dangling",), "programs.not_started"),
        (("sh", "-c", "no-such-program"), "programs.not_started"),
        (("sh", "-c", "{b}"), "programs.no_column"),
    ],
)
def test_a_program_that_cannot_start_stores_nothing(
    tmp_path: Path, command: tuple[str, ...], code: str
) -> None:
    (tmp_path / "plain").write_text("echo")
    (tmp_path / "dangling").write_text("#!/no/such/interpreter\n")
    (tmp_path / "dangling").chmod(0o755)
    files = [str(tmp_path / "plain"), str(tmp_path / "dangling")]
    one = program("", command=command, files=files)
    with refused(code):
        compute(one, points(1), tmp_path / "points")
    assert not [path for path in tmp_path.rglob("points/*/??/*.json") if path.stat().st_size]


def test_a_full_disk_is_one_error_and_loses_nothing(
    counter: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = program("echo sigma = {a:d} pb")
    compute(one, points(1), tmp_path / "points")
    folder = tmp_path / "points" / one.digest
    kept = {path: path.read_bytes() for path in folder.rglob("*.json")}
    monkeypatch.setattr(call.tempfile, "gettempdir", lambda: "/proc/self")
    with refused("artifacts.not_written_here"):
        compute(one, points(1, 2), tmp_path / "points")
    monkeypatch.undo()
    assert {path: path.read_bytes() for path in kept} == kept
    monkeypatch.setenv("COUNTER", str(counter))
    assert compute(one, points(1, 2), tmp_path / "points").value.tolist() == [1, 2]
    assert calls(counter) == 2


def test_a_damaged_file_of_the_store_is_computed_again(counter: Path, tmp_path: Path) -> None:
    one = program("echo sigma = 4 pb")
    (path,) = compute(one, points(1), tmp_path / "points").files
    good = path.read_bytes()
    for bad in (good[:40], good.replace(b"4", b"5"), b"", b"[]"):
        path.write_bytes(bad)
        assert compute(one, points(1), tmp_path / "points").value == [4]
        assert path.read_bytes() == good
    assert calls(counter) == 5


def test_stored_results_hold_no_dates(counter: Path, tmp_path: Path) -> None:
    one = program("echo sigma = 4 pb")
    (path,) = compute(one, points(1), tmp_path / "points").files
    (other,) = compute(one, points(1), tmp_path / "elsewhere").files
    assert path.read_bytes() == other.read_bytes()
    assert not re.search(r"\d\d:\d\d", path.read_text())
