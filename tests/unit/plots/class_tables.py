"""Invented tables about predicted classes, of the shape and scale of real ones."""

import numpy as np
import pandas as pd

from nlobayes.evaluation.calibration.reliability import reliability_table
from nlobayes.evaluation.scores.classification.classes import predict_classes
from nlobayes.evaluation.scores.decisions import confusion_matrix, confusion_table, threshold_table
from nlobayes.evaluation.tables.class_tables import example_tables, plane_tables
from nlobayes.surrogate.prediction import grid_over, plane_of
from nlobayes.types import Columns, Dataset
from tests.rows import dataset_of

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
    return (
        {
            name: pd.concat(
                [
                    pd.DataFrame({"split": split, **tables[name]})
                    for split, tables in splits.items()
                ],
                ignore_index=True,
            )
            for name in ("confusion", "reliability", "thresholds")
        }
        | {"classes": class_names(classes)}
        | _tables_of_rows(classes)
    )


def clouds(classes: int, inputs: int = 2) -> tuple[Dataset, np.ndarray]:
    """Clouds of rows, one class each, and probabilities (draw, row, class) of 20 draws of them."""
    rng = np.random.default_rng(5)
    target = np.resize(np.arange(classes), 40 * classes)
    centres = rng.normal(size=(classes, inputs)) * np.sqrt(2 / inputs)
    rows = centres[target] + 0.4 * rng.normal(size=(len(target), inputs))
    data = dataset_of(
        rows,
        target.astype(float),
        split=rng.permutation(np.resize([0, 0, 1, 2, 2], len(target))),
        target_names=("class",),
        transforms={"target": {"scale": "classes", "labels": [*range(classes)]}},
        units={"x1": "GeV"},
    )
    return data, probabilities_at(rows, centres)


def probabilities_at(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Give probabilities (draw, point, class) that fall with the distance from moving centres."""
    moved = centres + 0.2 * np.random.default_rng(6).normal(size=(20, *centres.shape))
    distance = np.linalg.norm(points[:, np.newaxis] - moved[:, np.newaxis], axis=-1)
    powers = np.exp(-3 * distance)
    return powers / powers.sum(axis=2, keepdims=True)


def columns_of(data: Dataset, probabilities: np.ndarray) -> Columns:
    """Split of every row, and whether the draws (draw, row, class) are right of it."""
    right = probabilities.mean(axis=0).argmax(axis=1) == data.target
    return {"split": np.array(["train", "val", "test"])[data.split], "right": right.astype(int)}


def _tables_of_rows(classes: int) -> Tables:
    """Tables of single rows: a plane of two inputs, and images of 4 x 3 pixels."""
    shown = min(classes, 4)
    flat, probabilities = clouds(shown)
    centres = np.array([flat.inputs[flat.target == label].mean(axis=0) for label in range(shown)])
    grid = grid_over(flat.inputs)
    plane = plane_of(grid, [probabilities_at(grid, centres)])
    pictures, of_pictures = clouds(classes, inputs=12)
    rows = np.flatnonzero(pictures.split == 2)
    tested = predict_classes(of_pictures[:, rows])
    every, known = np.arange(len(flat.split)), columns_of(flat, probabilities)
    tables = plane_tables(plane, flat, every, known)
    tables |= example_tables(tested, pictures, rows, (4, 3))
    return {name: pd.DataFrame(columns) for name, columns in tables.items()}


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
