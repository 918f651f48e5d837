"""Four checks of the calibration of a forecaster, with their bounds.

A check passes within its nominal value plus or minus a tolerance (the accuracy needed in practice)
and three standard errors (the sampling error of the points). The distribution of the PIT has no
tolerance: it passes inside a simultaneous band that a calibrated forecaster leaves as rarely as a
Gaussian leaves three standard errors. If error bars are ranks among the residuals of other rows,
the band includes the sampling error of both samples.
"""

import math

import numpy as np

from nlobayes.evaluation.calibration.calibration import CENTRAL_LEVELS, pit_table, share_within

STANDARD_ERRORS = 3.0
BAND = math.erf(STANDARD_ERRORS / math.sqrt(2))
"""Probability of the band of the PIT, 99.73 %."""


def check(
    z_total: np.ndarray,
    pit: np.ndarray,
    *,
    ranked: int | None = None,
    coverage_tolerance: float = 0.02,
    chi2_tolerance: float = 0.1,
) -> dict[str, dict[str, float | bool | None]]:
    """Check the calibration of one split.

    Parameters
    ----------
    z_total
        Standardised residuals (observed - mean) / total sd, axis (point).
    pit
        Probability integral transform of the predictive mixture, axis (point).
    ranked
        Number of other rows among whose absolute residuals the PIT gives the rank, if it does.
    coverage_tolerance, chi2_tolerance
        Distances from nominal that pass for any number of points.

    Returns
    -------
    dict
        By name, `value`, `low`, `high` (None if there is no such bound) and `passed`:
        `chi2_per_point`, the mean of z_total², nominally 1, its standard error that of the values
        or of a Gaussian's, √(2 / points), whichever is larger; `coverage_68` and `coverage_95`,
        the shares inside central intervals, with binomial standard errors; `pit_ecdf`, the
        largest distance by which the distribution function of the PIT leaves the band, zero or
        less inside it (at u = 0.01 … 0.99).

    References
    ----------
    T. Säilynoja, P.-C. Bürkner, A. Vehtari, Statistics and Computing 32 (2022) 32, for the band.
    """
    squared, points = np.square(z_total), len(z_total)
    error = max(float(squared.std()), math.sqrt(2)) / math.sqrt(points)
    return {
        "chi2_per_point": _near(float(squared.mean()), 1.0, chi2_tolerance, error=error),
        "coverage_68": check_coverage(pit, "coverage_68", coverage_tolerance),
        "coverage_95": check_coverage(pit, "coverage_95", coverage_tolerance),
        "pit_ecdf": _band(pit, ranked),
    }


def check_coverage(pit: np.ndarray, name: str, tolerance: float) -> dict[str, float | bool | None]:
    """Check one of the coverages of `check`."""
    level = CENTRAL_LEVELS[name]
    error = math.sqrt(level * (1 - level) / len(pit))
    return _near(share_within(2 * pit - 1, level), level, tolerance, error=error)


def _near(
    value: float, nominal: float, tolerance: float, *, error: float
) -> dict[str, float | bool | None]:
    reach = tolerance + STANDARD_ERRORS * error
    low, high = nominal - reach, nominal + reach
    return {"value": value, "low": low, "high": high, "passed": low <= value <= high}


def _band(pit: np.ndarray, ranked: int | None) -> dict[str, float | bool | None]:
    whole = pit_table(pit, confidence=BAND, ranked=ranked)
    table = {name: column[1:-1] for name, column in whole.items()}
    outside = np.maximum(table["ecdf"] - table["upper"], table["lower"] - table["ecdf"])
    excess = float(outside.max())
    return {"value": excess, "low": None, "high": 0.0, "passed": excess <= 0}
