"""What pretraining refuses before it builds a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nlobayes.errors import InputError
from nlobayes.verbs.pretrain import pretrain

MODEL: dict[str, Any] = {
    "network": {"hidden": [2]},
    "prior": {"kind": "fan_in"},
    "likelihood": {"kind": "tolerance", "sigma": 0.1},
    "precision": "float64",
}


@pytest.mark.parametrize("batch", [31, 100])
def test_a_batch_larger_than_the_train_split_is_refused(
    dataset_path: Path, tmp_path: Path, batch: int
) -> None:
    spec = json.dumps({"model": MODEL, "pretraining": {"batch": batch}, "seed": 1})
    said = f"pretraining.batch is {batch} but {dataset_path} has 30 train rows; use a smaller batch"
    with pytest.raises(InputError, match=said):
        pretrain(spec, dataset_path, 0, tmp_path / "start.nc")
    assert list(tmp_path.iterdir()) == []
