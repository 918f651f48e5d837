"""Check of a table's header against the settings of a dataset, before anything runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from nlobayes.data.parquet_tables import to_arrow
from nlobayes.data.table_files import PREVIEWED_ROWS, preview_table, read_table
from nlobayes.errors import InputError
from nlobayes.prepared import prepared, preview
from nlobayes.study.datasets import DatasetPreset
from nlobayes.study.job_builder import prepare_job
from nlobayes.types import Table
from tests.refusals import invalid, refused

OWN: dict[str, dict[str, Any]] = {
    "features": {"columns": ["a", "b", "c"], "map": "raw", "units": {}},
    "target": {"column": "y", "unit": "", "scale": "identity"},
}
LINES = "".join(f"{n},{n * n},{-n},{n - 3}\n" for n in range(1, 11))


def write(folder: Path, header: str = "a,b,c,y", lines: str = LINES, end: str = ".csv") -> Path:
    path = folder / "mine.csv"
    path.write_text(f"{header}\n{lines}")
    if end == ".parquet":
        table = read_table(path)
        path = path.with_suffix(end)
        pq.write_table(to_arrow(table), path)
    return path


def look(path: Path, changes: Mapping[str, Any]) -> None:
    preset = {
        "source": {"kind": "table", "path": str(path), **changes.get("source", {})},
        "split": changes.get("split", {"train": 6, "validation": 2, "test": 2}),
        **{key: changes[key] for key in ("features", "target") if key in changes},
    }
    preview(prepare_job(DatasetPreset.model_validate(preset)), path)


def assert_refused(path: Path, changes: Mapping[str, Any], code: str, **fields: Any) -> InputError:
    """Check that a table is refused in one line."""
    with refused(code, **fields) as caught:
        look(path, changes)
    assert "\n" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize("end", [".csv", ".parquet"])
def test_a_table_that_fits_is_let_through(tmp_path: Path, end: str) -> None:
    look(write(tmp_path, end=end), OWN)
    in_pb = {"column": "y", "unit": "pb", "scale": "identity"}
    look(write(tmp_path, "a,b,c,y:fb", end=end), OWN | {"target": in_pb})


CASES: list[tuple[str, dict[str, Any], list[tuple[str, str]], list[str]]] = [
    (
        "a,b,c,y",
        {},
        [
            ("features.columns", "data.default_features_absent"),
            ("target.column", "data.default_target_absent"),
            ("", "data.known_columns"),
        ],
        ["'m1', 'n11', 'n12', 'n13', 'n14'", "'sigma_pb'", "a, b, c, y"],
    ),
    (
        "a,b,c,y",
        {"features": OWN["features"], "target": {"column": "y"}},
        [("target.unit", "data.no_unit"), ("target.scale", "data.log10_of_not_positive")],
        ["'pb'", "3 of 10 values of 'y'", "row 1"],
    ),
    (
        "a,b,c,y",
        OWN | {"features": {"columns": ["a", "b", "c"]}},
        [("features.map", "data.map_of_other_columns")],
        ["'invariants' takes 5", "names 3"],
    ),
    (
        "A,b,c,y",
        OWN,
        [("features.columns", "data.columns_absent"), ("", "data.known_columns")],
        ["'a' (did you mean 'A'?)"],
    ),
    (
        "n1,n2,n3,y",
        OWN | {"features": {"columns": ["n1", "n4"], "map": "raw"}},
        [("features.columns", "data.columns_absent"), ("", "data.known_columns")],
        ["'n4';"],
    ),
    (
        "a:GeV,b,c,y",
        OWN | {"features": {**OWN["features"], "units": {"a": "pb", "b": "GeV"}}},
        [
            ("features.units: column 'a'", "data.unit_of_another_kind"),
            ("features.units", "data.no_unit"),
        ],
        ["'pb'", "'b'"],
    ),
    (
        "a,b,c,y:pb",
        OWN | {"target": {"column": "y", "unit": "GeV", "scale": "identity"}},
        [("target.unit: column 'y'", "data.unit_of_another_kind")],
        ["'pb' (cross section)", "'GeV' (energy)"],
    ),
    (
        "a,b,c,y:pb",
        OWN | {"source": {"units": {"y": "fb", "z": "pb"}}},
        [("source.units", "data.unit_declared_twice")],
        ["'y'", "'pb'", "'fb'"],
    ),
    (
        "a,b,c,y",
        OWN | {"target": {**OWN["target"], "scale_variations": ["up"], "relative_error": "d"}},
        [
            ("target.scale_variations", "data.columns_absent"),
            ("target.relative_error", "data.columns_absent"),
            ("", "data.known_columns"),
        ],
        ["'up'", "'d'"],
    ),
]


@pytest.mark.parametrize(("header", "changes", "faults", "named"), CASES)
@pytest.mark.parametrize("end", [".csv", ".parquet"])
def test_every_fault_is_named_with_its_key(
    tmp_path: Path,
    header: str,
    changes: dict[str, Any],
    faults: list[tuple[str, str]],
    named: list[str],
    end: str,
) -> None:
    path = write(tmp_path, header, end=end)
    error = assert_refused(path, changes, "data.request_refused", where=path)
    found = zip(error.fields["places"], error.fields["faults"], strict=True)
    assert [*found] == faults
    for name in named:
        assert name in error.fields["reasons"]


@pytest.mark.parametrize("end", [".csv", ".parquet"])
def test_splits_that_do_not_fit_are_refused(tmp_path: Path, end: str) -> None:
    path, split = write(tmp_path, end=end), {"train": 9, "validation": 2, "test": 2}
    where, requested = f"{path}: split", ["train 9", "val 2", "test 2"]
    assert_refused(
        path,
        OWN | {"split": split},
        "data.splits_too_large",
        where=where,
        requested=requested,
        count=10,
    )


@pytest.mark.parametrize("end", [".csv", ".parquet"])
def test_of_a_table_little_is_read(tmp_path: Path, end: str) -> None:
    """Only the header is read, and the first rows of required columns."""
    rows = PREVIEWED_ROWS + 5
    columns = {name: np.arange(rows, dtype=np.float64) for name in ("a", "y")}
    path = tmp_path / f"long{end}"
    if end == ".parquet":
        pq.write_table(to_arrow(Table(columns, {"a": "GeV"}, {})), path)
    else:
        path.write_text("a:GeV,y\n" + "".join(f"{n},{n}\n" for n in range(rows)))
    table = preview_table(path, ["y", "z"])
    assert table.units["a"] == "GeV"
    assert len(table.columns["a"]) == 0
    np.testing.assert_array_equal(table.columns["y"], np.arange(PREVIEWED_ROWS))


@pytest.mark.parametrize(
    "source",
    [{"kind": "simulate"}, {"kind": "toy", "name": "xor"}, {"kind": "slha", "folder": "scan"}],
)
def test_a_table_that_is_made_here_is_known_beforehand(source: dict[str, Any]) -> None:
    columns = ["x1", "x2"] if source["kind"] == "toy" else ["m1"]
    features = {"columns": columns, "map": "raw"}
    preset = {"source": source, "split": "thesis", "features": features, "target": OWN["target"]}
    with invalid("study.no_column", where="target.column", name="y") as caught:
        DatasetPreset.model_validate(preset)
    assert f"source '{source['kind']}'" in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "code", "fields"),
    [
        ({"features": {"columns": ["a", "a"], "map": "raw"}}, "study.column_twice", {"name": "a"}),
        ({"target": {"column": "a"}}, "study.column_twice", {"name": "a"}),
        (
            {"features": {"columns": ["a"], "units": {"b": "GeV"}}},
            "study.unit_of_no_column",
            {"where": "units", "name": "b"},
        ),
    ],
)
def test_what_needs_no_table_is_refused_without_one(
    changes: dict[str, Any], code: str, fields: dict[str, Any]
) -> None:
    preset = {"source": {"kind": "table", "path": "gone.csv"}, "split": "thesis", **OWN, **changes}
    with invalid(code, **fields):
        DatasetPreset.model_validate(preset)


def test_a_column_may_state_the_splits(tmp_path: Path) -> None:
    words = ["train", "train", "validation", "test", "", "test", "train"]
    table = tmp_path / "mine.csv"
    rows = [f"{number},{number**2},{word}" for number, word in enumerate(words, 1)]
    table.write_text("\n".join(["x,y,part", *rows]))
    settings = {
        "source": {"kind": "table", "path": str(table)},
        "features": {"columns": ["x"], "map": "raw", "units": {}},
        "target": {"column": "y", "unit": "", "scale": "identity"},
        "split": {"column": "part"},
    }
    job = prepare_job(DatasetPreset.model_validate(settings))
    preview(job, table)
    dataset = prepared(read_table(table), job, table).dataset
    assert dataset.split.tolist() == [0, 0, 1, 2, -1, 2, 0]
    assert dataset.transforms["target"]["mean"] == np.mean([1, 4, 49])  # of train rows alone
    lacking = prepare_job(DatasetPreset.model_validate(settings | {"split": {"column": "parts"}}))
    with refused("data.columns_absent", places=["split.column", ""]):
        preview(lacking, table)
