"""Tables of classified rows: chosen examples, and the plane of two inputs."""

from __future__ import annotations

import numpy as np
from scipy.special import entr

from nlobayes.evaluation.scores.split import ClassPrediction
from nlobayes.types import Columns, Dataset, Plane

OF_EACH_KIND = 4
KINDS = ("wrong, most confident", "right, least confident", "right, most confident")


def choose_examples(predicted: ClassPrediction, labels: np.ndarray) -> list[np.ndarray]:
    """Choose points of each kind, at most `OF_EACH_KIND`, from labels (point,).

    A point is never both `right, least confident` and `right, most confident`. Points of equal
    confidence are in their order.
    """
    order = np.argsort(-predicted.confidence, kind="stable")
    right = (predicted.predicted == labels)[order]
    wrong, sure = order[~right][:OF_EACH_KIND], order[right][:OF_EACH_KIND]
    hardly = order[right][OF_EACH_KIND:][::-1][:OF_EACH_KIND]
    return [wrong, hardly, sure]


def example_tables(
    predicted: ClassPrediction, data: Dataset, rows: np.ndarray, image: tuple[int, int] | None
) -> dict[str, Columns]:
    """Tabulate chosen rows, their probabilities and their inputs, a row of a table for each.

    The predictions are of these rows (row,) of the dataset. Inputs that are an image have its rows
    and columns; other inputs are all in one row.
    """
    kinds = choose_examples(predicted, data.target[rows])
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


NOTHING = Plane(np.empty((0, 2)), np.empty((0, 1)), np.empty(0))


def plane_tables(
    plane: Plane | None, data: Dataset, rows: np.ndarray, known: Columns
) -> dict[str, Columns]:
    """Tabulate the plane, the rows in it and the names of its inputs; no rows without a plane.

    The plane has a row for each class of a point. `disagreement` is the mutual information of class
    and draw in nats: the entropy of the mean probabilities minus the mean entropy, as in
    `scores.classification`.

    Parameters
    ----------
    plane
        Predictions of the draws between the rows.
    data
        The dataset, of two inputs.
    rows
        Numbers of the rows that are shown (row,).
    known
        Further columns of these rows (row,).
    """
    if plane is None:
        plane, rows = NOTHING, rows[:0]
        known = {name: column[:0] for name, column in known.items()}
    names = [_label(name, data.units.get(name, "")) for name in data.input_names]
    return {
        "plane": _plane(plane),
        "plane_points": {
            "first": data.inputs[rows, 0],
            "second": data.inputs[rows, -1],
            "class": data.target[rows].astype(int),
            **known,
        },
        "plane_inputs": {"input": np.array(names[: len(plane.inputs)], dtype=object)},
    }


def _plane(plane: Plane) -> Columns:
    points, classes = plane.probability.shape
    total = entr(plane.probability).sum(axis=1)
    disagreement = np.maximum(total - plane.expected_entropy, 0.0)
    return {
        "first": np.repeat(plane.inputs[:, 0], classes),
        "second": np.repeat(plane.inputs[:, 1], classes),
        "class": np.tile(np.arange(classes), points),
        "probability": plane.probability.ravel(),
        "disagreement": np.repeat(disagreement, classes),
    }


def _label(name: str, unit: str) -> str:
    return f"{name} ({unit})" if unit not in ("", "1") else name
