"""Text tables as people have them are read to the same numbers by both readers, or refused."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlobayes.data.cells import hint_of, unread
from nlobayes.data.row_chunks import numbers
from nlobayes.data.selection import finite_numbers
from nlobayes.data.table_files import open_table, read_table
from nlobayes.types import Table
from tests.prospino_points import SHARED
from tests.refusals import refused

INPUTS = SHARED / "data/inputs"
FINITE = st.floats(allow_nan=False, allow_infinity=False)
DECISIVE = 0.5
"""Number whose decimal mark cannot separate thousands."""


def read(
    folder: Path, content: str | bytes, names: Sequence[str] = (), name: str = "table.csv"
) -> Table:
    """Read a table at once, and check that reading it in chunks gives the same."""
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    table = read_table(path, names=names)
    assert_same_in_chunks(path, table, names)
    return table


def assert_same_in_chunks(path: Path, table: Table, names: Sequence[str] = ()) -> None:
    wanted = [name for name, cells in table.columns.items() if cells.dtype.kind == "f"]
    with open_table(path, wanted, 7, names=names) as source:
        assert source.units == table.units
        values = [numbers(source, one, dict.fromkeys(wanted, ""))[0] for one in source.chunks]
    for name, cells in zip(wanted, np.concatenate(values).T, strict=True):
        np.testing.assert_array_equal(cells, table.columns[name], strict=True)


def rows_of(table: Table) -> list[list[Any]]:
    """Return the cells row by row."""
    return [list(row) for row in zip(*(c.tolist() for c in table.columns.values()), strict=True)]


@st.composite
def written(draw: st.DrawFn) -> tuple[bytes, list[str], np.ndarray]:
    """Draw a table of numbers, written in any notation, with the names that it does not hold."""
    values = np.array(draw(st.lists(st.tuples(FINITE, FINITE), min_size=1, max_size=4)))
    values = np.column_stack([np.full(len(values), DECISIVE), values])
    separator, end = draw(st.sampled_from(",;\t| ")), draw(st.sampled_from(["\n", "\r\n", "\r"]))
    mark = "." if separator == "," else draw(st.sampled_from(".,"))
    text = io.StringIO()
    quoting: Any = draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    writer = csv.writer(text, delimiter=separator, lineterminator="\n", quoting=quoting)
    header, names = draw(st.sampled_from(["first", "comment", "none"])), ["m", "tan b", "sigma"]
    if header == "first":
        writer.writerow(names if separator != " " else ["m", "tan_b", "sigma"])
    writer.writerows([[repr(x).replace(".", mark) for x in row] for row in values.tolist()])
    lines = text.getvalue().splitlines()
    if separator != " " and draw(st.booleans()):
        lines = [line + separator for line in lines]
    padding = draw(st.sampled_from(["", " ", "  "]))
    lines = [line.replace(separator, separator + padding) for line in lines]
    lines += draw(st.sampled_from([[], [""], ["", "", ""]]))
    if header == "comment":
        lines.insert(0, "# m, tan_b, sigma")
    if draw(st.booleans()):
        lines.insert(0, "# energy: 13 TeV")
    encoding = draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
    given_names = names if header == "none" else []
    return (end.join(lines) + end).encode(encoding), given_names, values


@settings(deadline=None, derandomize=True, max_examples=200)
@given(written())
def test_numbers_are_the_same_in_any_notation(
    tmp_path_factory: pytest.TempPathFactory, case: tuple[bytes, list[str], np.ndarray]
) -> None:
    content, names, values = case
    table = read(tmp_path_factory.mktemp("t"), content, names)
    assert len(table.columns) == 3
    np.testing.assert_array_equal(np.array(rows_of(table)), values, strict=True)


@pytest.mark.parametrize(
    ("text", "names", "rows"),
    [
        ("sep=;\nm;s\n1,5;2,5\n", ["m", "s"], [[1.5, 2.5]]),
        ('m, "s"\n1, "2"\n', ["m", "s"], [[1, 2]]),
        ("m,s,,\n1,2,,\n,,,\n3,4,,\n,,,\n", ["m", "s"], [[1, 2], ["", ""], [3, 4]]),
        ("m,s\n1,2,\n", ["m", "s"], [[1, 2]]),
        ("  m   s\n  1   2\n", ["m", "s"], [[1, 2]]),
        ("m1 m2\n100 200\n100 300\n", ["m1", "m2"], [[100, 200], [100, 300]]),
        ("sigma pb\n1\n2\n", ["sigma pb"], [[1], [2]]),
        ("m,tags\n1,a;b\n2,c;d\n", ["m", "tags"], [[1, "a;b"], [2, "c;d"]]),
        (",m\n0,1\n1,3\n", ["unnamed 1", "m"], [[0, 1], [1, 3]]),
        (",Unnamed: 0,m\n0,0,1\n", ["unnamed 1", "Unnamed: 0", "m"], [[0, 0, 1]]),
        ("m,,s\n1,,2\n", ["m", "unnamed 2", "s"], [[1, "", 2]]),
        ('"m" "s"\n"1" 5 2\n"2" 3 4\n', ["unnamed 1", "m", "s"], [[1, 5, 2], [2, 3, 4]]),
        ("# by a program\n#\n# m  s\n1 2\n\n3 4\n", ["m", "s"], [[1, 2], [3, 4]]),
        ('"m\n(GeV)",s\n1,2\n', ["m (GeV)", "s"], [[1, 2]]),
        ("mass,8 TeV,13 TeV\n1,2,3\n", ["mass", "8 TeV", "13 TeV"], [[1, 2, 3]]),
    ],
)
def test_forms_of_headers_and_rows(
    tmp_path: Path, text: str, names: list[str], rows: list[list[Any]]
) -> None:
    table = read(tmp_path, text)
    assert [*table.columns] == names
    found = [[float(c) if c and str(c)[0].isdigit() else c for c in row] for row in rows_of(table)]
    assert found == rows


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("m:GeV,s\n1,2\n", {"m": "GeV"}),
        ("m [gev],s (PB),t (deg)\n1,2,3\n", {"m [gev]": "GeV", "s (PB)": "pb"}),
        ("m,s,t\nGeV,[pb],-\n1,2,3\n", {"m": "GeV", "s": "pb"}),
        ("# m [GeV]  s [pb]\n1 2\n", {"m [GeV]": "GeV", "s [pb]": "pb"}),
        ("# m s\n# GeV pb\n1 2\n", {"m": "GeV", "s": "pb"}),
        ("m,s\n12.5 GeV,1\n13 GeV,2\n", {"m": "GeV"}),
        ("Unnamed: 0,a:b\n0,1\n", {"a": "b"}),
        ("model,unit\nCMSSM,pb\nMSSM,fb\n", {}),
    ],
)
def test_units_are_found(tmp_path: Path, text: str, units: dict[str, str]) -> None:
    table = read(tmp_path, text + "1,2\n" * ("Unnamed" in text))
    assert {name: unit for name, unit in table.units.items() if unit} == units


@pytest.mark.parametrize(
    ("cells", "beside", "expected"),
    [
        (["7,440.02", "999"], "1", [7440.02, 999]),
        (["7,440", "8,100"], "1.5", [7440, 8100]),
        (["1.234,56", "999,5"], "1", [1234.56, 999.5]),
        (["7'440", "7 440.5"], "1.5", [7440, 7440.5]),
        (["12.1%", "13 %"], "1", [0.121, 0.13]),
        (["12.3 GeV", "13GeV"], "1", [12.3, 13]),
        (["1.0D+02", "2.5d-1"], "1", [100, 0.25]),
        (["True", "false"], "1", [1, 0]),
    ],
)
def test_numbers_with_further_marks(
    tmp_path: Path, cells: list[str], beside: str, expected: list[float]
) -> None:
    text = "m;s\n" + "".join(f"{cell};{beside}\n" for cell in cells)
    assert read(tmp_path, text).columns["m"].tolist() == expected


@pytest.mark.parametrize(
    ("cells", "beside", "hint"),
    [
        (["7,440", "8,100"], "1", "thousands or decimals"),
        (["7,440", "0,5"], "1.5", "thousands or decimals"),
        (["1", "12.1%", "3"], "1", "% must follow every number"),
        (["13", "12.3 GeV", "14"], "1", "GeV must follow every number"),
        (["12.3 MeV", "13 MeV"], "1", "'MeV' is no known unit"),
    ],
)
def test_what_may_mean_two_numbers_is_refused_by_its_cell(
    tmp_path: Path, cells: list[str], beside: str, hint: str
) -> None:
    text = "m;s\n" + "".join(f"{cell};{beside}\n" for cell in cells)
    table = read(tmp_path, text)
    row = next(row for row, cell in enumerate(cells) if hint_of(cell))
    assert row in unread(table.columns["m"].tolist())
    with refused("data.not_numeric", name="m", row=row + 1, cell=cells[row]) as caught:
        finite_numbers(table, "m", "t.csv")
    assert hint in str(caught.value)


@pytest.mark.parametrize(
    ("content", "names", "code", "fields"),
    [
        ("m,s\n3,4\n", ["a", "b"], "data.names_beside_header", {"known": ["m", "s"]}),
        ("1,2\n3,4\n", ["a"], "data.cells_of_row", {"row": 1, "count": 2, "header": 1}),
        ("m;s;t\n1;2\n", [], "data.cells_of_row", {"row": 1, "count": 2, "header": 3}),
        ("m s\n1 2\n3\n", [], "data.cells_of_row", {"row": 2, "count": 1, "header": 2}),
        ("m,s\n1,2\n# end\n", [], "data.cells_of_row", {"row": 2}),
    ],
)
def test_what_is_no_table_is_refused(
    tmp_path: Path, content: str | bytes, names: list[str], code: str, fields: dict[str, Any]
) -> None:
    with refused(code, where=tmp_path / "table.csv", **fields) as caught:
        read(tmp_path, content, names)
    assert "\n" not in str(caught.value)


def test_output_of_prospino_has_its_columns(tmp_path: Path) -> None:
    """Its names are in a line at the end; charged Higgs bosons have another last column."""
    row = "1  1  0.0  0.0  1.0  96.3  -179.4  0.0  0.9E-03 0.8E-03 0.1E-02 0.6E-03 1.26"
    legend = "i1 i2  dummy0 dummy1 scafac  m1  m2  angle LO[pb] rel_error NLO[pb] rel_error K ..."
    table = read(tmp_path, f"nn {row} 0.5 0.6\n\n {legend}\nhh {row} 0.7\n\n {legend}\n")
    assert table.columns["proc"].tolist() == ["nn", "hh"]
    assert table.units["m2"] == "GeV"
    assert table.units["NLO_ms"] == table.units["LO"] == "pb"
    np.testing.assert_array_equal(table.columns["NLO_ms"], [0.6, np.nan])
    np.testing.assert_array_equal(table.columns["m2"], [-179.4, -179.4])


REFUSED = {
    "noheader.csv": "data.header_cell",
    "ragged.csv": "data.cells_of_row",
    "dup_header.csv": "data.column_twice",
    "pa_dup.parquet": "data.column_twice",
    "pa_list.parquet": "data.nested_column",
    "plain.feather": "data.unknown_format",
}
"""Public inputs that are refused as files."""
OF_THE_SAME_ROWS = (
    *("blank_lines.csv", "decimal_comma.csv", "excel_sep.csv", "pandas_index.csv", "plain.txt"),
    *("pandas_index_named.csv", "quoted_spaces.csv", "savetxt.csv", "spaces.dat", "named.csv.gz"),
    *("spaces_header.csv", "spaces_in.csv", "tab_in.csv", "trailing_comma.csv", "tsv.tsv"),
    *("units_row2.csv", "bool.csv", "pd_plain.parquet"),
)
"""Public inputs that differ from `plain.csv` in their form alone."""


def public_inputs() -> list[Path]:
    return [path for path in sorted(INPUTS.glob("*.*")) if path.suffix != ".md"]


@pytest.mark.parametrize("path", public_inputs() or [None], ids=lambda path: path and path.name)
def test_public_inputs_are_read_or_refused(path: Path | None) -> None:
    if path is None:
        pytest.skip("the public inputs are not on this machine (NLOBAYES_SHARED)")
    if path.name in REFUSED:
        with refused(REFUSED[path.name], where=path):
            read_table(path)
        return
    table = read_table(path)
    assert_same_in_chunks(path, table)
    if path.name in OF_THE_SAME_ROWS:
        plain = read_table(INPUTS / "plain.csv").columns
        for name, cells in plain.items():
            np.testing.assert_array_equal(table.columns[name], cells, strict=True)
