"""An unusable table is refused with a message, and nothing is written."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlobayes.artifacts.contents import read_dataset
from nlobayes.artifacts.netcdf import read_attrs
from nlobayes.commands.pipeline.prepare import prepare
from nlobayes.data.selection import Selection
from nlobayes.data.table_files import to_csv_text
from nlobayes.types import Table
from tests.refusals import refused

COLUMNS = ("m1", "n11", "n12", "n13", "n14")
SPEC: dict[str, Any] = {
    "features": {"units": {}},
    "target": {},
    "split": {"train": 30, "validation": 15, "test": 15},
    "reference_points": 6,
    "units": {},
}

Change = Callable[[dict[str, np.ndarray]], None]


def write_table(path: Path, points: Selection, change: Change | None = None) -> Path:
    """Write the 60 rows as CSV, after a change to its columns."""
    columns = dict(zip(COLUMNS, points.inputs.T.copy(), strict=True))
    columns |= {"sigma_pb": points.target.copy()}
    if change:
        change(columns)
    units = {name: unit for name, unit in points.units.items() if name in columns}
    path.write_text(to_csv_text(Table(columns, units, {"seed": "5"})))
    return path


def set_cell(name: str, row: int, value: float) -> Change:
    """Set a cell; rows count from 1 as in messages."""

    def change(columns: dict[str, np.ndarray]) -> None:
        columns[name][row - 1] = value

    return change


def repeat_row(columns: dict[str, np.ndarray]) -> None:
    for values in columns.values():
        values[6] = values[2]


def rename(name: str, new: str) -> Change:
    """Give a column another name."""

    def change(columns: dict[str, np.ndarray]) -> None:
        columns[new] = columns.pop(name)

    return change


def make_constant(columns: dict[str, np.ndarray]) -> None:
    for name in COLUMNS:
        columns[name][:] = 0.25


BAD_TABLES: list[tuple[Change, str, dict[str, Any]]] = [
    (
        rename("n12", "n21"),
        "data.default_features_absent",
        {"places": ["features.columns", ""]},
    ),
    (rename("m1", "M1"), "data.default_features_absent", {"places": ["features.columns", ""]}),
    (
        rename("sigma_pb", "cross"),
        "data.default_target_absent",
        {"places": ["target.column", ""]},
    ),
    (set_cell("n13", 4, np.nan), "data.not_finite", {"name": "n13", "count": 1, "row": 4}),
    (set_cell("m1", 60, np.inf), "data.not_finite", {"name": "m1", "count": 1, "row": 60}),
    (set_cell("sigma_pb", 9, -np.inf), "data.not_finite", {"places": ["target.column"]}),
    (set_cell("sigma_pb", 9, 0.0), "data.log10_of_not_positive", {"places": ["target.scale"]}),
    (set_cell("sigma_pb", 9, -1.0), "data.log10_of_not_positive", {"places": ["target.scale"]}),
    (set_cell("m1", 2, 0.0), "data.features_not_finite", {"map": "invariants", "rows": [2]}),
    (repeat_row, "data.repeated_rows", {"count": 1, "total": 60, "row": 7, "earlier": 3}),
    (make_constant, "data.no_feature_varies", {}),
]


@pytest.mark.parametrize(("change", "code", "fields"), BAD_TABLES)
def test_bad_tables_are_refused(
    tmp_path: Path, points: Selection, change: Change, code: str, fields: dict[str, Any]
) -> None:
    table = write_table(tmp_path / "points.csv", points, change)
    with refused(code, where=table, **fields) as caught:
        prepare(json.dumps(SPEC), table, tmp_path / "out/dataset.nc")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("map_of", "said"),
    [("raw", "'n12' is 0.25"), ("invariants", "'N11^2' is 0.0625, 'N12^2' is 0.0625")],
)
@pytest.mark.parametrize("standardise", [True, False])
def test_features_that_are_constant_in_train_rows_are_named(
    tmp_path: Path,
    points: Selection,
    capsys: pytest.CaptureFixture[str],
    map_of: str,
    said: str,
    standardise: bool,
) -> None:
    """Of a map that makes features these are named. On request they are refused."""

    def change(columns: dict[str, np.ndarray]) -> None:
        columns["n12"][:30] = 0.25
        columns["n11"][:30] = np.where(np.arange(30) % 2, 0.25, -0.25)

    table, out = write_table(tmp_path / "points.csv", points, change), tmp_path / "dataset.nc"
    features = {"units": {}, "map": map_of, "standardise": standardise}
    spec = SPEC | {"features": features, "split": SPEC["split"] | {"shuffle": False}}
    with refused("data.constant_features", where=table) as caught:
        prepare(json.dumps(spec | {"features": features | {"constant": "reject"}}), table, out)
    assert said in str(caught.value)
    prepare(json.dumps(spec), table, out)
    expected = f"{said} in every train row; points with another value lie outside the domain"
    assert f"warning: {table}: {expected}\n" in capsys.readouterr().err


BAD_SPECS: list[tuple[dict[str, Any], str, dict[str, Any]]] = [
    (
        {"split": {"train": 30, "validation": 15, "test": 16}},
        "data.splits_too_large",
        {"end": 61, "requested": ["train 30", "val 15", "test 16"]},
    ),
    (
        {"split": {"train": 30, "validation": 0.01, "test": 15}},
        "data.split_is_empty",
        {"split": "val", "count": 60},
    ),
    (
        {"split": {"train": 0, "validation": 15, "test": 15}},
        "greater_than_equal",
        {"places": ["split.train", "split.train"]},
    ),
    ({"reference_points": 0}, "greater_than_equal", {"places": ["reference_points"]}),
    ({"features": {"columns": []}}, "data.no_features", {}),
    ({"features": {"columns": ["m1", "m1"]}}, "data.column_requested_twice", {"name": "m1"}),
    (
        {"features": {"columns": ["m1", "n11"]}},
        "data.map_of_other_columns",
        {"places": ["features.map"]},
    ),
    (
        {"features": {"columns": ["m1", "sigma_pb"], "map": "raw"}},
        "data.column_requested_twice",
        {"name": "sigma_pb"},
    ),
    ({"target": {"column": "m1"}}, "data.column_requested_twice", {"name": "m1"}),
    (
        {"target": {"unit": "barn"}},
        "data.unknown_unit",
        {"places": ["target.unit: column 'sigma_pb'"]},
    ),
    (
        {"target": {"unit": "GeV"}},
        "data.unit_of_another_kind",
        {"places": ["target.unit: column 'sigma_pb'"]},
    ),
    ({"units": {"sigma": "fb"}}, "data.no_column_but_close", {"places": ["source.units"]}),
    ({"units": {"sigma_pb": "fb"}}, "data.unit_declared_twice", {"places": ["source.units"]}),
    ({"spilt": {}}, "study.unknown_key", {"places": [""]}),
]


@pytest.mark.parametrize(("change", "code", "fields"), BAD_SPECS)
def test_bad_specifications_are_refused(
    tmp_path: Path, points: Selection, change: dict[str, Any], code: str, fields: dict[str, Any]
) -> None:
    table = write_table(tmp_path / "points.csv", points)
    with refused(code, **fields):
        prepare(json.dumps(SPEC | change), table, tmp_path / "out/dataset.nc")
    assert not (tmp_path / "out").exists()


def test_a_target_without_a_unit_is_refused_until_it_is_declared(
    tmp_path: Path, points: Selection
) -> None:
    bare = points._replace(units=points.units | {"sigma_pb": ""})
    table = write_table(tmp_path / "points.csv", bare)
    with refused("data.no_unit", where=table, places=["target.unit"]):
        prepare(json.dumps(SPEC), table, tmp_path / "out/dataset.nc")
    assert not (tmp_path / "out").exists()
    declared = SPEC | {"units": {"sigma_pb": "fb"}}
    prepare(json.dumps(declared), table, tmp_path / "dataset.nc")
    observed = read_dataset(tmp_path / "dataset.nc").observed
    np.testing.assert_allclose(observed, points.target / 1000, rtol=1e-15)


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("points.csv", None, "data.no_such_file"),
        ("points.csv", b"", "data.empty_file"),
        ("points.csv", b"m1,n11,n12,n13,n14,sigma_pb:pb\n", "data.no_rows"),
        ("points.csv", b"m1,sigma_pb\n1,2\n3\n", "data.cells_of_row"),
        ("points.csv", b"1,2\n3,4\n", "data.header_cell"),
        ("points.csv", b"m1,sigma_pb\n1,\xff\n", "data.unreadable_table"),
        (
            "points.csv.gz",
            gzip.compress(b"m1,sigma_pb\n1,2\n", mtime=0)[:-6],
            "data.unreadable_table",
        ),
        ("points.csv.gz", b"m1,sigma_pb\n1,2\n", "data.unreadable_table"),
        ("points.parquet", b"PAR1 and no more", "data.unreadable_table"),
        ("points.xlsx", b"", "data.unknown_format"),
    ],
)
def test_tables_that_cannot_be_read_are_refused(
    tmp_path: Path, name: str, content: bytes | None, code: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with refused(code, where=tmp_path / name):
        prepare(json.dumps(SPEC), tmp_path / name, tmp_path / "out/dataset.nc")
    assert not (tmp_path / "out").exists()


def test_equal_tables_give_equal_bytes(
    tmp_path: Path, points: Selection, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        table = write_table(Path("points.csv"), points)
        prepare(json.dumps(SPEC), table, Path("dataset.nc"))
    one, two = ((tmp_path / name / "dataset.nc").read_bytes() for name in ("one", "two"))
    assert one == two
    assert str(tmp_path).encode() not in one


def test_a_dataset_carries_its_specification_and_its_table(
    tmp_path: Path, points: Selection
) -> None:
    prepare(json.dumps(SPEC), write_table(tmp_path / "points.csv", points), tmp_path / "out.nc")
    attrs = read_attrs(tmp_path / "out.nc")
    assert attrs["verb"] == "prepare"
    defaults = {"shuffle": True, "seed": 0, "train_from": 0, "validation_from": None}
    assert attrs["spec"]["split"] == SPEC["split"] | defaults
    assert attrs["table_metadata"] == {"seed": "5"}
    assert attrs["units"]["sigma_pb"] == "pb"


PROCESS: dict[str, Any] = {
    "outgoing": [1000022, 1000022],
    "sqrt_s_tev": 13,
    "order": "NLO",
    "fixed": {"msq": {"value": 2769, "low": 2700, "high": 2800}, "m1": {"value": 1}},
}


def test_a_dataset_carries_what_its_user_states(tmp_path: Path, points: Selection) -> None:
    """Also if the table states a part; a column that is read was not fixed."""
    table, out = write_table(tmp_path / "points.csv", points), tmp_path / "out.nc"
    table.write_text("# sqrt_s_tev: 13\n" + table.read_text())
    prepare(json.dumps(SPEC | {"process": PROCESS}), table, out)
    stated = read_attrs(out)["table_metadata"]
    assert stated == {
        "seed": "5",
        "process": "p p -> chi0_1 chi0_1",
        "incoming": "2212 2212",
        "outgoing": "1000022 1000022",
        "sqrt_s_tev": "13.0",
        "order": "NLO",
        "fixed": "msq = 2769 GeV (2700 to 2800)",
    }
