"""What pretraining writes, and what it refuses before it builds a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlobayes import build
from nlobayes.artifacts.contents import read_start
from nlobayes.errors import InputError
from nlobayes.study.jobs import ModelJob
from nlobayes.types import Dataset
from nlobayes.verbs.pretrain import pretrain

MODEL: dict[str, Any] = {
    "network": {"hidden": [2]},
    "prior": {"kind": "fan_in"},
    "likelihood": {"kind": "tolerance", "sigma": 0.1},
    "precision": "float64",
}


def test_the_path_leads_from_the_starting_point_to_the_map(
    dataset: Dataset, dataset_path: Path, tmp_path: Path
) -> None:
    pretraining = {"batch": 10, "epochs": 70}
    spec = json.dumps({"model": MODEL, "pretraining": pretraining, "seed": 1})
    pretrain(spec, dataset_path, 2, tmp_path / "start.nc")
    found = read_start(tmp_path / "start.nc")
    model = build.build_model(ModelJob.model_validate(MODEL), dataset)
    begin = build.draw_start(model, "prior", seed=1, chain=2)
    assert (found.path.shape, found.path.dtype) == ((50, model.density.size), np.float32)
    assert found.path_epochs[[0, -1]].tolist() == [0, 70]
    np.testing.assert_array_equal(found.path[0], np.asarray(begin, np.float32))
    np.testing.assert_array_equal(found.path[-1], found.position.astype(np.float32))
    assert found.loss.shape == (70,)


@pytest.mark.parametrize("batch", [31, 100])
def test_a_batch_larger_than_the_train_split_is_refused(
    dataset_path: Path, tmp_path: Path, batch: int
) -> None:
    spec = json.dumps({"model": MODEL, "pretraining": {"batch": batch}, "seed": 1})
    said = f"pretraining.batch is {batch} but {dataset_path} has 30 train rows; use a smaller batch"
    with pytest.raises(InputError, match=said):
        pretrain(spec, dataset_path, 0, tmp_path / "start.nc")
    assert list(tmp_path.iterdir()) == []
