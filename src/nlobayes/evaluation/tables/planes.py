"""Predicted classes and their probabilities between the rows, over a plane of two inputs."""

from __future__ import annotations

import numpy as np
from scipy.special import entr

from nlobayes.types import Columns, Dataset, Plane

NOTHING = Plane(np.empty((0, 2)), np.empty((0, 1)), np.empty(0))


def tables(
    plane: Plane | None, data: Dataset, rows: np.ndarray, known: Columns
) -> dict[str, Columns]:
    """Tabulate the plane, the rows in it and the names of its inputs; no rows without a plane.

    The plane has a row for each class of a point. `disagreement` is the mutual information of class
    and draw in nats: the entropy of the mean probabilities minus the mean entropy, as in
    `classification.scores`.

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
