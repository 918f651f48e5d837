"""How often classes are right, how good their probabilities are, and what is uncertain."""

from nlobayes.evaluation.classification.scores import classification_scores
from nlobayes.evaluation.scores.classification import Split


def score(split: Split) -> dict[str, float | str]:
    """Give accuracy, proper scores, entropies, thresholds and calibration errors."""
    return classification_scores(split.prediction, split.labels)
