"""Examples of classified test rows: wrong with confidence, right with low and high confidence."""

from __future__ import annotations

import numpy as np

from nlobayes.evaluation.classification.scores import ClassPrediction
from nlobayes.types import Columns, Dataset

OF_EACH_KIND = 4
KINDS = ("wrong, most confident", "right, least confident", "right, most confident")


def choose(predicted: ClassPrediction, labels: np.ndarray) -> list[np.ndarray]:
    """Choose points of each kind, at most `OF_EACH_KIND`, from labels (point,).

    A point is never both `right, least confident` and `right, most confident`. Points of equal
    confidence are in their order.
    """
    order = np.argsort(-predicted.confidence, kind="stable")
    right = (predicted.predicted == labels)[order]
    wrong, sure = order[~right][:OF_EACH_KIND], order[right][:OF_EACH_KIND]
    hardly = order[right][OF_EACH_KIND:][::-1][:OF_EACH_KIND]
    return [wrong, hardly, sure]


def tables(
    predicted: ClassPrediction, data: Dataset, rows: np.ndarray, image: tuple[int, int] | None
) -> dict[str, Columns]:
    """Tabulate chosen rows, their probabilities and their inputs, a row of a table for each.

    The predictions are of these rows (row,) of the dataset. Inputs that are an image have its rows
    and columns; other inputs are all in one row.
    """
    kinds = choose(predicted, data.target[rows])
    chosen = np.concatenate(kinds)
    classes, inputs = predicted.probability.shape[1], data.inputs.shape[1]
    row, column = np.indices(image or (1, inputs)).reshape(2, -1)
    numbers = np.arange(len(chosen))
    return {
        "examples": {
            "example": numbers,
            "kind": np.repeat(KINDS, [len(kind) for kind in kinds]),
            "point": rows[chosen],
            "true": data.target[rows][chosen].astype(int),
            "predicted": predicted.predicted[chosen],
        },
        "example_probabilities": {
            "example": np.repeat(numbers, classes),
            "class": np.tile(np.arange(classes), len(chosen)),
            "probability": predicted.probability[chosen].ravel(),
        },
        "example_inputs": {
            "example": np.repeat(numbers, inputs),
            "row": np.tile(row, len(chosen)),
            "column": np.tile(column, len(chosen)),
            "value": data.inputs[rows][chosen].ravel(),
        },
    }
