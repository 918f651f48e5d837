"""A design, chunks of its points by a program, and the table that they become."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlobayes.artifacts.records import read_record
from nlobayes.commands.pipeline.design import design
from nlobayes.commands.pipeline.gather import gather
from nlobayes.commands.pipeline.run_program import run_program
from nlobayes.data.table_files import read_table
from nlobayes.designs import DESIGNS
from tests.refusals import refused

RANGES: dict[str, Any] = {"a": {"low": 0, "high": 10, "unit": "GeV"}, "b": {"low": 0, "high": 1}}
DESIGN: dict[str, Any] = {"kind": "sobol", "points": 50, "ranges": RANGES}
FAILING = "awk 'BEGIN {{ if ({a} > 7 && {b} > 0.4) exit 3; print {a} + {b} }}'".replace("{{", "{")
OUTPUT = {"kind": "number", "column": "c", "unit": "fb"}


def spec(folder: Path, **settings: Any) -> str:
    """Specify a program that adds two columns and fails in a corner, in chunks of 20 points."""
    script = FAILING.replace("}}", "}")
    program = {"command": ["sh", "-c", script], "version": "1", "output": OUTPUT} | settings
    return json.dumps({"program": program, "store": str(folder / "points"), "rows": 20})


@pytest.fixture
def points(tmp_path: Path) -> Path:
    design(json.dumps({"design": DESIGN}), tmp_path / "design.parquet")
    return tmp_path / "design.parquet"


def run(folder: Path, points: Path, **settings: Any) -> list[Path]:
    chunks = [folder / f"{chunk}.parquet" for chunk in range(3)]
    for number, path in enumerate(chunks):
        run_program(spec(folder, **settings), points, number, path)
    return chunks


def test_chunks_become_a_table_and_a_list_of_failures(
    tmp_path: Path, points: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chunks = run(tmp_path, points)
    assert "point" in capsys.readouterr().err
    first = read_table(chunks[0])
    failed = first.columns["failure"] != ""
    assert np.array_equal(np.isnan(first.columns["c"]), failed)
    gather(chunks, tmp_path / "table.parquet", tmp_path / "failures.csv", tmp_path / "record.json")
    table, failures = read_table(tmp_path / "table.parquet"), read_table(tmp_path / "failures.csv")
    chosen = DESIGNS["sobol"](**DESIGN).compute()
    a, b = chosen["a"], chosen["b"]
    corner = (a > 7) & (b > 0.4)
    assert 6 < corner.sum() < 12
    assert [*table.columns] == ["a", "b", "c"]
    assert table.units["a"] == "GeV"
    assert table.units["c"] == "fb"
    np.testing.assert_array_equal(table.columns["a"], a[~corner])
    np.testing.assert_allclose(table.columns["c"], (a + b)[~corner], rtol=1e-5)
    np.testing.assert_array_equal(failures.columns["b"], b[corner])
    assert {*failures.columns["failure"]} == {"the program ended with status 3"}
    account = read_record(tmp_path / "record.json")["account"]
    assert account["points"] == 50
    assert account["failed"] == corner.sum()
    assert account["reasons"] == {"the program ended with status 3": corner.sum()}
    region = account["failing_region"]
    name, low, high = region["ranges"][0]
    assert name == "a"
    assert 3 <= region["failed"] == region["points"] <= corner.sum()
    assert 7 < low < high < 10
    told = capsys.readouterr().err
    assert f"{50 - corner.sum()} of 50 points have a result" in told
    assert "failed: a surrogate is not valid among them" in told


def test_a_table_without_failures(tmp_path: Path, points: Path) -> None:
    chunks = run(tmp_path, points, command=["echo", "{a}{b:.0f}"])
    gather(chunks, tmp_path / "table.csv", tmp_path / "failures.csv", tmp_path / "record.json")
    assert len(read_table(tmp_path / "table.csv").columns["c"]) == 50
    assert (tmp_path / "failures.csv").read_text().endswith("a:GeV,b,failure\n")
    account = read_record(tmp_path / "record.json")["account"]
    assert account == {"points": 50, "failed": 0, "reasons": {}, "failing_region": {}}


def test_columns_of_text_pass_and_the_program_is_not_told_them(tmp_path: Path) -> None:
    points = tmp_path / "points.csv"
    points.write_text("a:GeV,split\n1,train\n2,test\n")
    run_program(spec(tmp_path, command=["echo", "{a}"]), points, 0, tmp_path / "0.parquet")
    gather([tmp_path / "0.parquet"], tmp_path / "t.csv", tmp_path / "f.csv", None)
    assert (
        (tmp_path / "t.csv").read_text().endswith("a:GeV,split,c:fb\n1.0,train,1.0\n2.0,test,2.0\n")
    )


def test_what_is_wrong_is_one_error(tmp_path: Path, points: Path) -> None:
    out = tmp_path / "0.parquet"
    with refused("programs.no_chunk", chunk=3, rows=50, where=points):
        run_program(spec(tmp_path), points, 3, out)
    with refused("programs.missing", program="no-such-program"):
        run_program(spec(tmp_path, command=["no-such-program"]), points, 0, out)
    with refused("programs.no_column", field="m1", columns=["a", "b", "input"]):
        run_program(spec(tmp_path, command=["echo", "{m1}"]), points, 0, out)
    assert not out.exists()
    run_program(spec(tmp_path, command=["false"]), points, 0, out)
    with refused("programs.all_failed", points=20):
        gather([out], tmp_path / "table.csv", tmp_path / "failures.csv", None)
    run_program(spec(tmp_path, command=["echo", "1"]), points, 0, out)
    other = spec(tmp_path, command=["echo", "1"], output=OUTPUT | {"unit": "pb"})
    run_program(other, points, 1, tmp_path / "1.parquet")
    with refused("programs.other_chunk", where=tmp_path / "1.parquet"):
        gather([out, tmp_path / "1.parquet"], tmp_path / "t.csv", tmp_path / "f.csv", None)
    assert not (tmp_path / "t.csv").exists()
