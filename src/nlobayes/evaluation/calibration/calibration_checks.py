"""Four checks of the calibration of a forecaster, with their bounds.

A check passes within the interval of chance plus or minus a tolerance, the accuracy needed in
practice. A calibrated forecaster leaves the interval as rarely as a Gaussian leaves three standard
errors. Chance is that of the points, and that of the rows that the noise was fitted to. The latter
is taken for error bars that are ranks among the residuals of these rows; a scale that is fitted to
them has less. The distribution of the PIT has a simultaneous band and no tolerance.
"""

from __future__ import annotations

import math

import numpy as np

from nlobayes.checks import CalibrationCheck, CoverageCheck
from nlobayes.evaluation.calibration.calibration import CENTRAL_LEVELS, pit_table, share_within
from nlobayes.evaluation.run_evaluation import Spread

WITHIN = math.erf(3 / math.sqrt(2))
"""Probability with which a calibrated forecaster is within the interval of a check, 99.73 %."""


def check(
    z_total: np.ndarray,
    pit: np.ndarray,
    *,
    fitted_to: int,
    coverage_tolerance: float = 0.02,
    chi2_tolerance: float = 0.1,
) -> dict[str, CalibrationCheck]:
    """Check the calibration of one split.

    Parameters
    ----------
    z_total
        Standardised residuals (observed - mean) / total sd, axis (point).
    pit
        Probability integral transform of the predictive mixture, axis (point).
    fitted_to
        Number of other rows that the noise was fitted to.
    coverage_tolerance, chi2_tolerance
        Distances from the interval of chance that pass.

    Returns
    -------
    By name, `value`, `low`, `high` (None if there is no such bound) and `passed`: `chi2_per_point`,
    the mean of z_total², nominally 1; `coverage_68` and `coverage_95`, the shares inside central
    intervals; `pit_ecdf`, the largest distance by which the distribution function of the PIT leaves
    the band, zero or less inside it (at u = 0.01 … 0.99).

    References
    ----------
    V. Vovk, Machine Learning 92 (2013) 349, for coverage, which is beta-binomial. T. Säilynoja,
    P.-C. Bürkner, A. Vehtari, Statistics and Computing 32 (2022) 32, for the band.
    """
    return {
        "chi2_per_point": _check_chi2(np.square(z_total), fitted_to, chi2_tolerance),
        "coverage_68": check_coverage(pit, "coverage_68", fitted_to, coverage_tolerance),
        "coverage_95": check_coverage(pit, "coverage_95", fitted_to, coverage_tolerance),
        "pit_ecdf": _band(pit, fitted_to),
    }


def check_coverage(
    pit: np.ndarray, name: CoverageCheck, fitted_to: int, tolerance: float
) -> CalibrationCheck:
    """Check one of the coverages of `check`.

    The share of new residuals within the k-th smallest of n others has the beta distribution of
    k and n + 1 - k, and the nominal share is k / (n + 1).
    """
    from scipy.stats import betabinom

    level, points = CENTRAL_LEVELS[name], len(pit)
    within = np.array([level, 1 - level]) * (fitted_to + 1)
    low, high = betabinom.interval(WITHIN, points, *within)
    return _within(share_within(2 * pit - 1, level), low / points, high / points, tolerance)


def _check_chi2(squared: np.ndarray, fitted_to: int, tolerance: float) -> CalibrationCheck:
    """Check the mean of squared pulls (point,), a ratio of squares of both samples.

    For Gaussian residuals and one scale it has the F distribution. Heavier tails are worth fewer
    degrees of freedom, by the relative variance of the squares (2 for a Gaussian).
    """
    from scipy.stats import f

    mean = float(squared.mean())
    rows_per_degree = max(1.0, float(squared.var()) / (2 * mean**2) if mean > 0 else 0.0)
    low, high = f.interval(WITHIN, len(squared) / rows_per_degree, fitted_to / rows_per_degree)
    return _within(mean, low, high, tolerance)


def _within(value: float, low: float, high: float, tolerance: float) -> CalibrationCheck:
    low, high = float(low - tolerance), float(high + tolerance)
    return {"value": value, "low": low, "high": high, "passed": low <= value <= high}


def _band(pit: np.ndarray, fitted_to: int) -> CalibrationCheck:
    whole = pit_table(pit, confidence=WITHIN, fitted_to=fitted_to)
    table = {name: column[1:-1] for name, column in whole.items()}
    outside = np.maximum(table["ecdf"] - table["upper"], table["lower"] - table["ecdf"])
    excess = float(outside.max())
    return {"value": excess, "low": None, "high": 0.0, "passed": excess <= 0}


LEVEL = 1e-3
"""Probability with which a change is found in noise of one distribution."""
FEWEST_ROWS = 20
_LEAST = 0.25
"""Least variance of a residual of a train row, in units of that of the noise."""


def spread_along(draws: np.ndarray, observed: np.ndarray, trained: np.ndarray) -> Spread:
    """Test whether the spread of the residuals changes along the prediction.

    Glejser's test regresses the absolute residuals on the rank of the prediction and its square.
    With noise of one distribution, R² times the number of points is chi² of two degrees of freedom.
    The term of Machado and Santos Silva makes this true also for skewed noise.

    Parameters
    ----------
    draws
        Function draws (sample, point) on the model scale.
    observed
        Observed targets (point,).
    trained
        Whether the draws have learned a point (point,). The residuals of such points are smaller
        than the noise by the variance of the draws, and those of others larger.

    Returns
    -------
    `p_value`; `changes`, whether it is below `LEVEL`, and there are 20 points or more; `thirds`,
    the root mean squares of the residuals in the lower, the middle and the upper third of the
    predictions.

    References
    ----------
    H. Glejser, Journal of the American Statistical Association 64 (1969) 316. J. A. F. Machado,
    J. M. C. Santos Silva, Journal of Econometrics 97 (2000) 189.
    """
    mean, known = draws.mean(axis=0), draws.var(axis=0)
    residual = observed - mean
    of_noise = np.square(residual) + np.where(trained, known, -known)
    noise = max(float(of_noise[trained if trained.any() else ...].mean()), 0.0)
    variance = np.where(trained, np.maximum(noise - known, _LEAST * noise), noise + known)
    thirds = [float(np.sqrt(np.mean(np.square(residual[rows])))) for rows in _thirds(mean)]
    p_value = _glejser(mean, residual / np.sqrt(variance)) if variance.all() else 1.0
    changes = len(mean) >= FEWEST_ROWS and p_value < LEVEL
    return {"p_value": p_value, "changes": changes, "thirds": thirds}


def coverage_of_thirds(
    mean: np.ndarray, pit: np.ndarray, *, tested: int, tolerance: float
) -> list[CalibrationCheck]:
    """Check the coverage of central 68 % intervals in the thirds of the predictions; (point,).

    Each check is as in `checks.check`, in ascending order of the predictions. `tested` points are
    test rows, and the noise was fitted to the others. Coverage of all the others together is right
    by the fit, which narrows the limits; that of test rows has the chance of the fit, which widens
    them. With v others and t test rows the variance p (1 - p) (2 v + t) / v (v + t) of a third is
    that of its points, 3 / (v + t), and of v (v + t) / (t - v) rows of a fit; of no fit if t <= v.
    Of one or two points the last thirds are empty, and have no check.
    """
    thirds = [pit[rows] for rows in _thirds(mean) if len(rows)]
    fitted = len(pit) - tested
    fitted_to = fitted * len(pit) // max(tested - fitted, 1)
    return [check_coverage(each, "coverage_68", fitted_to, tolerance) for each in thirds]


def _thirds(mean: np.ndarray) -> list[np.ndarray]:
    return np.array_split(np.argsort(mean, kind="stable"), 3)


def _glejser(mean: np.ndarray, residual: np.ndarray) -> float:
    """Return the p-value of a change of the size of residuals along their means; both (point,)."""
    from scipy.stats import chi2, rankdata

    size = np.abs(residual) - np.mean(np.sign(residual)) * residual
    place = rankdata(mean) / len(mean) - 0.5
    terms = np.column_stack([np.ones_like(place), place, np.square(place)])
    fitted = terms @ np.linalg.lstsq(terms, size)[0]
    share = np.var(fitted) / np.var(size) if np.ptp(size) > 0 else 0.0
    return float(chi2.sf(len(size) * share, 2))
