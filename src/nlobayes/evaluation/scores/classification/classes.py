"""Accuracy of classes, scores of their probabilities, and their uncertainty."""

from nlobayes.evaluation.classification.scores import classification_scores
from nlobayes.evaluation.scores.classification import Split


def score(split: Split) -> dict[str, float | str]:
    """Return accuracy, proper scores, entropies, thresholds and calibration errors."""
    return classification_scores(split.prediction, split.labels)
