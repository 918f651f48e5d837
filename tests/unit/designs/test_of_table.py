"""Designs of a user's table: a pool whose rows are taken once, and a list of points."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from nlobayes.designs import Design
from nlobayes.errors import InputError

TEXT = "# made by hand\nm1:TeV,n,sigma\n" + "".join(f"{m},{m / 10},9\n" for m in range(1, 21))


@pytest.fixture(autouse=True)
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "points.csv"
    path.write_text(TEXT)
    return path


def design(kind: str, **settings: Any) -> Design:
    given = {"path": "points.csv", "columns": ["m1", "n"], "units": {"m1": "GeV"}, "kind": kind}
    return TypeAdapter(Design).validate_python(given | settings)


def test_a_list_has_all_rows_in_their_order_and_unit() -> None:
    of = design("list")
    assert of.rows == 20
    points = of.compute()
    np.testing.assert_array_equal(points["m1"], 1000.0 * np.arange(1, 21))
    np.testing.assert_allclose(points["n"], np.arange(1, 21) / 10)
    assert (of.columns, of.units, of.given) == (("m1", "n"), {"m1": "GeV"}, "points.csv")


def test_rows_are_counted_in_packed_text_and_stated_of_parquet(tmp_path: Path) -> None:
    (tmp_path / "points.csv.gz").write_bytes(gzip.compress(TEXT.encode()))
    assert design("list", path="points.csv.gz").rows == 20
    (tmp_path / "points.parquet").write_bytes(b"")
    with pytest.raises(ValidationError, match="state their number"):
        design("list", path="points.parquet")
    assert design("list", path="points.parquet", points=7).rows == 7


def test_a_pool_gives_each_row_once(table: Path) -> None:
    with table.open("a") as file:
        file.write("1,0.1,9\n2,0.2,8\n")  # repeat rows 1 and 2
    of = design("pool", points=5)
    start = of.compute()
    assert of.rows == 5
    more = of.random(4, seed=1)
    rest = of.random(100, seed=2, taken=more)
    masses = [*start["m1"], *more["m1"], *rest["m1"]]
    assert sorted(masses) == [1000.0 * m for m in range(1, 21)]
    np.testing.assert_array_equal(of.random(2, seed=1)["n"], more["n"][:2])
    assert len(of.random(3, seed=0, taken=of.random(100, seed=0))["m1"]) == 0


def test_a_pool_chooses_at_random() -> None:
    firsts = {design("pool", points=1, seed=seed).compute()["m1"][0] for seed in range(60)}
    assert len(firsts) > 15  # of 20 rows; 60 draws miss 1 on average, 5 and more in 1 of 10^4 cases


def test_planning_a_list_loads_no_numerics() -> None:
    program = """
import sys
from nlobayes.designs.list import ListDesign
assert ListDesign(kind="list", path="points.csv", columns=["m1"], units={"m1": "GeV"}).rows == 20
sys.exit("numpy" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.parametrize(
    ("changes", "appended", "code"),
    [
        ({"units": {}}, "", "designs.unit_not_stated"),
        ({"units": {"m1": "pb"}}, "", "data.unit_of_another_kind"),
        ({"columns": ["m1", "m9"]}, "", "data.no_column"),
        ({}, "3,0.3,1\n", "designs.row_twice"),
        ({"points": 21}, "", "designs.other_rows"),
        ({}, "x,0.5,2\n", "data.not_numeric"),
        ({}, "nan,0.5,2\n", "data.not_finite"),
    ],
)
def test_a_list_that_is_none_is_one_line(
    table: Path, changes: dict[str, Any], appended: str, code: str
) -> None:
    with table.open("a") as file:
        file.write(appended)
    with pytest.raises(InputError) as caught:
        design("list", **changes).compute()
    assert caught.value.code == code
    assert len(str(caught.value).splitlines()) == 1


def test_what_a_table_cannot_give_is_one_line() -> None:
    with pytest.raises(InputError, match="20 different rows, but 21"):
        design("pool", points=21).compute()
    with pytest.raises(InputError, match="no points beside its rows"):
        design("list").random(1, seed=0)
    for changes, words in (
        ({"path": "no.csv"}, "no table no.csv"),
        ({"path": "../points.csv"}, "path"),
        ({"units": {"m9": "GeV"}}, "no column of the design"),
    ):
        with pytest.raises(ValidationError, match=words):
            design("list", **changes)
