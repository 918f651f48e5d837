"""Tables written chunk by chunk: numbers are read back bit for bit, and files are complete."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

from nlobayes.artifacts.streams import FORMS, Rows, print_chunks, to_rows, write_chunks
from nlobayes.data.table_files import read_table
from tests.refusals import refused

VALUES = np.array([0.1, 1e-300, -1 / 3, 5.0, 2.0**60])
NAMES = np.array(["a", 'b,"c"', "", "#d", "é"], dtype=object)


def part(rows: slice) -> Rows:
    return to_rows(
        {"row": ("", np.arange(5)[rows]), "x": ("pb", VALUES[rows])}, {"name": ("", NAMES[rows])}
    )


def chunks() -> Iterator[Rows]:
    yield from (part(slice(3)), part(slice(3, 3)), part(slice(3, 5)))


@pytest.mark.parametrize(("form", "ending"), [("csv", ".csv"), ("parquet", ".parquet")])
def test_what_is_written_reads_back_bit_for_bit(tmp_path: Path, form: str, ending: str) -> None:
    path = tmp_path / f"table{ending}"
    write_chunks(path, chunks(), form)
    table = read_table(path)
    assert table.units == {"row": "", "x": "pb", "name": ""}
    assert table.columns["x"].tobytes() == VALUES.tobytes()
    assert table.columns["row"].tolist() == [0, 1, 2, 3, 4]
    assert table.columns["name"].tolist() == NAMES.tolist()


def test_parquet_is_written_with_checksums_of_pages(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    write_chunks(path, chunks(), "parquet")
    content = bytearray(path.read_bytes())
    column = parquet.ParquetFile(path).metadata.row_group(0).column(1)
    content[column.dictionary_page_offset + column.total_compressed_size - 1] ^= 1
    path.write_bytes(content)
    with refused("data.unreadable_table", where=path):
        read_table(path)


def test_json_is_an_object_a_line_and_null_where_no_number_exists(
    tmp_path: Path,
) -> None:
    found = np.array([1.5, math.nan, math.inf])
    write_chunks(tmp_path / "t.jsonl", [to_rows({"x": ("pb", found)})], "jsonl")
    lines = (tmp_path / "t.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [{"x": 1.5}, {"x": None}, {"x": None}]


@pytest.mark.parametrize("form", FORMS)
def test_a_chunk_that_fails_to_come_leaves_the_old_file(tmp_path: Path, form: str) -> None:
    def broken() -> Iterator[Rows]:
        yield part(slice(3))
        raise ValueError("row 4 is bad")

    path = tmp_path / "out"
    path.write_text("old")
    with pytest.raises(ValueError, match="row 4 is bad"):
        write_chunks(path, broken(), form)
    assert path.read_text() == "old"
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_each_chunk_is_printed_before_the_next_is_computed(
    form: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    printed = []

    def watched() -> Iterator[Rows]:
        for chunk in chunks():
            yield chunk
            printed.append(capfdbinary.readouterr().out)

    print_chunks(watched(), form)
    assert [len(part.splitlines()) for part in printed] == [3 + (form == "csv"), 0, 2]
    assert capfdbinary.readouterr().out == b""
