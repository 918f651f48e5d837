"""A column names groups of rows; the dataset stores it, and each group is scored separately."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlobayes.artifacts.contents import read_dataset, write_dataset
from nlobayes.artifacts.netcdf import open_artifact, read_attrs
from nlobayes.commands.pipeline.evaluate import evaluate
from nlobayes.commands.pipeline.prepare import prepare
from nlobayes.data.selection import Selection
from nlobayes.data.splits import SPLITS, TEST, TRAIN
from nlobayes.data.table_files import to_csv_text
from nlobayes.prepared import preview
from nlobayes.study.datasets import DatasetPreset
from nlobayes.study.job_builder import prepare_job
from nlobayes.types import Dataset, RowGroups, Table
from tests.refusals import refused

COLUMNS = ("m1", "n11", "n12", "n13", "n14")
QUALITY = np.resize(["measured", "guessed", "measured"], 60)
SPEC: dict[str, Any] = {
    "features": {"units": {}},
    "target": {},
    "split": {"train": 30, "validation": 15, "test": 15},
    "reference_points": 6,
    "units": {},
}
JOB = {"noise": "gaussian", "calibration": {}, "covariate": "m1", "seed": 3}

NOT_OF_GROUPS = ("monte_carlo_error", "coverage_68_worst_slab")


@pytest.fixture
def table(points: Selection, tmp_path: Path) -> Path:
    columns = dict(zip(COLUMNS, points.inputs.T, strict=True))
    columns |= {"sigma_pb": points.target, "quality": QUALITY}
    units = {name: unit for name, unit in points.units.items() if name in columns}
    path = tmp_path / "points.csv"
    path.write_text(to_csv_text(Table(columns, units, {})))
    return path


def prepared(table: Path, **changes: Any) -> Path:
    out = table.with_name(f"{len(changes)}.nc")
    prepare(json.dumps(SPEC | changes), table, out)
    return out


def test_every_row_of_a_dataset_keeps_its_label(table: Path) -> None:
    groups = read_dataset(prepared(table, groups="quality")).groups
    assert groups is not None
    assert [groups.labels[code] for code in groups.codes] == QUALITY.tolist()
    assert groups.column == "quality"


def test_groups_change_nothing_else_of_a_dataset(table: Path) -> None:
    """Without groups neither the file nor its specification has the key."""
    plain, grouped = prepared(table), prepared(table, groups="quality")
    before, after = read_attrs(plain), read_attrs(grouped)
    assert "groups" not in before
    assert "groups" not in before["spec"]
    assert after.pop("groups") == {"column": "quality", "labels": ["guessed", "measured"]}
    assert after["spec"].pop("groups") == "quality"
    assert {**after, "inputs": 0} == {**before, "inputs": 0}
    rows = open_artifact(grouped, "dataset").groups["rows"]
    assert rows.drop_vars("group").identical(open_artifact(plain, "dataset").groups["rows"])


@pytest.mark.parametrize("column", ["qualty", "m1"])
def test_a_column_that_names_no_groups_is_refused_before_and_when_it_is_read(
    table: Path, column: str
) -> None:
    """A mass has as many values as rows, and these are not whole."""
    code = {"qualty": "data.columns_absent", "m1": "data.group_not_whole"}[column]
    with refused(code, places=["groups", *([""] if column == "qualty" else [])]) as caught:
        prepared(table, groups=column)
    assert "\n" not in str(caught.value)
    source = {"kind": "table", "path": str(table)}
    preset = {"source": source, "features": {"units": {}}, "split": SPEC["split"]}
    with refused(code):
        preview(prepare_job(DatasetPreset.model_validate(preset | {"groups": column})), table)


@pytest.fixture
def scored(
    make_predictions: Callable[..., tuple[Path, Path]], dataset: Dataset, tmp_path: Path
) -> Callable[[RowGroups | None], dict[str, Any]]:
    """Score predictions of a dataset of 240 rows whose groups are named."""
    names = ("inputs", "features", "target", "observed")
    many: Any = {name: np.concatenate([getattr(dataset, name)] * 4) for name in names}
    split = np.repeat([TRAIN, 1, TEST, TEST], 60)
    predictions, path = make_predictions(tmp_path, dataset._replace(**many, split=split))

    def score(groups: RowGroups | None) -> dict[str, Any]:
        write_dataset(path, read_dataset(path)._replace(groups=groups), {})
        evaluate(json.dumps(JOB), predictions, path, tmp_path / "out.json")
        found: dict[str, Any] = json.loads((tmp_path / "out.json").read_text())
        return found

    return score


def test_scores_of_a_group_are_those_of_its_rows(
    scored: Callable[[RowGroups | None], dict[str, Any]], tmp_path: Path
) -> None:
    """RMSE and median error by hand; scores of all rows as without groups."""
    plain, codes = scored(None), np.random.default_rng(1).integers(0, 2, 240)
    found = scored(RowGroups("quality", ("bad", "good", "none"), codes))
    data = read_dataset(tmp_path / "dataset.nc")
    f = open_artifact(tmp_path / "predictions.nc", "predictions").groups["predictions"]["f"].values
    residual = f.mean(axis=(0, 1)) - np.log10(data.observed)
    for label, name in enumerate(SPLITS):
        groups = found[name].pop("groups", None)
        assert found[name] == plain[name]
        if name == "train":
            assert groups is None
            continue
        assert groups.keys() <= {"bad", "good"}
        for code, group in enumerate(("bad", "good")):
            rows = (data.split == label) & (codes == code)
            if rows.sum() < 30:
                assert str(rows.sum()) in groups[group]
                continue
            assert groups[group]["points"] == rows.sum()
            expected = np.sqrt(np.mean(residual[rows] ** 2))
            assert groups[group]["rmse_log10"] == pytest.approx(expected, rel=1e-12)
            of_rows = {key for key in plain[name] if not key.startswith(NOT_OF_GROUPS)}
            assert groups[group].keys() - {"points"} == of_rows
