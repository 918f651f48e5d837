"""How far point predictions are from the observations."""

from nlobayes.evaluation.scores.accuracy import accuracy
from nlobayes.evaluation.scores.regression import Split


def score(split: Split) -> dict[str, float | str]:
    """Give R², errors, and what dominates them."""
    return accuracy(split.draws, split.observed, split.rng, scale=split.scale)
