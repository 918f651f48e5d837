"""Invented tables about predicted classes, of the shape and scale of real ones."""

import numpy as np
import pandas as pd

from nlobayes.evaluation.classification.calibration import reliability_table
from nlobayes.evaluation.classification.decisions import (
    confusion_matrix,
    confusion_table,
    threshold_table,
)
from nlobayes.evaluation.classification.scores import predict_classes

Tables = dict[str, pd.DataFrame]

SIZES = {"train": 250, "val": 200, "test": 1000}
GRID = np.arange(100) / 100


def class_names(classes: int, name: str = "class {}") -> pd.DataFrame:
    """Table that names so many classes after a pattern."""
    names = [name.format(index) for index in range(classes)]
    return pd.DataFrame({"class": range(classes), "name": names})


def class_tables(
    *, classes: int = 10, sharpness: float = 4.0, sizes: dict[str, int] = SIZES
) -> Tables:
    """Tables of a classifier whose mean probabilities are right, by name."""
    rng = np.random.default_rng(7)
    splits = {split: _tables_of_split(rng, n, classes, sharpness) for split, n in sizes.items()}
    return {
        name: pd.concat(
            [pd.DataFrame({"split": split, **tables[name]}) for split, tables in splits.items()],
            ignore_index=True,
        )
        for name in ("confusion", "reliability", "thresholds")
    } | {"classes": class_names(classes)}


def _tables_of_split(
    rng: np.random.Generator, points: int, classes: int, sharpness: float
) -> dict[str, dict[str, np.ndarray]]:
    favourite = 2 * np.eye(classes)[rng.integers(classes, size=points)]
    logits = sharpness * (rng.normal(size=(points, classes)) + favourite)
    logits = logits + rng.normal(size=(20, points, classes))
    powers = np.exp(logits)
    found = predict_classes(powers / powers.sum(axis=2, keepdims=True))
    steps = found.probability.cumsum(axis=1) / found.probability.sum(axis=1, keepdims=True)
    labels = (rng.random((points, 1)) > steps).sum(axis=1)
    correct = found.predicted == labels
    return {
        "confusion": confusion_table(confusion_matrix(labels, found.predicted, classes)),
        "reliability": reliability_table(found.confidence, correct),
        "thresholds": threshold_table(found.confidence, correct, GRID),
    }
