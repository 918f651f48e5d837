"""The target and the train rows of a run; runs are comparable only if these are equal."""

import hashlib
from typing import Any

import numpy as np

from nlobayes.data.splits import TRAIN
from nlobayes.types import Dataset


def learned(data: Dataset) -> dict[str, Any]:
    """Return target, unit and scale, and a digest of the numbers and targets of the train rows."""
    rows = np.flatnonzero(data.split == TRAIN)
    digest = hashlib.sha256()
    for array in (rows.astype(np.int64), data.observed[rows].astype(np.float64)):
        digest.update(np.ascontiguousarray(array).tobytes())
    return {
        "target": list(data.target_names),
        "unit": data.units.get(data.target_names[0], ""),
        "scale": data.transforms["target"]["scale"],
        "train": digest.hexdigest(),
    }
