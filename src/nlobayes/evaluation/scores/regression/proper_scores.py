"""Proper scores of the predictive distribution, and its widths."""

from nlobayes.evaluation.scores.proper_scores import (
    FEWEST_CRPS_MEMBERS,
    QUICK_MEMBERS,
    proper_scores,
)
from nlobayes.evaluation.scores.regression import Split


def score(split: Split) -> dict[str, float | str]:
    """Return log score, CRPS, interval scores and standard deviations."""
    members = QUICK_MEMBERS if split.quick else FEWEST_CRPS_MEMBERS
    return proper_scores(
        split.draws, split.observed, split.noise, split.rng, scale=split.scale, members=members
    )
