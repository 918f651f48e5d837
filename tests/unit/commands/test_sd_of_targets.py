"""A column with the standard deviation of each target becomes noise of its row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlobayes.artifacts.contents import read_dataset
from nlobayes.commands.pipeline.prepare import prepare
from nlobayes.data.table_files import to_csv_text
from nlobayes.study.target import Target
from nlobayes.types import Dataset, Table
from tests.refusals import invalid, refused

ROWS = 30
X = np.linspace(-1, 1, ROWS)
SD = np.linspace(0, 7, ROWS)
LEARNED: dict[str, Any] = {"column": "y", "unit": "pb", "scale": "identity", "error": "sd"}


def prepared(folder: Path, unit: str = "pb", sd: np.ndarray = SD, **target: Any) -> Dataset:
    """Prepare a table whose target goes through zero, its errors in a unit."""
    columns = {"x": X, "y": X**3, "sd": sd}
    table = Table(columns, {"y": "pb", "sd": unit}, {})
    (folder / "table.csv").write_text(to_csv_text(table))
    spec = {
        "features": {"columns": ["x"], "map": "raw", "units": {}},
        "target": LEARNED | target,
        "split": {"train": 20, "validation": 5, "test": 5},
        "reference_points": 5,
        "units": {},
    }
    prepare(json.dumps(spec), folder / "table.csv", folder / "dataset.nc")
    return read_dataset(folder / "dataset.nc")


@pytest.mark.parametrize(("unit", "factor"), [("pb", 1.0), ("fb", 1e-3)])
def test_errors_come_in_the_unit_of_the_target(tmp_path: Path, unit: str, factor: float) -> None:
    """Also where they are larger than it, and where both are 0."""
    data = prepared(tmp_path, unit)
    assert data.error is not None
    np.testing.assert_allclose(data.error, factor * SD, rtol=1e-12)


def test_without_them_there_is_no_noise_of_a_row(tmp_path: Path) -> None:
    assert prepared(tmp_path, error=None).error is None
    assert "error" not in Target().model_dump()


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"sd": SD - 1}, "data.sd_negative"),
        ({"unit": "GeV"}, "data.request_refused"),
        ({"error": "absent"}, "data.request_refused"),
    ],
)
def test_what_is_no_standard_deviation_is_refused(
    tmp_path: Path, change: dict[str, Any], code: str
) -> None:
    with refused(code):
        prepared(tmp_path, **change)
    assert not (tmp_path / "dataset.nc").exists()


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"scale": "log10"}, "study.error_of_log10"),
        ({"relative_error": "delta"}, "study.two_errors"),
        ({"column": ["y", "z"]}, "study.of_one_column"),
        ({"scale": "classes"}, "study.of_one_column"),
    ],
)
def test_targets_that_can_have_none_are_refused(change: dict[str, Any], code: str) -> None:
    with invalid(code):
        Target.model_validate(LEARNED | change)
