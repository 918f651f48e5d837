"""What a run learned, and its rivals; runs are comparable only if these are equal."""

import hashlib

import numpy as np

from nlobayes.data.splits import TRAIN
from nlobayes.errors import InputError
from nlobayes.evaluation.run_evaluation import LearnedTarget
from nlobayes.types import Dataset


def learned(data: Dataset) -> LearnedTarget:
    """Return target, unit and scale, and a digest of the numbers and targets of the train rows."""
    rows = np.flatnonzero(data.split == TRAIN)
    digest = hashlib.sha256()
    for array in (rows.astype(np.int64), data.observed[rows].astype(np.float64)):
        digest.update(np.ascontiguousarray(array).tobytes())
    return {
        "target": list(data.target_names),
        "unit": data.units.get(data.target_names[0], ""),
        "scale": data.target_scale,
        "train": digest.hexdigest(),
    }


def check_target(data: Dataset) -> None:
    """Refuse a dataset that rivals cannot learn.

    Raises InputError if it has several targets, or classes.
    """
    scale, targets = data.target_scale, len(data.target_names)
    if scale == "classes" or targets > 1:
        received = scale if scale == "classes" else f"{targets} targets"
        raise InputError("commands.rival_of_one_target", where="rival", received=received)
