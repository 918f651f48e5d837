"""Classes between the rows, over a plane of two inputs: which is predicted, and how surely."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import entr

from nlobayes.data.splits import SPLITS, UNUSED
from nlobayes.evaluation.classification.scores import predict_classes
from nlobayes.types import Columns, Dataset, Plane

ROWS_OF_GRID = 61
"""Points along each side of the grid."""
MARGIN = 0.1
"""Share of the range of the rows that the grid reaches beyond them on every side."""


def grid_over(inputs: np.ndarray) -> np.ndarray:
    """Lay a grid over rows of two inputs (row, 2): points (grid_point, 2), the second fastest."""
    low, high = inputs.min(axis=0), inputs.max(axis=0)
    margin = MARGIN * (high - low)
    axes = np.linspace(low - margin, high + margin, ROWS_OF_GRID).T
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)


def plane_of(grid: np.ndarray, parts: Sequence[np.ndarray]) -> Plane:
    """Average the probabilities (draw, point, class) of all draws, part by part of the grid."""
    says = [predict_classes(part) for part in parts]
    return Plane(
        inputs=grid,
        probability=np.concatenate([one.probability for one in says]),
        expected_entropy=np.concatenate([one.expected_entropy for one in says]),
    )


def tables(plane: Plane | None, probabilities: np.ndarray, data: Dataset) -> dict[str, Columns]:
    """Tabulate the plane, the rows in it and the names of its inputs; no rows without a plane.

    The plane has a row for each class of a point. The rows come with whether draws,
    `probabilities` (draw, point, class), are right of them. `disagreement` is the mutual
    information of class and draw in nats: the entropy of the mean probabilities less the mean
    entropy, as in `classification.scores`.
    """
    names = [_label(name, data.units.get(name, "")) for name in data.input_names]
    used = data.split != UNUSED
    if plane is None:
        plane, names = Plane(np.empty((0, 2)), np.empty((0, 1)), np.empty(0)), []
        used = np.zeros(len(used), bool)
    points, outputs = plane.probability.shape
    total = entr(plane.probability).sum(axis=1)
    disagreement = np.maximum(total - plane.expected_entropy, 0.0)
    classes = data.target[used].astype(int)
    return {
        "plane": {
            "first": np.repeat(plane.inputs[:, 0], outputs),
            "second": np.repeat(plane.inputs[:, 1], outputs),
            "class": np.tile(np.arange(outputs), points),
            "probability": plane.probability.ravel(),
            "disagreement": np.repeat(disagreement, outputs),
        },
        "plane_points": {
            "split": np.array(SPLITS)[data.split[used]],
            "first": data.inputs[used, 0],
            "second": data.inputs[used, -1],
            "class": classes,
            "right": (probabilities[:, used].mean(axis=0).argmax(axis=1) == classes).astype(int),
        },
        "plane_inputs": {"input": np.array(names, dtype=object)},
    }


def _label(name: str, unit: str) -> str:
    return f"{name} ({unit})" if unit not in ("", "1") else name
