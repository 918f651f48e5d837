"""Images of some classes by principal components: prepared, stored, shown or refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlobayes.artifacts.contents import read_dataset
from nlobayes.commands.audit.show import show
from nlobayes.commands.pipeline.prepare import prepare
from nlobayes.data.splits import TEST, TRAIN, VALIDATION
from nlobayes.data.table_files import to_csv_text
from nlobayes.data.transforms import apply_features, feature_transform
from nlobayes.prepared import preview
from nlobayes.study.datasets import DatasetPreset
from nlobayes.study.job_builder import prepare_job
from nlobayes.study.jobs import PrepareJob
from nlobayes.types import Table
from tests.refusals import invalid, refused

PIXELS = tuple(f"pixel_{number}" for number in range(9))
PRESET: dict[str, Any] = {
    "source": {"kind": "table", "path": "digits.csv"},
    "rows": {"column": "digit", "among": [1, 3, 4]},
    "features": {"columns": PIXELS, "map": "raw", "units": {}, "components": 4},
    "target": {"column": "digit", "unit": "", "scale": "classes"},
    "split": {"train": 8, "validation": 3, "test": 5, "per_class": True},
    "reference_points": 6,
}


def job(**changes: Any) -> PrepareJob:
    merged = {
        key: value | changes.pop(key) if isinstance(changes.get(key), dict) else value
        for key, value in PRESET.items()
    }
    return prepare_job(DatasetPreset.model_validate(merged | changes))


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """100 images, 20 of each of five digits, and a column that only the digit 0 lacks."""
    rng = np.random.default_rng(2)
    digits = np.resize(np.arange(5.0), 100)
    pixels = rng.normal(size=(5, 9))[digits.astype(int)] + rng.normal(size=(100, 9))
    columns = dict(zip(PIXELS, pixels.T, strict=True))
    columns |= {"digit": digits, "of_some": np.where(digits == 0, np.nan, digits)}
    path = tmp_path / "digits.csv"
    path.write_text(to_csv_text(Table(columns, {}, {})))
    return path


def prepared(table: Path, specification: PrepareJob) -> Path:
    out = table.with_name("digits.nc")
    prepare(specification.model_dump_json(), table, out)
    return out


def test_a_dataset_has_its_classes_alone_in_equal_parts(table: Path) -> None:
    data = read_dataset(prepared(table, job()))
    assert data.transforms["target"]["labels"] == [1, 3, 4]
    for split, rows in ((TRAIN, 8), (VALIDATION, 3), (TEST, 5)):
        _, counts = np.unique(data.target[data.split == split], return_counts=True)
        assert counts.tolist() == [rows] * 3
    assert len(np.unique(data.inputs, axis=0)) == len(data.inputs) == 60


def test_components_are_stored_and_are_of_the_train_rows(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the covariance of the train rows of the stored columns, up to signs."""
    path = prepared(table, job())
    data = read_dataset(path)
    assert data.feature_names == ("PC 1", "PC 2", "PC 3", "PC 4")
    trained = data.inputs[data.split == TRAIN]
    variance, directions = np.linalg.eigh(np.cov(trained.T, bias=True))
    largest = directions[:, ::-1][:, :4]
    expected = (data.inputs - trained.mean(axis=0)) @ largest / np.sqrt(variance[::-1][:4])
    signs = np.sign(np.sum(expected * data.features, axis=0))
    np.testing.assert_allclose(data.features, signs * expected, rtol=1e-9, atol=1e-9)
    again = apply_features(feature_transform(data.transforms["features"]), data.inputs)
    np.testing.assert_array_equal(data.features, again)
    kept = np.cumsum(variance[::-1][:4]) / variance.sum()
    explained = np.cumsum(data.transforms["features"]["explained"])
    np.testing.assert_allclose(explained, kept, rtol=1e-12)
    show(path, json=True)
    shown = json.loads(capsys.readouterr().out)["numbers"]
    assert shown["variance explained by the first 1, 2, ..."] == ", ".join(f"{k:.3f}" for k in kept)


@pytest.mark.parametrize(
    ("changes", "code", "where"),
    [
        ({"rows": {"among": [1, 3, 7]}}, "data.no_such_rows", "rows.among"),
        ({"rows": {"column": "digt"}}, "data.no_column_but_close", "rows.column"),
        ({"split": {"train": 14}}, "data.splits_too_large", "class 1"),
        ({"features": {"components": 10}}, "data.more_components_than_features", ""),
    ],
    ids=["value", "column", "rows", "components"],
)
def test_what_a_table_cannot_give_is_refused_before_and_when_it_is_read(
    table: Path, changes: dict[str, Any], code: str, where: str
) -> None:
    with refused(code) as caught:
        prepared(table, job(**changes))
    assert where in str(caught.value)
    assert "\n" not in str(caught.value)
    with refused(code) as before:
        preview(job(**changes), table)
    assert where in str(before.value)
    assert str(table) in str(before.value)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"image": [2, 4]}, "study.image_of_other_columns"),
        ({"image": [3, 3], "split": {"train": 8, "validation": 3, "test": 5}}, None),
        ({"image": [3, 3], "target": {"column": "digit", "unit": ""}}, "study.image_of_numbers"),
    ],
    ids=["pixels", "fits", "numbers"],
)
def test_an_image_has_as_many_pixels_as_columns_and_is_of_classes(
    changes: dict[str, Any], code: str | None
) -> None:
    plain = PRESET | {"split": {"train": 8, "validation": 3, "test": 5}}
    if code is None:
        assert DatasetPreset.model_validate(plain | changes).image == (3, 3)
        return
    with invalid(code, where="image"):
        DatasetPreset.model_validate(plain | changes)
