"""One measure of the predictions: the RMSE, or the accuracy."""

from __future__ import annotations

import numpy as np

from nlobayes.data.transforms import apply_scale, target_transform
from nlobayes.evaluation.tasks.task import ScoringData

ACCURACY, RMSE_LOG10, RMSE_TARGET = "accuracy", "rmse_log10", "rmse_target"


def rmse_of_numbers(
    given: ScoringData, predicted: np.ndarray, rows: np.ndarray
) -> tuple[str, np.ndarray]:
    """Return the RMSE of predictions on the model scale; for several targets its mean.

    Parameters
    ----------
    given
        The observed values.
    predicted
        Predictions (each, point), or (each, point, output), of all points.
    rows
        The points to include (point,).

    Returns
    -------
    Its key, and a value for each of the predictions (each,).
    """
    target = target_transform(given.data.transforms)
    observed = apply_scale(target, given.data.observed)[rows]
    squares = np.square(predicted[:, rows].astype(np.float64) - observed).mean(axis=1)
    each = np.sqrt(squares).reshape(len(squares), -1).mean(axis=1)
    return RMSE_LOG10 if target.scale == "log10" else RMSE_TARGET, each


def accuracy_of_classes(
    given: ScoringData, predicted: np.ndarray, rows: np.ndarray
) -> tuple[str, np.ndarray]:
    """Return the share of the rows whose most probable class is true.

    As `rmse_of_numbers`, of probabilities (each, point, class).
    """
    correct = predicted[:, rows].argmax(axis=2) == given.data.target[rows]
    return ACCURACY, correct.mean(axis=1)
