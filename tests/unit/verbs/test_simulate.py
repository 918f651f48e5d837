"""The embedded table, in both formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlobayes.data.tables import read_table
from nlobayes.errors import InputError
from nlobayes.verbs.simulate import simulate

SPEC = '{"source": {"kind": "simulate", "points": 3, "seed": 4}}'


@pytest.mark.parametrize("name", ["table.nc", "table", "table.csv.gz", "table.parquet.bak"])
def test_another_suffix_is_refused_before_anything_is_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def compute(*_: Any) -> None:
        raise AssertionError

    monkeypatch.setattr("nlobayes.data.physics.source.simulate", compute)
    with pytest.raises(InputError, match=r"--out: .* must end in \.csv or \.parquet"):
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
