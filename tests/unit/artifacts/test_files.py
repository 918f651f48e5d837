"""A file under its name is complete, or it does not exist."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from nlobayes.artifacts import files
from nlobayes.artifacts.temporaries import is_left_behind
from nlobayes.errors import InputError
from tests.refusals import refused

OLD = "old and whole"
KILLED = (
    "import os, sys; from pathlib import Path; from nlobayes.artifacts import files\n"
    "def write(temporary):\n    temporary.write_text('half'); os.kill(os.getpid(), 9)\n"
    "files.write_atomically(Path(sys.argv[1]), write)"
)


class Interrupted(BaseException):
    """Exception that ends a program, as Control-C does."""


@pytest.mark.parametrize("failure", [OSError("disk full"), ValueError("bad"), Interrupted()])
def test_a_write_that_fails_leaves_nothing(tmp_path: Path, failure: BaseException) -> None:
    def write(temporary: Path) -> None:
        temporary.write_text("half of it")
        raise failure

    expected = InputError if isinstance(failure, OSError) else type(failure)
    with pytest.raises(expected):
        files.write_atomically(tmp_path / "out.txt", write)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("failure", [OSError("disk full"), ValueError("bad"), Interrupted()])
def test_a_write_that_fails_keeps_the_old_file(tmp_path: Path, failure: BaseException) -> None:
    path = tmp_path / "out.txt"
    path.write_text(OLD)

    def write(temporary: Path) -> None:
        temporary.write_text("half of it")
        raise failure

    with pytest.raises((InputError, type(failure))):
        files.write_atomically(path, write)
    assert path.read_text() == OLD
    assert list(tmp_path.iterdir()) == [path]


def test_a_process_that_is_killed_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text(OLD)
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert done.returncode == -9
    assert path.read_text() == OLD
    assert list(tmp_path.glob("*.txt")) == [path]


def test_the_old_file_is_there_until_the_new_one_is(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text(OLD)

    def write(temporary: Path) -> None:
        temporary.write_text("new")
        assert path.read_text() == OLD
        assert temporary.parent == path.parent

    files.write_atomically(path, write)
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("umask", [0o022, 0o002, 0o077])
def test_files_and_folders_have_the_modes_that_the_umask_gives(tmp_path: Path, umask: int) -> None:
    path = tmp_path / "a/b/out.txt"
    before = os.umask(umask)
    try:
        files.write_text(path, "σ\n")
    finally:
        os.umask(before)
    assert path.read_bytes() == b"\xcf\x83\n"
    assert path.stat().st_mode & 0o777 == 0o666 & ~umask
    assert [folder.stat().st_mode & 0o777 for folder in (path.parent, path.parents[1])] == (
        [0o777 & ~umask] * 2
    )


def test_of_two_writers_of_a_file_neither_removes_what_the_other_writes(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"

    def write(temporary: Path) -> None:
        files.write_text(path, "second")
        temporary.write_text("first")

    files.write_atomically(path, write)
    assert path.read_text() == "first"
    assert list(tmp_path.iterdir()) == [path]


def test_a_writer_removes_what_a_killed_one_left_and_nothing_else(tmp_path: Path) -> None:
    """Files of other machines, of running processes and of other names are kept."""
    path = tmp_path / "out.txt"
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert done.returncode == -9
    (left,) = tmp_path.iterdir()
    assert is_left_behind(left)
    machine, process, number = left.name.split(".")[-1].split("-")
    others = [
        f".out.txt.{'0' * 8}-{process}-{number}",
        f".out.txt.{machine}-{os.getpid()}-{number}",
        f".other.txt.{machine}-{process}-{number}",
        ".out.txt.swp",
    ]
    for name in others:
        (tmp_path / name).touch()
    files.write_text(path, "new")
    assert {found.name for found in tmp_path.iterdir()} == {"out.txt", *others}


def unwritable(tmp_path: Path) -> dict[str, Path]:
    """Places where nothing can be written, also by root."""
    (tmp_path / "file").write_text(OLD)
    (tmp_path / "folder").mkdir()
    return {
        "below a file": tmp_path / "file/out.txt",
        "is a folder": tmp_path / "folder",
        "kernel's": Path("/proc/nlobayes/out.txt"),
        "long name": tmp_path / ("x" * 300),
    }


@pytest.mark.parametrize("place", ["below a file", "is a folder", "kernel's", "long name"])
def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path, place: str) -> None:
    path = unwritable(tmp_path)[place]
    with refused("artifacts.not_written_here", path=path):
        files.write_text(path, "new")
    assert {found.name for found in tmp_path.iterdir()} == {"file", "folder"}


def test_a_place_that_can_be_written_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_text(OLD)
    files.check_place(tmp_path / "old.txt")
    files.check_place(tmp_path / "new/new.txt")
    assert (tmp_path / "old.txt").read_text() == OLD
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["new", "old.txt"]


def test_a_read_only_folder_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        if os.access(tmp_path, os.W_OK):
            pytest.skip("root may write anywhere")
        with refused("artifacts.not_written_here", path=tmp_path / "out.txt"):
            files.write_text(tmp_path / "out.txt", "new")
    finally:
        tmp_path.chmod(0o700)


def test_json_is_read_back(tmp_path: Path) -> None:
    content = {"a": 0.1 + 0.2, "b": [1, None, True], "σ": {"c": 5e-324}}
    files.write_json(tmp_path / "out.json", content)
    assert files.read_json(tmp_path / "out.json") == content
    assert files.read_json(tmp_path / "out.json", "a", "σ") == content


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_json_of_numbers_that_are_not_finite_is_not_written(tmp_path: Path, value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        files.write_json(tmp_path / "out.json", {"r2": value})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (None, "artifacts.not_json"),
        (b"", "artifacts.not_json"),
        (b'{"checks": {}', "artifacts.not_json"),
        (b'{"checks": NaN}', "artifacts.not_json"),
        (b"\xff", "artifacts.not_json"),
        (b"[1]", "artifacts.no_json_object"),
        (b"null", "artifacts.no_json_object"),
    ],
)
def test_json_that_cannot_be_used_is_refused(
    tmp_path: Path, content: bytes | None, code: str
) -> None:
    path = tmp_path / "in.json"
    if content is not None:
        path.write_bytes(content)
    with refused(code, path=path):
        files.read_json(path, "checks")


def test_csv_is_read_back_to_nine_digits(tmp_path: Path) -> None:
    values = np.array([np.pi, -1e-30, 123456789.123, np.nan])
    files.write_csv(tmp_path / "out.csv", {"case": ["a", "b", "c", "d"], "value": values})
    table = files.read_csv(tmp_path / "out.csv")
    assert list(table["case"]) == ["a", "b", "c", "d"]
    np.testing.assert_allclose(table["value"], values, rtol=5e-9)


def test_parquet_is_read_back_and_equal_tables_give_equal_bytes(tmp_path: Path) -> None:
    table = pa.table({"a": [1.5, -0.0], "b": ["x", "y"]})
    for name in ("one", "two"):
        files.write_parquet(tmp_path / f"{name}.parquet", table)
    assert parquet.read_table(tmp_path / "one.parquet").equals(table)
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()
