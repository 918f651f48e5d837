"""Calibration of confidence: 80 % of the points predicted with confidence 0.8 should be correct.

Confidence (point) is the largest predictive probability; correct (point) states whether that class
is the true one. A class is scored only at points where it is predicted.
"""

import numpy as np

from nlobayes.checks import CalibrationCheck
from nlobayes.distributions.distribution import point_chunks
from nlobayes.evaluation.calibration.calibration import wilson_interval

BINS = 15
QUANTILE = 0.99
"""A calibrated predictor stays below this quantile of its own calibration error."""

SIMULATIONS = 1000


def width_bins(confidence: np.ndarray) -> np.ndarray:
    """Return the number of each point's bin among 15 of equal width, (0, 1/15] to (14/15, 1]."""
    return np.searchsorted(np.arange(1, BINS) / BINS, confidence, side="left")


def adaptive_bins(confidence: np.ndarray) -> np.ndarray:
    """Return the number of each point's bin among 15 of equal mass.

    Equal confidences share a bin, so that bins are equal but for these; few points leave some
    bins empty.
    """
    shares = np.arange(1, BINS) / BINS
    edges = np.quantile(confidence, shares, method="inverted_cdf")
    return np.searchsorted(edges, confidence, side="left")


def ece(confidence: np.ndarray, correct: np.ndarray, bins: np.ndarray) -> float:
    """Return the expected calibration error of the most probable class.

    The distance between share of correct points and mean confidence of a bin, averaged over bins
    with their numbers of points as weights. It is above zero by chance even if the confidence is
    calibrated, see `check`.

    References
    ----------
    C. Guo et al., arXiv:1706.04599, for bins of equal width. K. Nguyen, B. O'Connor,
    arXiv:1508.05154, for bins of equal mass.
    """
    excess = np.bincount(bins, weights=correct - confidence, minlength=BINS)
    return float(np.abs(excess).sum() / len(confidence))


def reliability_table(confidence: np.ndarray, correct: np.ndarray) -> dict[str, np.ndarray]:
    """Tabulate correctness against confidence in 15 bins of equal width, for a figure.

    Returns columns of 15 rows: `low` and `high`, the edges of the bin; `count`, its points;
    `confidence`, their mean, and `accuracy`, the share of correct ones, with its 95 % Wilson
    interval `lower`, `upper`; the last four are NaN where a bin is empty.
    """
    bins = width_bins(confidence)
    count = np.bincount(bins, minlength=BINS)
    sums = (np.bincount(bins, weights=w, minlength=BINS) for w in (confidence, correct))
    mean, accuracy = (np.where(count, s / np.maximum(count, 1), np.nan) for s in sums)
    lower, upper = wilson_interval(accuracy, np.maximum(count, 1))
    return {
        "low": np.arange(BINS) / BINS,
        "high": np.arange(1, BINS + 1) / BINS,
        "count": count,
        "confidence": mean,
        "accuracy": accuracy,
        "lower": lower,
        "upper": upper,
    }


def check(
    confidence: np.ndarray,
    correct: np.ndarray,
    rng: np.random.Generator,
    *,
    ece_tolerance: float = 0.02,
) -> dict[str, CalibrationCheck]:
    """Check the calibration of one split.

    Parameters
    ----------
    confidence, correct
        Axis (point).
    rng
        Random source of the answers of a calibrated predictor.
    ece_tolerance
        Calibration error that passes for any number of points.

    Returns
    -------
    By name, `value`, `low` (None), `high` and `passed`: `ece`, at most the tolerance plus the 99 %
    quantile of the calibration error of a calibrated predictor of the same confidences.

    References
    ----------
    J. Bröcker, L. A. Smith, Weather and Forecasting 22 (2007) 651, for answers drawn with the
    stated probabilities.
    """
    value = ece(confidence, correct, width_bins(confidence))
    high = ece_tolerance + float(np.quantile(calibrated_ece(confidence, rng), QUANTILE))
    return {"ece": {"value": value, "low": None, "high": high, "passed": value <= high}}


def calibrated_ece(confidence: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return calibration errors of a predictor with exact probabilities (simulation,).

    Each point is correct with the probability that is its confidence, independently.
    """
    member = np.eye(BINS)[width_bins(confidence)]
    errors = []
    for part in point_chunks(len(confidence), SIMULATIONS):
        shape = len(range(SIMULATIONS)[part]), len(confidence)
        excess = ((rng.random(shape) < confidence) - confidence) @ member
        errors.append(np.abs(excess).sum(axis=1) / len(confidence))
    return np.concatenate(errors)
