"""Tables of strangers to predict: wide, endless or vast; refused or predicted in bounded memory."""

import gzip
import io
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from nlobayes.cli import main
from nlobayes.data import text_tables
from nlobayes.data.row_chunks import ROWS, Chunk, Source, numbers
from nlobayes.data.table_files import open_stream, open_table
from nlobayes.errors import MOST_SHOWN
from tests.refusals import refused

MB = 2**20


def read(text: bytes, rows: int = ROWS) -> tuple[Source, list[Chunk]]:
    source = open_stream(io.BytesIO(text), ["a", "b"], "mine.csv", rows)
    return source, list(source.chunks)


def test_wide_rows_cost_what_is_asked_for() -> None:
    """A million cells, of which 200 are kept: below 12 MB, where all of them take 55."""
    header = ",".join(["a", "b", *(f"x{number}" for number in range(9990))])
    row = ",".join(["1", "2", *(["0.123456"] * 9990)])
    text = "\n".join([header, *([row] * 100)]).encode()
    tracemalloc.start()
    try:
        _, found = read(text)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert sum(len(chunk.labels) for chunk in found) == 100
    assert peak < 12 * MB


def test_wide_cells_make_chunks_of_fewer_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_tables, "MOST_BYTES", 10_000)
    text = "a,b\n" + "".join(f"{number},{'x' * 1000}\n" for number in range(50))
    _, found = read(text.encode())
    assert {len(chunk.labels) for chunk in found} <= set(range(1, 11))
    labels = np.concatenate([chunk.labels for chunk in found])
    assert labels.tolist() == [*range(1, 51)]
    cells = np.concatenate([chunk.columns["a"] for chunk in found])
    assert cells.tolist() == [*map(str, range(50))]


def test_faults_keep_their_rows_in_chunks_of_any_size() -> None:
    text = b"a,b\n1,2\n3\n5,6\n7,x\n"
    for rows in (1, 2, 3, 8192):
        source, found = read(text, rows)
        said = {
            int(chunk.labels[row]): why
            for chunk in found
            for row, why in numbers(source, chunk, {"a": "", "b": ""})[1].items()
        }
        assert said == {
            2: "1 cells where the header has 2",
            4: "column 'b' holds 'x', no finite number",
        }


@pytest.mark.parametrize(
    ("text", "code", "most"),
    [
        (b"a,b\n" + b"\n" * 1_100_000, "data.empty_lines", 1_000_000),
        (b"a,b\n1,2\n" + b"\n" * 1_100_000, "data.empty_lines", 1_000_000),
        (b"a,b\n" + b'"\n",' * 400_000, "data.long_row", 2**20),
        (b"# k: v\n" * 200_000, "data.long_metadata", 2**20),
        (b"# no end\n" * 200_000, "data.long_metadata", 2**20),
    ],
    ids=["empty", "empty behind", "one row", "metadata", "remarks"],
)
def test_what_does_not_end_is_refused(text: bytes, code: str, most: int, tmp_path: Path) -> None:
    """Small files, for they are packed."""
    path = tmp_path / "points.csv.gz"
    path.write_bytes(gzip.compress(text, 1))
    with refused(code, where=path, most=most), open_table(path, ["a", "b"]) as source:
        list(source.chunks)


def test_a_vast_cell_is_named_in_few_words(tmp_path: Path) -> None:
    """The same text of 5 MB in 40 rows: held once, and cut in the message."""
    path = tmp_path / "points.parquet"
    column = pa.array(["x" * 5 * MB]).dictionary_encode().dictionary
    vast = pa.DictionaryArray.from_arrays(pa.array([0] * 40, pa.int32()), column)
    parquet.write_table(pa.table({"a": vast, "b": np.ones(40)}), path)
    with open_table(path, ["a", "b"]) as source:
        for chunk in source.chunks:
            faults = numbers(source, chunk, {"a": "", "b": ""})[1]
            assert max(map(len, faults.values())) < 200


def test_a_full_memory_is_not_blamed_on_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise MemoryError

    monkeypatch.setattr(text_tables, "getsizeof", full)
    with pytest.raises(MemoryError, match=r"mine\.csv: no room for a chunk of rows"):
        read(b"a,b\n1,2\n")


@pytest.mark.parametrize("words", [["predict", "s.nc"], ["verify"], ["show"]])
def test_names_that_no_disk_takes_are_one_line(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in ("x" * 300 + ".csv", "/y" * 2500):
        monkeypatch.setattr(sys, "argv", ["nlobayes", *words, path])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr().err
        assert ended.value.code == 2
        assert said.startswith("nlobayes: error: ")
        assert said.count("\n") == 1
        assert len(said) < MOST_SHOWN + 100
