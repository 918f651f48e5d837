"""The noise of the likelihood itself, for every draw at every point.

The predictive of the model is the mixture over draws of the likelihood about each; it needs no
held-out rows. On noise-free targets a declared tolerance makes it too wide.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nlobayes.distributions.distribution import Law
from nlobayes.distributions.mixture import Mixture


def scores(draws: np.ndarray, observed: np.ndarray, noise: Law) -> dict[str, Any]:
    """Score the predictive of the model on one split.

    Parameters
    ----------
    draws
        Function draws on the model scale (draw, point).
    observed
        Observed targets on the model scale (point,).
    noise
        The law at these points; its scale broadcasts over (draw, point).

    Returns
    -------
    dict
        `lppd` and its `lppd_se` (nats per point), `coverage_68` and `coverage_95` of central
        intervals.
    """
    predictive = Mixture(draws, noise)
    lppd, off_centre = predictive.logpdf(observed), np.abs(predictive.cdf(observed) - 0.5)
    return {
        "lppd": float(lppd.mean()),
        "lppd_se": float(lppd.std(ddof=1) / np.sqrt(len(lppd))) if len(lppd) > 1 else None,
        "coverage_68": float(np.mean(off_centre < 0.68 / 2)),
        "coverage_95": float(np.mean(off_centre < 0.95 / 2)),
    }
