"""Scores of predicted class probabilities, from those of every draw of the posterior.

A score is a number, or a line that states why there is none; entropies and log probabilities are in
nats. If classes are equally probable, the first is predicted.
"""

import numpy as np
from scipy.special import entr

from nlobayes.distributions.distribution import point_chunks
from nlobayes.errors import InputError
from nlobayes.evaluation.calibration.reliability import adaptive_bins, ece, width_bins
from nlobayes.evaluation.scores.decisions import (
    confusion_matrix,
    macro_scores,
    mean_score,
    threshold_scores,
)
from nlobayes.evaluation.scores.split import ClassPrediction, ClassSplit

TOP = (2, 3)
"""Values of k for the top-k accuracy."""

_SUM_TOLERANCE = 1e-4
"""Tolerance of sums, far above the rounding of float32 and far below the precision of scores."""


def predict_classes(probabilities: np.ndarray) -> ClassPrediction:
    """Average class probabilities over draws.

    Raises InputError if the axes do not fit, or the values are not probabilities that sum to one.

    Parameters
    ----------
    probabilities
        Probabilities of every draw, axes (draw, point, class); two classes have two columns.
    """
    probabilities = _checked(probabilities)
    draws, points, classes = probabilities.shape
    entropies = [
        entr(probabilities[:, part].astype(np.float64)).sum(axis=2).mean(axis=0)
        for part in point_chunks(draws * classes, points)
    ]
    mean = probabilities.mean(axis=0, dtype=np.float64)
    return ClassPrediction(mean, np.concatenate(entropies))


def classification_scores(
    prediction: ClassPrediction, labels: np.ndarray
) -> dict[str, float | str]:
    """Score the predicted classes and their probabilities of one split.

    Raises InputError if labels are not indices of classes, one per point.

    Parameters
    ----------
    prediction
        From `predict_classes`.
    labels
        Indices of the true classes, axis (point).

    Returns
    -------
    `accuracy`, the share of points whose most probable class is true; `top_2_accuracy` and
    `top_3_accuracy`, if there are more classes than that, whose true class is among the two or
    three most probable. `brier`, the mean over points of the sum over classes of squared
    differences between probability and true class (0 to 2; of two classes twice the score of one);
    `lppd`, the mean log probability of the true class; `confidence`, the mean of the largest
    probability. `predictive_entropy`, of the predictive probabilities, is the sum of
    `expected_entropy`, its mean over draws, and `mutual_information` of class and weights, the
    epistemic part. The keys of `threshold_scores`. All of these are means over points; with suffix
    `_se`, their standard errors. `ece` and `ece_adaptive`, the expected calibration error of bins
    of equal width and of equal mass; `precision_macro`, `recall_macro`, `f1_macro`.

    References
    ----------
    G. W. Brier, Monthly Weather Review 78 (1950) 1. N. Houlsby et al., arXiv:1112.5745, and
    S. Depeweg et al., arXiv:1710.07283, for the mutual information.
    """
    labels = checked_labels(prediction, labels)
    confidence, correct = prediction.confidence, prediction.predicted == labels
    matrix = confusion_matrix(labels, prediction.predicted, prediction.probability.shape[1])
    return {
        **mean_score("accuracy", correct),
        **_top_scores(prediction.probability, labels),
        **_proper_scores(prediction.probability, labels),
        **mean_score("confidence", confidence),
        **_entropies(prediction),
        **threshold_scores(confidence, correct),
        "ece": ece(confidence, correct, width_bins(confidence)),
        "ece_adaptive": ece(confidence, correct, adaptive_bins(confidence)),
        **macro_scores(matrix),
    }


def checked_labels(prediction: ClassPrediction, labels: np.ndarray) -> np.ndarray:
    """Return the indices of the true classes as integers after checking them.

    Raises InputError if there is not one per point, or one is not the index of a class.
    """
    labels, (points, classes) = np.asarray(labels), prediction.probability.shape
    if labels.shape != (points,):
        raise InputError(
            "evaluation.labels_of_other_points", expected=(points,), shape=labels.shape
        )
    strange = labels[~np.isin(labels, np.arange(classes))]
    if strange.size:
        raise InputError(
            "evaluation.no_class",
            largest=classes - 1,
            classes=classes,
            label=strange[0].item(),
            strange=strange.size,
            points=points,
        )
    return labels.astype(np.intp)


def _checked(probabilities: np.ndarray) -> np.ndarray:
    probabilities = np.asarray(probabilities)
    if probabilities.ndim != 3 or probabilities.size == 0 or probabilities.shape[2] < 2:
        raise InputError("evaluation.no_classes", shape=probabilities.shape)
    off = np.abs(probabilities.sum(axis=2, dtype=np.float64) - 1)
    strange = ~(off <= _SUM_TOLERANCE) | (probabilities.min(axis=2) < 0)
    if strange.any():
        draw, point = np.argwhere(strange)[0]
        raise InputError(
            "evaluation.no_probabilities",
            probabilities=probabilities[draw, point].tolist(),
            draw=int(draw),
            point=int(point),
            more=int(strange.sum()) - 1,
        )
    return probabilities


def _top_scores(probability: np.ndarray, labels: np.ndarray) -> dict[str, float | str]:
    order = np.argsort(-probability, axis=1, kind="stable")
    rank = (order == labels[:, None]).argmax(axis=1)
    scores: dict[str, float | str] = {}
    for k in TOP:
        if k < probability.shape[1]:
            scores |= mean_score(f"top_{k}_accuracy", rank < k)
    return scores


def _proper_scores(probability: np.ndarray, labels: np.ndarray) -> dict[str, float | str]:
    truth = np.eye(probability.shape[1])[labels]
    of_truth = probability[np.arange(len(labels)), labels]
    brier = mean_score("brier", np.square(probability - truth).sum(axis=1))
    if of_truth.all():
        return brier | mean_score("lppd", np.log(of_truth))
    reason = f"{np.sum(of_truth == 0)} of {len(labels)} points have a true class of probability 0"
    return brier | {"lppd": reason, "lppd_se": reason}


def _entropies(prediction: ClassPrediction) -> dict[str, float | str]:
    """Split the entropy of the mean; rounding can make the mutual information negative."""
    total, expected = entr(prediction.probability).sum(axis=1), prediction.expected_entropy
    return {
        **mean_score("predictive_entropy", total),
        **mean_score("expected_entropy", expected),
        **mean_score("mutual_information", np.maximum(total - expected, 0.0)),
    }


def score(split: ClassSplit) -> dict[str, float | str]:
    """Return accuracy, proper scores, entropies, thresholds and calibration errors."""
    return classification_scores(split.prediction, split.labels)
