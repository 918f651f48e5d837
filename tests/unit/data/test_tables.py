"""Tables read back exactly as written, and every defect of a file stops with one clear line."""

import gzip
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from nlobayes.data.request_checks import declare_units
from nlobayes.data.selection import Request, Selection, select
from nlobayes.data.table_files import JSON, PARQUET, TEXT, read_table, to_csv_text
from nlobayes.types import Table
from tests.prospino_points import PROSPINO
from tests.refusals import refused

FIXED = settings(deadline=None, derandomize=True)
PLAIN = "m1,n11,sigma_pb\n-100.5,0.25,1e-3\n200,0.5,2e-4\n300,0.75,3e-5\n"

names = st.text(st.characters(categories=["L"]), min_size=1, max_size=8).map(lambda s: f"c{s}")
texts = st.text(st.characters(categories=["L", "N", "P"]), max_size=8)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Draw any table of exact numbers, one column of text, units and metadata."""
    numeric = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    rows = draw(st.integers(1, 5))
    columns = {n: draw(st_numpy.arrays(np.float64, rows)) for n in numeric}
    columns["source"] = np.array([f'text {number}, "quoted"' for number in range(rows)])
    units = {name: draw(texts) for name in columns}
    return Table(columns, units, draw(st.dictionaries(names, texts, max_size=3)))


def assert_equal(left: Table, right: Table) -> None:
    assert left.units == right.units
    assert left.metadata == right.metadata
    assert list(left.columns) == list(right.columns)
    for name, values in left.columns.items():
        np.testing.assert_array_equal(values, right.columns[name], strict=values.dtype.kind == "f")


def from_text(tmp_path: Path, text: str) -> Table:
    path = tmp_path / "points.csv"
    path.write_text(text)
    return read_table(path)


def chosen(table: Table, **changes: Any) -> Selection:
    return select(table, Request(["m1", "n11"], ["sigma_pb"])._replace(**changes), "p.csv")


@FIXED
@given(tables())
def test_csv_reads_back_equal(tmp_path_factory: pytest.TempPathFactory, table: Table) -> None:
    path = tmp_path_factory.mktemp("csv") / "points.csv"
    path.write_bytes(to_csv_text(table).encode())
    assert_equal(read_table(path), table)


def test_units_and_metadata_of_csv(tmp_path: Path) -> None:
    text = "# sqrt(s): 13 TeV\n# PDF:toy\n# a remark\nm1:GeV, sigma_pb : pb ,n11\n1,2,0.5\n"
    table = from_text(tmp_path, text)
    assert table.units == {"m1": "GeV", "sigma_pb": "pb", "n11": ""}
    assert table.metadata == {"sqrt(s)": "13 TeV", "PDF": "toy"}
    assert table.columns["sigma_pb"].tolist() == [2.0]


def test_foreign_parquet(tmp_path: Path) -> None:
    """Integers become float64, a null becomes NaN, pandas' own metadata is left out."""
    columns = {"a": [1, 2], "b": [0.5, None], "c": ["x", None], "d": [True, False]}
    stored = pa.table(columns).replace_schema_metadata({"pandas": "{}", "seed": "1"})
    pq.write_table(stored, tmp_path / "points.parquet")
    table = read_table(tmp_path / "points.parquet")
    assert table.metadata == {"seed": "1"}
    assert table.columns["a"].dtype == np.float64
    assert table.columns["b"][0] == 0.5
    assert math.isnan(table.columns["b"][1])
    assert table.columns["c"].tolist() == ["x", ""]
    assert table.columns["d"].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("name", "content", "code", "fields"),
    [
        ("p.xlsx", b"", "data.unknown_format", {"known": [*TEXT, JSON, PARQUET]}),
        ("p.json", b"", "data.unreadable_table", {}),
        ("p.json", b"3", "data.no_json_table", {}),
        ("p.json", 100_000 * b"[", "data.unreadable_table", {}),
        ("p.json", b'{"parameters": null, "data": {"1": {"s": 1}}}', "data.grid_parameters", {}),
        ("p.json", b'{"parameters": [3], "data": {"1": {"s": 1}}}', "data.grid_parameters", {}),
        ("p.json", b'{"parameters": ["m"], "data": {"nan": {"s": 1}}}', "data.grid_key", {}),
        ("p.json", b'[{"m": "a"}]', "data.no_json_table", {}),
        ("p.json", b"[]", "data.empty_file", {}),
        ("p.json", b'{"parameters": ["m"], "data": {"x": {"s": 1}}}', "data.grid_key", {}),
        (
            "p.json",
            b'{"parameters": ["m"], "data": {"1": {"2": {"s": 1}}}}',
            "data.grid_parameters",
            {},
        ),
        (
            "p.json",
            b'{"parameters": ["m"], "data": {"1": {"2": {"s": 1}}, "3": {"s": 1}}}',
            "data.grid_of_depths",
            {},
        ),
        ("p.csv", b"", "data.empty_file", {}),
        ("p.csv", b"# only: metadata\n", "data.empty_file", {}),
        ("p.csv", b"m1,sigma\n", "data.no_rows", {}),
        ("p.csv", b"1,2\n3,4\n", "data.header_cell", {"position": 1, "name": "1"}),
        ("p.csv", b"m1,m1\n3,4\n", "data.column_twice", {"name": "m1"}),
        ("p.csv", b"m1,x\n3,4\n5", "data.cells_of_row", {"row": 2, "count": 1, "header": 2}),
        ("p.csv", b'm1,x\n3,"4\n', "data.unreadable_table", {}),
        ("p.csv.gz", gzip.compress(PLAIN.encode(), mtime=0)[:-12], "data.unreadable_table", {}),
        ("p.csv.gz", PLAIN.encode(), "data.unreadable_table", {}),
        ("p.parquet", b"PAR1 not really", "data.unreadable_table", {}),
    ],
)
def test_unreadable_files(
    tmp_path: Path, name: str, content: bytes, code: str, fields: dict[str, object]
) -> None:
    (tmp_path / name).write_bytes(content)
    with refused(code, where=tmp_path / name, **fields) as caught:
        read_table(tmp_path / name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["a:b", "#a"])
def test_names_that_would_not_read_back(name: str) -> None:
    with refused("data.name_not_writable", name=name):
        to_csv_text(Table({name: np.ones(1)}, {}, {}))
    with refused("data.name_not_writable", name=name):
        to_csv_text(Table({"a": np.ones(1)}, {}, {name: "x"}))


@pytest.mark.parametrize("text", [" a", "a\nb"])
def test_text_that_would_not_read_back(text: str) -> None:
    with refused("data.text_not_writable", text=text):
        to_csv_text(Table({text: np.ones(1)}, {}, {}))
    for metadata in ({text: "x"}, {"x": text}):
        with refused("data.text_not_writable", text=text):
            to_csv_text(Table({"a": np.ones(1)}, {}, metadata))


def test_select_orders_columns_and_converts(tmp_path: Path) -> None:
    table = from_text(tmp_path, PLAIN.replace("sigma_pb", "sigma_pb:pb"))
    units = {"sigma_pb": "fb", "n11": ""}
    selection = chosen(table, features=["n11", "m1"], units=units)
    np.testing.assert_array_equal(selection.inputs, [[0.25, -100.5], [0.5, 200], [0.75, 300]])
    np.testing.assert_allclose(selection.target, [1.0, 0.2, 0.03], rtol=1e-15)
    assert selection.units == {"n11": "", "m1": "", "sigma_pb": "fb"}


def test_missing_column_names_the_closest(tmp_path: Path) -> None:
    table, known = from_text(tmp_path, PLAIN), ["m1", "n11", "sigma_pb"]
    with refused("data.no_column", where="p.csv", name="n12", known=known):
        chosen(table, features=["n12"])
    for name, meant in (("sigma_bp", "sigma_pb"), ("M1", "m1")):
        with refused("data.no_column_but_close", name=name, meant=meant, known=known):
            chosen(table, features=[name])


@pytest.mark.parametrize(
    ("old", "new", "code", "fields"),
    [
        ("0.25", "nan", "data.not_finite", {"name": "n11", "count": 1, "total": 3, "row": 1}),
        ("2e-4", "inf", "data.not_finite", {"name": "sigma_pb", "row": 2}),
        ("300", "-3e200", "data.magnitude", {"name": "m1", "largest": 3e200}),
        ("300", "", "data.not_numeric", {"name": "m1", "row": 3, "cell": ""}),
        ("300", "1_000", "data.not_numeric", {"name": "m1", "row": 3, "cell": "1_000"}),
        ("300,0.75,3e-5", "200,0.5,2e-4", "data.repeated_rows", {"row": 3, "earlier": 2}),
    ],
)
def test_defects_of_rows(
    tmp_path: Path, old: str, new: str, code: str, fields: dict[str, object]
) -> None:
    table = from_text(tmp_path, PLAIN.replace(old, new))
    with refused(code, where="p.csv", **fields) as caught:
        chosen(table)
    assert "\n" not in str(caught.value)


def test_repeats_are_counted_and_can_be_kept(tmp_path: Path) -> None:
    table = from_text(tmp_path, PLAIN + "200,0.5,2e-4\n-100.5,0.25,1e-3\n200,0.5,2e-4\n")
    with refused("data.repeated_rows", count=3, total=6, row=4, earlier=2):
        chosen(table)
    kept = select(table, Request(["m1"], ["sigma_pb"]), "p.csv", "keep")
    assert len(kept.target) == 6


def test_defects_outside_the_selection_do_not_matter(tmp_path: Path) -> None:
    table = from_text(tmp_path, PLAIN.replace("0.25", "nan").replace("0.75", "none"))
    assert chosen(table, features=["m1"]).inputs.shape == (3, 1)


@pytest.mark.parametrize(
    ("changes", "code", "fields"),
    [
        ({"features": ["m1", "m1"]}, "data.column_requested_twice", {"name": "m1"}),
        ({"targets": ["m1"]}, "data.column_requested_twice", {"name": "m1"}),
        ({"features": []}, "data.no_features", {}),
        ({"units": {"sigma": "pb"}}, "data.unit_of_unselected", {"name": "sigma"}),
        ({"units": {"sigma_pb": "fb"}}, "data.no_unit", {"name": "sigma_pb", "requested": "fb"}),
        (
            {"units": {"m1": "pb"}},
            "data.unit_of_another_kind",
            {"where": "p.csv: column 'm1'", "unit": "GeV", "requested": "pb"},
        ),
    ],
)
def test_questions_refused(
    tmp_path: Path, changes: dict, code: str, fields: dict[str, object]
) -> None:
    table = from_text(tmp_path, PLAIN.replace("m1", "m1:GeV"))
    with refused(code, **({"where": "p.csv"} | fields)):
        chosen(table, **changes)


@pytest.mark.skipif(not PROSPINO.exists(), reason=f"the public table is not at {PROSPINO}")
def test_prospino_table() -> None:
    """The public Prospino points: 12 480 rows whose median cross section is known."""
    table = declare_units(read_table(PROSPINO), {"sigma_fb": "fb"}, source=PROSPINO.name)
    request = Request(["m1", "n11", "n12", "n13", "n14"], ["sigma_fb"], {"sigma_fb": "pb"})
    selection = select(table, request, PROSPINO.name)
    assert selection.inputs.shape == (12480, 5)
    np.testing.assert_allclose(np.sum(selection.inputs[:, 1:] ** 2, axis=1), 1, atol=1e-3)
    np.testing.assert_array_equal(selection.target, table.columns["sigma_fb"] / 1000)
