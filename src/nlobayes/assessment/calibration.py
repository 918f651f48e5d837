"""Whether the predicted uncertainties are right: standardised residuals, coverage, PIT.

All arrays are in log10 units: draws (sample, point), observed (point). An ensemble of
point predictions is judged the same way, its members in the place of draws.
"""

import math

import numpy as np
from scipy.special import erf

from nlobayes.assessment.noise import (
    PredictiveNoise,
    checked_split,
    predictive_cdf,
    predictive_moments,
)

COVERAGE_MULTIPLES = (1, 2, 3, 4, 5)
CENTRAL_LEVELS = {"coverage_68": 0.68, "coverage_95": 0.95, "coverage_99_7": 0.997}


def calibration(
    draws: np.ndarray, observed: np.ndarray, noise: PredictiveNoise
) -> dict[str, float | None]:
    """Judge the uncertainties of one split.

    Parameters
    ----------
    draws
        Function draws, axes (sample, point).
    observed
        Observed targets, axis (point).
    noise
        Predictive noise; total uncertainty is the draws' spread plus this noise.

    Returns
    -------
    dict
        `sigma_z_epistemic`, `sigma_z_total`: standard deviation of (observed - mean) / sd, above
        1 where the uncertainties are too small; None where a point has no epistemic spread, as
        with a single draw. `coverage_k1` to `coverage_k5`: share of points within k total sd of
        the mean, and with suffix `_epistemic` within k epistemic sd. `coverage_68`,
        `coverage_95`, `coverage_99_7`: share inside the central interval of the predictive
        mixture of probability 0.68, 0.95, 0.997. `pit_ks`: Kolmogorov-Smirnov distance of the
        probability integral transform to the uniform distribution.

    Raises
    ------
    InputError
        If the arrays do not fit together or a value is not finite.
    """
    draws, observed = checked_split(draws, observed)
    moments = predictive_moments(draws, noise)
    distance = np.abs(observed - moments.mean)
    pit = predictive_cdf(draws, observed, noise)
    return {
        "sigma_z_epistemic": _spread(
            standardised_residuals(observed, moments.mean, moments.epistemic_sd)
        ),
        "sigma_z_total": _spread(standardised_residuals(observed, moments.mean, moments.total_sd)),
        **{
            f"coverage_k{k}": _share_within(distance, k * moments.total_sd)
            for k in COVERAGE_MULTIPLES
        },
        **{
            f"coverage_k{k}_epistemic": _share_within(distance, k * moments.epistemic_sd)
            for k in COVERAGE_MULTIPLES
        },
        **{
            name: _share_within(np.abs(2 * pit - 1), level)
            for name, level in CENTRAL_LEVELS.items()
        },
        "pit_ks": kolmogorov_smirnov_distance(pit),
    }


def coverage_table(
    draws: np.ndarray, observed: np.ndarray, noise: PredictiveNoise, *, k: np.ndarray
) -> dict[str, np.ndarray]:
    """Tabulate coverage against the width of the interval, for a figure.

    Parameters
    ----------
    draws
        Function draws, axes (sample, point).
    observed
        Observed targets, axis (point).
    noise
        Predictive noise.
    k
        Half widths of the intervals in standard deviations, axis (row).

    Returns
    -------
    dict
        Columns of equal length: `k`; `nominal`, the coverage of a Gaussian; `epistemic` and
        `total`, the observed shares; `lower` and `upper`, the Wilson interval of `total` at one
        standard deviation (68 %).

    Raises
    ------
    InputError
        If the arrays do not fit together or a value is not finite.
    """
    draws, observed = checked_split(draws, observed)
    moments = predictive_moments(draws, noise)
    distance = np.abs(observed - moments.mean)
    k = np.asarray(k, dtype=np.float64)
    total = np.array([_share_within(distance, width * moments.total_sd) for width in k])
    epistemic = [_share_within(distance, width * moments.epistemic_sd) for width in k]
    lower, upper = wilson_interval(total, len(observed))
    return {
        "k": k,
        "nominal": erf(k / math.sqrt(2)),
        "epistemic": np.array(epistemic),
        "total": total,
        "lower": lower,
        "upper": upper,
    }


def standardised_residuals(observed: np.ndarray, mean: np.ndarray, sd: np.ndarray) -> np.ndarray:
    """Return (observed - mean) / sd per point, NaN where sd is zero."""
    undefined = np.full(observed.shape, np.nan)
    return np.divide(observed - mean, sd, out=undefined, where=sd > 0)


def kolmogorov_smirnov_distance(pit: np.ndarray) -> float:
    """Return the largest distance between the distribution of values in [0, 1] and uniform."""
    steps = np.arange(len(pit) + 1) / len(pit)
    ordered = np.sort(pit)
    return float(max((steps[1:] - ordered).max(), (ordered - steps[:-1]).max()))


def wilson_interval(share: np.ndarray, points: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the Wilson score interval of binomial shares at one standard deviation.

    References
    ----------
    E. B. Wilson, Journal of the American Statistical Association 22 (1927) 209.
    """
    centre = (share + 0.5 / points) / (1 + 1 / points)
    half = np.sqrt(share * (1 - share) / points + 0.25 / points**2) / (1 + 1 / points)
    return centre - half, centre + half


def _spread(z: np.ndarray) -> float | None:
    return None if np.isnan(z).any() else float(z.std())


def _share_within(distance: np.ndarray, width: np.ndarray | float) -> float:
    return float(np.mean(distance <= width))
