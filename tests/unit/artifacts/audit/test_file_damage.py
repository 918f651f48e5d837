"""Errors of a file are listed with their place, and a correct file has none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pyarrow as pa
import pytest

from nlobayes.artifacts.audit.file_damage import inspect
from nlobayes.artifacts.contents import write_dataset, write_map
from nlobayes.artifacts.files import write_json, write_parquet
from nlobayes.artifacts.seals import seal
from nlobayes.types import Dataset, MAPEstimate

MADE = {
    "verb": "prepare",
    "code_digest": "ab12",
    "lock_digest": "cd34",
    "spec": {},
    "inputs": {},
    "versions": {},
}


@pytest.fixture
def honest(tmp_path: Path, dataset: Dataset) -> Path:
    path = tmp_path / "dataset.nc"
    write_dataset(path, dataset, MADE)
    return path


def change(path: Path, edit: Callable[[Any], object]) -> None:
    """Edit a NetCDF file and seal it again: only its content is wrong."""
    with netCDF4.Dataset(path, "a") as file:
        edit(file)
    seal(path)


def test_an_honest_artifact_has_no_problem(honest: Path) -> None:
    assert inspect(honest) == []


def spoil_features(file: Any) -> None:
    file["network/features"][2, 0] = np.nan
    file["network/features"][3, 0] = np.inf


@pytest.mark.parametrize(
    ("edit", "start"),
    [
        (spoil_features, "network/features: 2 of 300 values are not finite"),
        (lambda file: file.delncattr("inputs"), "attribute inputs is missing"),
        (lambda file: file.setncattr("units", "{}"), "attribute units names none for column m1"),
        (lambda file: file.delncattr("units"), "attribute units is None, must name the unit of"),
        (lambda file: file.setncattr("units", "GeV"), "attribute units is 'GeV', must name the"),
        (lambda file: file.delncattr("targets"), "attribute units names none for column None"),
        (lambda file: file.setncattr("kind", "table"), "attribute kind is 'table', must be one of"),
        (lambda file: file.setncattr("kind", "start"), "group 'posterior' is missing; a start has"),
        (lambda file: file.renameGroup("rows", "lines"), "group 'rows' is missing; a dataset has"),
        (
            lambda file: file["network"].renameVariable("target", "aim"),
            "network/target is missing; ",
        ),
    ],
)
def test_what_is_wrong_inside_is_listed_with_its_place(
    honest: Path, edit: Callable[[Any], object], start: str
) -> None:
    change(honest, edit)
    problems = inspect(honest)
    assert problems
    assert problems[0].startswith(start)


def test_a_missing_device_of_a_computed_artifact_is_listed(
    tmp_path: Path, make_start: Callable[..., MAPEstimate]
) -> None:
    path = tmp_path / "start.nc"
    write_map(path, make_start(0), MADE)
    assert inspect(path) == ["attribute device is missing", "attribute precision is missing"]
    write_map(path, make_start(0), MADE | {"device": "cpu", "precision": "float32"})
    assert inspect(path) == []


def test_a_changed_byte_is_listed(honest: Path) -> None:
    content = bytearray(honest.read_bytes())
    content[len(content) // 2] ^= 1
    honest.write_bytes(content)
    (problem,) = inspect(honest)
    assert problem.startswith("its bytes are not those that were written")


def table(values: list[float], **metadata: str) -> pa.Table:
    return pa.table(
        [pa.array(values)], schema=pa.schema([pa.field("m1", pa.float64(), metadata=metadata)])
    )


def test_tables_are_inspected(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    write_parquet(path, table([1.0, 2.0], unit="GeV"))
    assert inspect(path) == []
    write_parquet(path, table([1.0, np.nan]))
    assert inspect(path) == ["column m1 names no unit", "column m1: values are not finite"]
    path.write_bytes(path.read_bytes()[:-9])
    assert inspect(path)[0].startswith("cannot be read as parquet: ")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("diagnostics.json", b'{"checks": {}}', "lacks ['converged'], it has ['checks']"),
        ("verdict_0.json", b'{"met": true', "cannot read"),
        ("any.json", b'{"a": NaN}', "cannot read"),
        ("any.json", b"[" * 100_000, "cannot read"),
        ("table.csv", b"a,b\n1,2\n3\n", "line 3 has 1 cells, its header 2"),
        ("table.csv", b"a,a\n1,2\n", "has no header of different columns"),
        ("table.csv", b"", "has no header of different columns"),
        ("table.csv", b"a\n\xff\n", "cannot be read as CSV"),
        ("figure.svg", b"<?xml version='1.0'?><svg>", "is cut short, or does not match"),
        ("figure.png", b"\x89PNG\r\n\x1a\n", "is cut short, or does not match"),
        ("table.md", b"\xff", "cannot be read as UTF-8"),
        ("model.pkl", b"", "no artifact ends in '.pkl'; move it away"),
        ("gone.nc", None, "cannot read"),
    ],
)
def test_damaged_files_are_listed(
    tmp_path: Path, name: str, content: bytes | None, message: str
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    problems = inspect(path)
    assert problems
    assert message in problems[0]


def test_files_that_are_whole_have_no_problem(tmp_path: Path) -> None:
    write_json(tmp_path / "verdict_0.json", {"met": True, "draws_per_chain": 8, "checks": {}})
    (tmp_path / "table.csv").write_text('a,"b ""x"""\n1,\n')
    (tmp_path / "figure.svg").write_text("<?xml version='1.0'?><svg></svg>\n")
    (tmp_path / "table.md").write_text("| a |\n")
    assert [inspect(path) for path in tmp_path.iterdir()] == [[]] * 4
