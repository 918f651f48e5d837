"""Whether two samplers describe the same posterior, within their Monte-Carlo errors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm

from nlobayes.assessment import _arviz

FALSE_ALARM = 1e-3
"""Probability that samplers which agree are called different (Bonferroni, so at most this)."""


class Agreement(NamedTuple):
    """Differences in units of their Monte-Carlo standard error (quantity,)."""

    z_mean: np.ndarray
    z_sd: np.ndarray


def compare(first: np.ndarray, second: np.ndarray) -> Agreement:
    """Compare the means and standard deviations of two sets of draws (chain, draw, quantity).

    Each difference is divided by the root of the summed squared Monte-Carlo standard errors.
    """
    return Agreement(
        _z(first, second, np.mean, _arviz.mcse_mean), _z(first, second, np.std, _arviz.mcse_sd)
    )


def verdict(agreement: Agreement) -> dict[str, float | bool | int]:
    """Judge the largest difference against the normal quantile for all comparisons together."""
    z = np.abs(np.concatenate(agreement))
    limit = float(norm.isf(FALSE_ALARM / (2 * len(z))))
    return {
        "comparisons": len(z),
        "z_mean_max": float(np.abs(agreement.z_mean).max()),
        "z_sd_max": float(np.abs(agreement.z_sd).max()),
        "z_rms": float(np.sqrt(np.mean(z**2))),
        "threshold": limit,
        "passed": bool(z.max() <= limit),
    }


def _z(first: np.ndarray, second: np.ndarray, statistic: Any, mcse: Any) -> np.ndarray:
    errors = [np.array([mcse(x[:, :, i]) for i in range(x.shape[2])]) for x in (first, second)]
    difference = statistic(first, axis=(0, 1)) - statistic(second, axis=(0, 1))
    return np.asarray(difference / np.hypot(*errors))
