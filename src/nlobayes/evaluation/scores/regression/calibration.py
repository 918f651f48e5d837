"""Calibration of error bars."""

from nlobayes.evaluation.calibration.calibration import calibration
from nlobayes.evaluation.scores.split import Split


def score(split: Split) -> dict[str, float | str]:
    """Return the spread of the pulls, coverage, and the distance of the PIT from uniform."""
    return calibration(split.draws, split.observed, split.noise)
