"""The embedded table, in both formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlobayes.commands.pipeline.simulate import simulate
from nlobayes.data.table_files import read_table
from tests.refusals import refused

SPEC = '{"source": {"kind": "simulate", "points": 3, "seed": 4}}'


@pytest.mark.parametrize("name", ["table.nc", "table", "table.csv.gz", "table.parquet.bak"])
def test_another_suffix_is_refused_before_anything_is_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def compute(*_: Any) -> None:
        raise AssertionError

    monkeypatch.setattr("nlobayes.data.simulators.simulate.scan_table", compute)
    with refused("commands.table_ending", where="--out", path=tmp_path / name):
        simulate(SPEC, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_both_formats_hold_the_same_numbers_with_units(tmp_path: Path) -> None:
    for suffix in ("csv", "parquet"):
        simulate(SPEC, tmp_path / f"table.{suffix}")
    csv, parquet = (read_table(tmp_path / f"table.{suffix}") for suffix in ("csv", "parquet"))
    assert csv.units == parquet.units
    assert csv.units["sigma_pb"] == "pb"
    assert csv.metadata == parquet.metadata
    assert csv.columns.keys() == parquet.columns.keys()
    for name, values in csv.columns.items():
        assert values.tobytes() == np.ascontiguousarray(parquet.columns[name]).tobytes()
        assert len(values) == 3


def test_rows_that_were_compared_with_nothing_are_announced_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "table.csv"
    simulate(SPEC, out)
    assert capsys.readouterr().err == ""
    simulate(SPEC.replace('"seed"', '"sqrt_s_tev": 8, "seed"'), out)
    assert capsys.readouterr().err == (
        "warning: no other calculation was compared with 3 of 3 rows at 8 TeV (13 to 13.6 were)\n"
    )


def test_every_setting_reaches_the_table(tmp_path: Path) -> None:
    changes = '"pair": [3, 1], "scan": "log", "squark_mass_gev": {"low": 2500, "high": 5000}'
    simulate(SPEC.replace('"points"', f'{changes}, "points"'), tmp_path / "table.csv")
    table = read_table(tmp_path / "table.csv")
    assert [*table.columns][:11] == [
        *("m1", "n11", "n12", "n13", "n14", "m3", "n31", "n32", "n33", "n34", "msq")
    ]
    assert table.metadata["scan"].startswith("log; ")
    assert 2500 <= table.columns["msq"].min() < table.columns["msq"].max() <= 5000


def test_a_table_of_the_user_is_not_simulated(tmp_path: Path) -> None:
    with refused("study.not_computed"):
        simulate('{"source": {"kind": "table", "path": "a.csv"}}', tmp_path / "table.csv")
