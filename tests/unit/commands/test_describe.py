"""The tables of the figure of a dataset have its rows and the number of all rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nlobayes.artifacts.contents import write_dataset
from nlobayes.artifacts.files import read_csv, read_json
from nlobayes.commands.pipeline import describe as command
from nlobayes.commands.pipeline.describe import describe
from nlobayes.types import Dataset


def test_rows_are_those_of_the_dataset(
    dataset: Dataset, dataset_path: Path, tmp_path: Path
) -> None:
    describe(dataset_path, tmp_path, tmp_path / "record.json")
    rows = read_csv(tmp_path / "data_rows.csv")
    inputs = rows[[f"input_{k}" for k in range(1, 1 + len(dataset.input_names))]]
    np.testing.assert_allclose(inputs, dataset.inputs[rows["point"]], rtol=1e-8)
    np.testing.assert_allclose(rows["target_1"], dataset.observed[rows["point"]], rtol=1e-8)
    names = np.array(["train", "val", "test"])
    np.testing.assert_array_equal(rows["split"], names[dataset.split[rows["point"]]])
    assert len(rows) == (dataset.split >= 0).sum()
    assert read_json(tmp_path / "record.json")["verb"] == "describe"


def test_long_splits_are_thinned_at_even_distances(
    dataset: Dataset, dataset_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "MOST_ROWS", 7)
    describe(dataset_path, tmp_path)
    splits = read_csv(tmp_path / "data_splits.csv").set_index("split")
    train = np.flatnonzero(dataset.split == 0)
    assert splits.loc["train", "rows"] == len(train)
    assert splits.loc["train", "shown"] == 7
    rows = read_csv(tmp_path / "data_rows.csv")
    chosen = rows.loc[rows["split"] == "train", "point"].to_numpy()
    assert chosen[0] == train[0]
    assert chosen[-1] == train[-1]
    steps = np.diff(np.searchsorted(train, chosen))
    assert steps.max() - steps.min() <= 1


def test_a_reference_adds_the_ratio(dataset: Dataset, tmp_path: Path) -> None:
    reference = 0.5 * dataset.observed
    transforms = {**dataset.transforms}
    transforms["target"] = {**transforms["target"], "relative_to": {"column": "lo"}}
    path = tmp_path / "relative.nc"
    write_dataset(path, dataset._replace(relative_to=reference, transforms=transforms), {})
    describe(path, tmp_path)
    np.testing.assert_allclose(read_csv(tmp_path / "data_rows.csv")["ratio"], 2.0, rtol=1e-8)
    assert "sigma_pb / reference" in {*read_csv(tmp_path / "data_columns.csv")["name"]}
