"""Scores of predicted classes as decisions: confusion, and answers above a confidence.

A predictor may decline to answer: at a threshold it answers the points whose largest predictive
probability reaches it. `precision` is the share of correct answers; `recall` is the share of
answered points among those it would get right if it answered all points.
"""

import numpy as np

from nlobayes.evaluation.calibration.calibration import wilson_interval

THRESHOLDS = (20, 40, 60, 80, 90)
"""Confidences in percent from which a point is answered."""

_ONE_POINT = "at least two points are needed, there is only one"


def mean_score(name: str, values: np.ndarray) -> dict[str, float | str]:
    """Return the mean of values, axis (point), under `name`, its standard error under `name`_se."""
    error = float(values.std() / np.sqrt(len(values))) if len(values) > 1 else _ONE_POINT
    return {name: float(values.mean()), f"{name}_se": error}


def confusion_matrix(labels: np.ndarray, predicted: np.ndarray, classes: int) -> np.ndarray:
    """Count the points of every true and predicted class, axes (true, predicted)."""
    counts = np.zeros((classes, classes), dtype=np.int64)
    np.add.at(counts, (labels, predicted), 1)
    return counts


def confusion_table(matrix: np.ndarray) -> dict[str, np.ndarray]:
    """Tabulate a confusion matrix for a figure: columns `true`, `predicted` and `count`."""
    true, predicted = np.indices(matrix.shape)
    return {"true": true.ravel(), "predicted": predicted.ravel(), "count": matrix.ravel()}


def macro_scores(matrix: np.ndarray) -> dict[str, float]:
    """Average precision, recall and F1 over the classes, with equal weights.

    Parameters
    ----------
    matrix
        Counts, axes (true, predicted).

    Returns
    -------
    `precision_macro`, the mean over classes of the share of right ones among the points predicted
    to be of the class; `recall_macro`, among those that are of the class; `f1_macro`, the mean of
    the harmonic means of both. Classes that are neither true nor predicted anywhere do not count,
    and a share of no points is zero.

    References
    ----------
    M. Sokolova, G. Lapalme, Information Processing and Management 45 (2009) 427, for precision
    and recall. J. Opitz, S. Burst, arXiv:1911.03347, for the mean of F1.
    """
    right, true, predicted = np.diag(matrix), matrix.sum(axis=1), matrix.sum(axis=0)
    seen = true + predicted > 0
    return {
        "precision_macro": float(_share(right, predicted)[seen].mean()),
        "recall_macro": float(_share(right, true)[seen].mean()),
        "f1_macro": float(_share(2 * right, true + predicted)[seen].mean()),
    }


def threshold_scores(confidence: np.ndarray, correct: np.ndarray) -> dict[str, float | str]:
    """Score the answers at each of `THRESHOLDS`.

    Parameters
    ----------
    confidence
        Largest predictive probability, axis (point).
    correct
        Whether that class is the true one, axis (point).

    Returns
    -------
    `precision_at_20`, `recall_at_20`, `answered_at_20`, the share of points that are answered,
    their standard errors with suffix `_se`, and so on for each threshold.
    """
    scores: dict[str, float | str] = {}
    for percent in THRESHOLDS:
        answered = confidence >= percent / 100
        for name, part, of in (
            ("precision", correct[answered], "is answered"),
            ("recall", answered[correct], "is predicted right"),
        ):
            scores |= _part_score(f"{name}_at_{percent}", part, of=of)
        scores |= mean_score(f"answered_at_{percent}", answered)
    return scores


def threshold_table(
    confidence: np.ndarray, correct: np.ndarray, thresholds: np.ndarray
) -> dict[str, np.ndarray]:
    """Tabulate the answers against the threshold, for a figure.

    Parameters
    ----------
    confidence, correct
        As for `threshold_scores`.
    thresholds
        Confidences from which a point is answered, axis (row).

    Returns
    -------
    Columns of equal length: `threshold`; `precision`, NaN where nothing is answered, with its 95 %
    Wilson interval `lower`, `upper`; `recall`, NaN where nothing is right; `answered`.
    """
    thresholds = np.asarray(thresholds, dtype=np.float64)
    answered = np.array([np.sum(confidence >= t) for t in thresholds])
    right = np.array([np.sum(confidence[correct] >= t) for t in thresholds])
    precision = _share(right, answered, empty=np.nan)
    lower, upper = wilson_interval(precision, np.maximum(answered, 1))
    return {
        "threshold": thresholds,
        "precision": precision,
        "lower": lower,
        "upper": upper,
        "recall": _share(right, np.full(len(right), correct.sum()), empty=np.nan),
        "answered": answered / len(confidence),
    }


def _part_score(name: str, part: np.ndarray, *, of: str) -> dict[str, float | str]:
    if part.size:
        return mean_score(name, part)
    return dict.fromkeys((name, f"{name}_se"), f"no point {of}")


def _share(part: np.ndarray, whole: np.ndarray, *, empty: float = 0.0) -> np.ndarray:
    shares = np.full(part.shape, empty)
    return np.divide(part, whole, out=shares, where=whole > 0)
