"""Errors of point predictions."""

from nlobayes.evaluation.scores.accuracy import accuracy
from nlobayes.evaluation.scores.regression import Split


def score(split: Split) -> dict[str, float | str]:
    """Return R², errors, and the share of the largest deviations."""
    rng = None if split.quick else split.rng
    return accuracy(split.draws, split.observed, rng, scale=split.scale)
