"""Whether two samplers describe the same posterior, within their Monte-Carlo errors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from nlobayes.diagnostics import estimators as _arviz
from nlobayes.errors import InputError

FALSE_ALARM = 1e-3
"""Probability at most that samplers which agree are called different (Bonferroni)."""


_FEWEST_DRAWS = 4


class Agreement(NamedTuple):
    """Differences in units of their Monte-Carlo standard error (quantity,).

    Infinite where no chain ever moved, because no error is known then.
    """

    z_mean: np.ndarray
    z_sd: np.ndarray


def compare(first: np.ndarray, second: np.ndarray) -> Agreement:
    """Compare the means and standard deviations of two sets of draws (chain, draw, quantity).

    Each difference is divided by the root of the summed squared Monte-Carlo standard errors.

    Raises InputError if the draws are not of the same quantities, too few or not finite.
    """
    for draws in (first, second):
        _check(draws, quantities=first.shape[-1])
    return Agreement(
        _z(first, second, np.mean, _arviz.mcse_mean), _z(first, second, np.std, _arviz.mcse_sd)
    )


def verdict(agreement: Agreement) -> dict[str, float | bool | int | None]:
    """Check the largest difference against the normal quantile for all comparisons together.

    An infinite difference is None, and fails.
    """
    z = np.abs(np.concatenate(agreement))
    limit = -float(ndtri(FALSE_ALARM / (2 * len(z))))
    return {
        "comparisons": len(z),
        "z_mean_max": _finite(np.abs(agreement.z_mean).max()),
        "z_sd_max": _finite(np.abs(agreement.z_sd).max()),
        "z_rms": _finite(np.sqrt(np.mean(z**2))),
        "threshold": limit,
        "passed": bool(z.max() <= limit),
    }


def _z(first: np.ndarray, second: np.ndarray, statistic: Any, mcse: Any) -> np.ndarray:
    difference = statistic(first, axis=(0, 1)) - statistic(second, axis=(0, 1))
    moves = np.ptp(first, axis=1).any(axis=0) & np.ptp(second, axis=1).any(axis=0)
    z = np.full(difference.shape, np.inf)
    for i in np.flatnonzero(moves):
        z[i] = difference[i] / np.hypot(mcse(first[:, :, i]), mcse(second[:, :, i]))
    return z


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _check(draws: np.ndarray, quantities: int) -> None:
    few = draws.ndim != 3 or draws.shape[1] < _FEWEST_DRAWS
    if few or draws.shape[2] != quantities or not np.isfinite(draws).all():
        raise InputError(
            "diagnostics.agreement_draws",
            fewest=_FEWEST_DRAWS,
            quantities=quantities,
            shape=draws.shape,
        )
