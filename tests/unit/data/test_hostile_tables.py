"""Malformed and malicious tables: one line, exit status 2, no file, little memory and time."""

import contextlib
import gzip
import json
import os
import pickle
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nlobayes.data.column_names import MOST_COLUMNS
from nlobayes.data.separators import MOST_CHARACTERS
from nlobayes.data.table_files import read_table
from nlobayes.errors import InputError
from tests.refusals import refused

MEMORY_BYTES = 3 * 10**9
SECONDS = 120
PREPARE = {
    "features": {"columns": ["a"], "map": "raw", "units": {}},
    "target": {"column": "b", "unit": "", "scale": "identity"},
    "split": {"train": 4, "validation": 2, "test": 2},
    "reference_points": 2,
    "units": {},
    "most_mb": 20,
}
PLAIN = b"a,b\n" + b"".join(b"%d,%d\n" % (n, n * n % 7) for n in range(8))


class NotUnpickled:
    """Object that leaves a trace when it is unpickled."""

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return (os.mkdir, ("hacked",))


class Claimed(pa.ExtensionType):
    """Extension type with the name that old readers unpickled."""

    def __init__(self) -> None:
        super().__init__(pa.int64(), "arrow.py_extension_type")

    def __arrow_ext_serialize__(self) -> bytes:
        return pickle.dumps(NotUnpickled())

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type: pa.DataType, serialized: bytes) -> "Claimed":
        return cls()


def assert_refused(path: Path, code: str, most_mb: float = 1, **fields: Any) -> None:
    """Assert that a table is refused, in one line that begins with its path."""
    with refused(code, where=path, **fields) as caught:
        read_table(path, most_mb)
    assert "\n" not in str(caught.value)


def assert_unreadable(path: Path, why: str = "") -> None:
    """Assert that a table is refused with the message of the reader of its format."""
    with refused("data.unreadable_table", where=path) as caught:
        read_table(path, 1)
    assert why in caught.value.fields["reason"]
    assert "\n" not in str(caught.value)


def prepare(path: Path) -> subprocess.CompletedProcess[str]:
    """Run the real verb with little memory and little time."""
    limit = f"resource.setrlimit(resource.RLIMIT_AS, ({MEMORY_BYTES}, {MEMORY_BYTES}))"
    program = f"import resource; {limit}; from nlobayes.cli import start; start()"
    words = ["--spec", json.dumps(PREPARE), "--table", str(path), "--out", f"{path.parent}/out.nc"]
    return subprocess.run(
        [sys.executable, "-c", program, "prepare", *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.write(PLAIN)
        file.truncate(2 * 10**9)


def one_line(path: Path) -> None:
    with path.open("wb") as file:
        file.write(b"a,b\n")
        file.writelines(b"1" * 10**6 for _ in range(500))


def gzip_bomb(path: Path) -> None:
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"a,b\n")
        file.writelines(b"1.23456789,2.3456789\n" * 50_000 for _ in range(1000))


def run_length_bomb(path: Path) -> None:
    ones = pa.table({"a": pa.array(np.ones(1_000_000, np.int8)), "b": [1] * 1_000_000})
    with pq.ParquetWriter(path, ones.schema, compression="zstd") as writer:
        for _ in range(100):
            writer.write_table(ones)


def million_columns(path: Path) -> None:
    path.write_text(",".join(f"c{number}" for number in range(1_000_000)) + "\n")


@pytest.mark.parametrize(
    ("make", "end", "message"),
    [
        (sparse, ".csv", "holds NUL characters"),
        (one_line, ".csv", f"a line is longer than {MOST_CHARACTERS} characters"),
        (gzip_bomb, ".csv.gz", "more than 20 MB when unpacked; leave out what is not needed"),
        (run_length_bomb, ".parquet", "more than 20 MB when unpacked"),
        (million_columns, ".csv", "a line is longer than"),
        (lambda path: os.mkfifo(path), ".csv", "not a regular file"),
        (lambda path: path.symlink_to("/dev/zero"), ".csv", "not a regular file"),
    ],
    ids=["2 GB", "500 MB in a line", "gzip", "parquet", "million columns", "pipe", "device"],
)
@pytest.mark.by_day(3)
def test_a_table_that_would_fill_memory_or_time_stops_prepare(
    tmp_path: Path, make: Callable[[Path], None], end: str, message: str
) -> None:
    path = tmp_path / f"points{end}"
    make(path)
    done = prepare(path)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith(f"nlobayes: error: {path}: ")
    assert done.stderr.count("\n") == 1
    assert message in done.stderr
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize(
    ("content", "code", "fields"),
    [
        (PLAIN.decode().encode("utf-16-le"), "data.nul_in_table", {}),
        (b"a,b\n1,\x002\n", "data.nul_in_table", {}),
        (b"a\0,b\n1,2\n", "data.nul_in_table", {}),
        (b"a,b\n1,2,3\n", "data.cells_of_row", {"row": 1, "count": 3, "header": 2}),
        (b"a,b\n" + b'"\n",' * 100_000, "data.cells_of_row", {"row": 1, "count": 100_001}),
        (
            ",".join(f"c{n}" for n in range(MOST_COLUMNS + 1)).encode(),
            "data.too_many_columns",
            {"count": MOST_COLUMNS + 1, "most": 10_000},
        ),
        (b"<html>\n", "data.no_rows", {}),
    ],
    ids=lambda value: str(value)[:16],
)
def test_text_that_is_no_table_is_refused(
    tmp_path: Path, content: bytes, code: str, fields: dict[str, Any]
) -> None:
    path = tmp_path / "points.csv"
    path.write_bytes(content)
    assert_refused(path, code, **fields)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (PLAIN.decode().encode("utf-16")[:-1], "utf-16"),
        ("a,b\n1,é\n".encode("latin-1"), "utf-8"),
        (b'a,b\n"' + b"1\n" * 100_000, "field larger than field limit"),
        (pickle.dumps(NotUnpickled()), "utf-8"),
    ],
    ids=lambda value: str(value)[:16],
)
def test_text_that_cannot_be_read_is_refused(tmp_path: Path, content: bytes, why: str) -> None:
    path = tmp_path / "points.csv"
    path.write_bytes(content)
    assert_unreadable(path, why)


@pytest.mark.parametrize("kind", ["folder", "loop"])
def test_what_is_no_file_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "points.csv"
    if kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(path)
    assert_unreadable(path)


def texts(count: int) -> pa.Table:
    """Make a table of one long text, `count` times: a few bytes in a file."""
    long = pa.array(["x" * 100_000])
    numbers = pa.array(np.zeros(count, np.int32))
    return pa.table({"a": pa.DictionaryArray.from_arrays(numbers, long)})


@pytest.mark.parametrize(
    ("table", "code", "fields"),
    [
        (pa.table({"a": [1.0], "l": [[1]]}), "data.nested_column", {"name": "l.list.element"}),
        (pa.table({"a": [1.0], "s": [{"x": 1}]}), "data.nested_column", {"name": "s.x"}),
        (
            pa.table({"m": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int32()))}),
            "data.nested_column",
            {"name": "m.key_value.key"},
        ),
        (pa.table({"a": pa.array([1] * 200_000, pa.int8())}), "data.table_too_large", {}),
        (pa.table({"a": ["x" * 1_100_000]}), "data.table_too_large", {}),
        (pa.table({"a": pa.array([], pa.string())}), "data.no_rows", {}),
    ],
    ids=["list", "struct", "map", "long", "text", "empty"],
)
def test_parquet_that_is_no_table_is_refused(
    tmp_path: Path, table: pa.Table, code: str, fields: dict[str, Any]
) -> None:
    pq.write_table(table, tmp_path / "points.parquet")
    assert_refused(tmp_path / "points.parquet", code, **fields)


def test_a_text_that_repeats_is_held_once(tmp_path: Path) -> None:
    """10 GB of text if every row had its own copy."""
    pq.write_table(texts(100_000), tmp_path / "points.parquet")
    column = read_table(tmp_path / "points.parquet", 1).columns["a"]
    assert len(column) == 100_000
    assert len({id(cell) for cell in column}) == 1


def test_parquet_is_never_unpickled(
    tmp_path: Path, forbid_unpickling: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    numbers = pa.ExtensionArray.from_storage(Claimed(), pa.array([1, 2]))
    pickled = {"pandas": pickle.dumps(NotUnpickled(), protocol=0)}
    table = pa.table({"a": numbers, "b": [1.0, 2.0]}).replace_schema_metadata(pickled)
    pq.write_table(table, "points.parquet")
    assert read_table(Path("points.parquet")).columns["a"].tolist() == [1.0, 2.0]
    assert not Path("hacked").exists()


def damaged(content: bytes, count: int) -> Iterator[bytes]:
    """Yield copies with wrong bytes, some of them truncated."""
    chance = random.Random(1)
    for _ in range(count):
        copy = bytearray(content)
        for _ in range(chance.choice([1, 2, 8])):
            copy[chance.randrange(len(copy))] = chance.randrange(256)
        yield bytes(copy[: chance.randrange(len(copy))] if chance.random() < 0.2 else copy)


def test_damaged_parquet_is_read_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "points.parquet"
    words = ["x" * (number % 5) for number in range(50)]
    pq.write_table(pa.table({"a": np.arange(50.0), "b": np.arange(50) % 3, "t": words}), path)
    read = 0
    for content in damaged(path.read_bytes(), 500):
        path.write_bytes(content)
        with contextlib.suppress(InputError):
            read_table(path, 1)
            read += 1
    assert 0 < read < 250


def test_pages_with_checksums_are_never_read_damaged(tmp_path: Path) -> None:
    """Every byte of the pages is changed; the rest is the structure of the file."""
    path, values = tmp_path / "points.parquet", np.random.default_rng(1).random(500)
    table = pa.table({"a": values})
    pq.write_table(table, path, write_page_checksum=True, use_dictionary=False, compression="none")
    honest = path.read_bytes()
    start = honest.index(values[:1].tobytes())
    for place in range(start, start + values.nbytes, 37):
        wrong = bytearray(honest)
        wrong[place] ^= 1
        path.write_bytes(wrong)
        assert_unreadable(path)


def test_damaged_gzip_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "points.csv.gz"
    whole = gzip.compress(PLAIN, mtime=0)
    for content in (whole[:-4], whole[:20], whole + b"more", whole[:-8] + bytes(8), b"", PLAIN):
        path.write_bytes(content)
        with pytest.raises(InputError):
            read_table(path, 1)
