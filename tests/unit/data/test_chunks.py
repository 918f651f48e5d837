"""Tables read chunk by chunk equal tables read at once, and use the memory of one chunk."""

import gzip
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlobayes.artifacts.files import write_parquet
from nlobayes.data.parquet_tables import to_arrow
from nlobayes.data.row_chunks import Chunk, numbers
from nlobayes.data.table_files import open_stream, open_table, read_table, to_csv_text
from nlobayes.types import Table
from tests.refusals import refused

ROWS = 7
ENDINGS = (".csv", ".csv.gz", ".parquet")
TABLE = Table(
    {
        "m": np.arange(17) / 3,
        "name": np.array([f"point {i}" for i in range(17)], dtype=object),
        "n": -(np.arange(17) ** 2) / 7,
    },
    {"m": "GeV", "n": "1"},
    {},
)


@pytest.fixture(params=ENDINGS)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Write the table in one of the formats."""
    written: Path = tmp_path / f"table{request.param}"
    if request.param == ".parquet":
        write_parquet(written, to_arrow(TABLE))
    else:
        text = to_csv_text(TABLE).encode()
        written.write_bytes(gzip.compress(text) if request.param == ".csv.gz" else text)
    return written


def stream(text: str) -> io.BytesIO:
    return io.BytesIO(text.encode())


def test_chunks_are_the_table(path: Path) -> None:
    with open_table(path, ["n", "name"], ROWS) as source:
        chunks = [*source.chunks]
    assert (source.name, source.label) == (str(path), "row")
    assert source.units == {**read_table(path).units}
    assert [len(chunk.labels) for chunk in chunks] == [7, 7, 3]
    assert np.concatenate([chunk.labels for chunk in chunks]).tolist() == [*range(1, 18)]
    assert all([*chunk.columns] == ["n", "name"] for chunk in chunks)
    names = np.concatenate([chunk.columns["name"] for chunk in chunks])
    assert names.tolist() == TABLE.columns["name"].tolist()
    read = np.concatenate([numbers(source, chunk, {"n": "1"})[0] for chunk in chunks])
    assert read.tobytes() == TABLE.columns["n"].tobytes()
    shares = [chunk.share for chunk in chunks]
    assert shares == sorted(shares)
    assert 0 < shares[0] <= 1
    assert shares[-1] == 1


def test_a_missing_column_is_named_in_every_format(path: Path) -> None:
    with refused("data.no_column", name="q", known=["m", "name", "n"]), open_table(path, ["q"]):
        pass


class Endless(io.RawIOBase):
    """Endless rows, with a count of what is read."""

    read_so_far = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        rows = (b"1.5,2\n" * (len(buffer) // 6 + 1))[: len(buffer)]
        text = b"a,b\n" + rows if not self.read_so_far else rows
        buffer[:] = text[: len(buffer)]
        self.read_so_far += len(buffer)
        return len(buffer)


def test_no_more_than_a_chunk_is_read_ahead() -> None:
    endless = Endless()
    source = open_stream(io.BufferedReader(endless), ["a"], "endless", 1000)
    for _ in range(3):
        assert len(next(source.chunks).labels) == 1000
    assert endless.read_so_far < 3 * 6000 + 2 * io.DEFAULT_BUFFER_SIZE


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ("abc,1", "column 'a' holds 'abc', no finite number"),
        (",1", "column 'a' holds '', no finite number"),
        ("nan,1", "column 'a' holds 'nan', no finite number"),
        ("-1e999,1", "column 'a' holds '-1e999', no finite number"),
        ("1_0,1", "column 'a' holds '1_0', no finite number"),
        ("1", "1 cells where the header has 2"),
        ("1,2,3", "3 cells where the header has 2"),
    ],
)
def test_a_row_that_cannot_be_used_is_named_and_the_others_are_read(
    cells: str, message: str
) -> None:
    source = open_stream(stream(f"a,b\n1,2\n\n{cells}\n5,6\n"), ["a", "b"], "here")
    (chunk,) = source.chunks
    values, faults = numbers(source, chunk, {"a": "", "b": ""})
    assert faults == {1: message}
    assert values[[0, 2]].tolist() == [[1, 2], [5, 6]]
    assert not np.isfinite(values[1]).all()


@pytest.mark.parametrize(
    ("header", "wanted", "factor"),
    [
        ("a:TeV", "GeV", 1000),
        ("a:GeV", "GeV", 1),
        ("a", "GeV", 1),
        ("a:fb", "pb", 0.001),
        ("a:1", "1", 1),
        ("a", "1", 1),
        ("a:GeV", "", 1),
    ],
)
def test_units_are_converted_and_none_is_that_which_is_wanted(
    header: str, wanted: str, factor: float
) -> None:
    source = open_stream(stream(f"{header}\n0.25\n"), ["a"], "here")
    assert numbers(source, next(source.chunks), {"a": wanted})[0] == [[0.25 * factor]]


@pytest.mark.parametrize(
    ("text", "code", "fields"),
    [
        ("", "data.empty_file", {}),
        ("1,2\n", "data.header_cell", {"position": 1, "name": "1"}),
        ("a,a\n1,2\n", "data.column_twice", {"name": "a"}),
        ("mass,b\n1,2\n", "data.no_column", {"name": "a", "known": ["mass", "b"]}),
        ("A,b\n1,2\n", "data.no_column_but_close", {"name": "a", "meant": "A"}),
        ("A;b\n1;2\n", "data.no_column_but_close", {"name": "a", "known": ["A", "b"]}),
        ('a,b\n1,2\n"1,2\n', "data.unreadable_table", {}),
        ("a,b\n1,\0\n", "data.nul_in_table", {}),
        ("a,b\n1," + "2" * 2**20 + "\n", "data.long_line", {}),
    ],
)
def test_what_is_no_table_is_refused(text: str, code: str, fields: dict[str, object]) -> None:
    with refused(code, where="here", **fields):
        next(open_stream(stream(text), ["a"], "here").chunks)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_folder_and_a_missing_file_are_refused(tmp_path: Path, ending: str) -> None:
    (tmp_path / f"folder{ending}").mkdir()
    folder, missing = (tmp_path / f"{name}{ending}" for name in ("folder", "missing"))
    with refused("data.unreadable_table", where=folder) as caught, open_table(folder, ["a"]):
        pass
    assert "not a regular file" in caught.value.fields["reason"]
    with refused("data.no_such_file", where=missing), open_table(missing, ["a"]):
        pass


def first_chunks(path: Path) -> Iterator[Chunk]:
    with open_table(path, ["m"], ROWS) as source:
        yield from source.chunks


@pytest.mark.parametrize("ending", [".csv.gz", ".parquet"])
def test_a_file_that_is_cut_short_is_refused(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"t{ending}"
    big = Table({"m": np.random.default_rng(1).random(20_000)}, {}, {})
    if ending == ".parquet":
        write_parquet(path, to_arrow(big))
    else:
        path.write_bytes(gzip.compress(to_csv_text(big).encode()))
    path.write_bytes(path.read_bytes()[:-3000])
    with refused("data.unreadable_table", where=path):
        assert sum(len(chunk.labels) for chunk in first_chunks(path)) < 20_000


def test_a_byte_of_parquet_that_changed_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    write_parquet(path, to_arrow(Table({"m": np.random.default_rng(1).random(20_000)}, {}, {})))
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with refused("data.unreadable_table", where=path):
        assert [*first_chunks(path)]
