"""Whether the spread of residuals changes along the prediction."""

from __future__ import annotations

import numpy as np
from scipy.stats import chi2, rankdata

from nlobayes.checks import CalibrationCheck
from nlobayes.evaluation.calibration.checks import check_coverage
from nlobayes.evaluation.run_evaluation import Spread

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
    """
    thirds, fitted = [pit[rows] for rows in _thirds(mean)], len(pit) - tested
    fitted_to = fitted * len(pit) // max(tested - fitted, 1)
    return [check_coverage(each, "coverage_68", fitted_to, tolerance) for each in thirds]


def _thirds(mean: np.ndarray) -> list[np.ndarray]:
    return np.array_split(np.argsort(mean, kind="stable"), 3)


def _glejser(mean: np.ndarray, residual: np.ndarray) -> float:
    """Return the p-value of a change of the size of residuals along their means; both (point,)."""
    size = np.abs(residual) - np.mean(np.sign(residual)) * residual
    place = rankdata(mean) / len(mean) - 0.5
    terms = np.column_stack([np.ones_like(place), place, np.square(place)])
    fitted = terms @ np.linalg.lstsq(terms, size)[0]
    share = np.var(fitted) / np.var(size) if np.ptp(size) > 0 else 0.0
    return float(chi2.sf(len(size) * share, 2))
