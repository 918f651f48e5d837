"""The target of a run, which decides whether runs can be compared."""

import hashlib
from typing import Any

import numpy as np

from nlobayes.data.splits import TRAIN
from nlobayes.types import Dataset


def learned(data: Dataset) -> dict[str, Any]:
    """Name target, unit and scale, and digest the numbers and the targets of the train rows."""
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
