"""Scores of the error bars that a regressor states: a Gaussian at every point."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri
from scipy.stats import norm

from nlobayes.evaluation.calibration.calibration import CENTRAL_LEVELS

SHOWN = ("coverage_68", "coverage_95")


def own_account(mean: np.ndarray, sd: np.ndarray, observed: np.ndarray) -> dict[str, float]:
    """Return the coverage of central intervals, and the log score in nats; all (point,)."""
    pull = np.abs(observed - mean) / sd
    within = {name: ndtri((1 + CENTRAL_LEVELS[name]) / 2) for name in SHOWN}
    covered = {name: float(np.mean(pull <= limit)) for name, limit in within.items()}
    return {**covered, "lppd": float(np.mean(norm.logpdf(observed, mean, sd)))}
