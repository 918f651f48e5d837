"""Datasets of rows that a test makes itself, and the length of a table."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from nlobayes.types import Dataset

PLAIN = {"features": {}, "target": {"scale": "identity", "mean": 0.0, "sd": 1.0}}
"""A target that is learned as it is."""


def dataset_of(inputs: np.ndarray, target: np.ndarray, **changes: Any) -> Dataset:
    """Make a dataset of train rows whose features are its inputs, with changes."""
    names = tuple(f"x{number}" for number in range(1, inputs.shape[1] + 1))
    rows = (np.zeros(len(target), int), np.arange(min(5, len(target))))
    plain = Dataset(inputs, inputs, target, target, *rows, names, names, ("y",), PLAIN, {})
    return plain._replace(**changes)


def length_of(table: Mapping[str, Any]) -> int:
    """Give the one length of all columns."""
    found = {name: len(column) for name, column in table.items()}
    assert len(set(found.values())) == 1, found
    return next(iter(found.values()))
