"""A table that cannot be used is refused in words, and nothing is written."""

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
from nlobayes.data.tables import Selection, to_csv_text
from nlobayes.errors import InputError
from nlobayes.types import Table

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
    for name in ("n11", "n12"):
        columns[name][:] = 0.25


BAD_TABLES: list[tuple[Change, str]] = [
    (rename("n12", "n21"), "features.columns: no column 'n12' (the default; name yours, with"),
    (rename("m1", "M1"), "features.columns: no column 'm1' (did you mean 'M1'?)"),
    (rename("sigma_pb", "cross"), "target.column: no column 'sigma_pb' (the default; name yours)"),
    (set_cell("n13", 4, np.nan), "column 'n13': 1 of 60 values are not finite, first in row 4"),
    (set_cell("m1", 60, np.inf), "column 'm1': 1 of 60 values are not finite, first in row 60"),
    (set_cell("sigma_pb", 9, -np.inf), "column 'sigma_pb': 1 of 60 values are not finite"),
    (set_cell("sigma_pb", 9, 0.0), "1 of 60 values of 'sigma_pb' are not above 0, first in row 9"),
    (set_cell("sigma_pb", 9, -1.0), "target.scale: log10 takes positive targets, 1 of 60 values"),
    (set_cell("m1", 2, 0.0), "feature map 'invariants' is not finite in 1 of 60 rows (2)"),
    (repeat_row, "1 of 60 rows repeat an earlier one, first row 7 (equal to row 3)"),
    (make_constant, "feature N11^2 of map 'invariants' is 0.0625 in every train row"),
]


@pytest.mark.parametrize(("change", "said"), BAD_TABLES, ids=[said[:40] for _, said in BAD_TABLES])
def test_bad_tables_are_refused(
    tmp_path: Path, points: Selection, change: Change, said: str
) -> None:
    table = write_table(tmp_path / "points.csv", points, change)
    with pytest.raises(InputError) as caught:
        prepare(json.dumps(SPEC), table, tmp_path / "out/dataset.nc")
    assert str(caught.value).startswith(f"{table}: ")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


BAD_SPECS: list[tuple[dict[str, Any], str]] = [
    ({"split": {"train": 30, "validation": 15, "test": 16}}, "splits of 61 rows (train 30, val 15"),
    ({"split": {"train": 30, "validation": 0.01, "test": 15}}, "split val of 60 rows is empty"),
    ({"split": {"train": 0, "validation": 15, "test": 15}}, "split.train"),
    ({"reference_points": 0}, "reference_points: Input should be greater than or equal to 1"),
    ({"features": {"columns": []}}, "no features are asked for; name at least one column"),
    ({"features": {"columns": ["m1", "m1"]}}, "column 'm1' is asked for twice"),
    (
        {"features": {"columns": ["m1", "n11"]}},
        "'invariants' takes 5 columns (m, N11, N12, N13, N14)",
    ),
    ({"features": {"columns": ["m1", "sigma_pb"], "map": "raw"}}, "'sigma_pb' is asked for twice"),
    ({"target": {"column": "m1"}}, "column 'm1' is asked for twice"),
    ({"target": {"unit": "barn"}}, "column 'sigma_pb': unknown unit 'barn'; known: nb, pb, fb"),
    ({"target": {"unit": "GeV"}}, "cannot convert 'pb' (cross section) to 'GeV' (energy)"),
    ({"units": {"sigma": "fb"}}, "no column 'sigma'; did you mean 'sigma_pb'?"),
    ({"units": {"sigma_pb": "fb"}}, "is in 'pb' by its header but declared in 'fb'"),
    ({"spilt": {}}, "unknown key 'spilt'; known: ['duplicates', 'features', 'most_mb',"),
]


@pytest.mark.parametrize(("change", "said"), BAD_SPECS, ids=[said[:40] for _, said in BAD_SPECS])
def test_bad_specifications_are_refused(
    tmp_path: Path, points: Selection, change: dict[str, Any], said: str
) -> None:
    table = write_table(tmp_path / "points.csv", points)
    with pytest.raises(InputError) as caught:
        prepare(json.dumps(SPEC | change), table, tmp_path / "out/dataset.nc")
    assert said in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_a_target_without_a_unit_is_refused_until_it_is_declared(
    tmp_path: Path, points: Selection
) -> None:
    bare = points._replace(units=points.units | {"sigma_pb": ""})
    table = write_table(tmp_path / "points.csv", bare)
    with pytest.raises(InputError, match="wanted in 'pb' but names no unit; write its header as"):
        prepare(json.dumps(SPEC), table, tmp_path / "out/dataset.nc")
    assert not (tmp_path / "out").exists()
    declared = SPEC | {"units": {"sigma_pb": "fb"}}
    prepare(json.dumps(declared), table, tmp_path / "dataset.nc")
    observed = read_dataset(tmp_path / "dataset.nc").observed
    np.testing.assert_allclose(observed, points.target / 1000, rtol=1e-15)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("points.csv", None, "cannot read the table"),
        ("points.csv", b"", "the file is empty; give a header"),
        ("points.csv", b"m1,n11,n12,n13,n14,sigma_pb:pb\n", "the table has no rows"),
        ("points.csv", b"m1,sigma_pb\n1,2\n3\n", "row 2 has 1 cells where the header has 2"),
        ("points.csv", b"1,2\n3,4\n", "header cell 1 is '1'; the first line must name"),
        ("points.csv", b"m1,sigma_pb\n1,\xff\n", "cannot read the table"),
        (
            "points.csv.gz",
            gzip.compress(b"m1,sigma_pb\n1,2\n", mtime=0)[:-6],
            "cannot read the table",
        ),
        ("points.csv.gz", b"m1,sigma_pb\n1,2\n", "cannot read the table"),
        ("points.parquet", b"PAR1 and no more", "cannot read the table"),
        ("points.xlsx", b"", "unknown table format; give one of .csv, .csv.gz, .parquet"),
    ],
)
def test_tables_that_cannot_be_read_are_refused(
    tmp_path: Path, name: str, content: bytes | None, said: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as caught:
        prepare(json.dumps(SPEC), tmp_path / name, tmp_path / "out/dataset.nc")
    assert str(caught.value).startswith(f"{tmp_path / name}: ")
    assert said in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_text_among_the_numbers_is_refused(tmp_path: Path, points: Selection) -> None:
    table = write_table(tmp_path / "points.csv", points)
    lines = table.read_text().splitlines(keepends=True)
    lines[6] = lines[6].replace(lines[6].split(",")[1], "n/a", 1)
    table.write_text("".join(lines))
    with pytest.raises(InputError, match=r"column 'n11' is not numeric, row 5 holds 'n/a'"):
        prepare(json.dumps(SPEC), table, tmp_path / "dataset.nc")


def test_a_refused_table_keeps_the_old_dataset(tmp_path: Path, points: Selection) -> None:
    out = tmp_path / "dataset.nc"
    prepare(json.dumps(SPEC), write_table(tmp_path / "good.csv", points), out)
    before = out.read_bytes()
    bad = write_table(tmp_path / "bad.csv", points, set_cell("m1", 1, np.nan))
    with pytest.raises(InputError):
        prepare(json.dumps(SPEC), bad, out)
    assert out.read_bytes() == before


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


def test_a_signed_mass_is_wanted_in_gev_unless_told_otherwise(
    tmp_path: Path, points: Selection
) -> None:
    """The default features name the unit of the mass, so TeV are converted, not misread."""
    in_tev = points._replace(
        inputs=points.inputs / [1000, 1, 1, 1, 1], units=points.units | {"m1": "TeV"}
    )
    spec = json.dumps({**SPEC, "features": {}})
    prepare(spec, write_table(tmp_path / "tev.csv", in_tev), tmp_path / "tev.nc")
    masses = read_dataset(tmp_path / "tev.nc").inputs[:, 0]
    np.testing.assert_allclose(masses, points.inputs[:, 0], rtol=1e-14)
