"""Tests of the predicted uncertainties: standardised residuals, coverage, PIT.

Draws (sample, point) and observed (point) are on the model scale. An ensemble of point
predictions is scored in the same way, with its members as draws. A score is a number, or a
line that states why there is none.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from nlobayes.evaluation.calibration.ecdf_band import ecdf_band
from nlobayes.evaluation.predictive.predictive_density import (
    PredictiveNoise,
    checked_split,
    locate,
    predictive_cdf,
    predictive_moments,
    select_rows,
)

COVERAGE_MULTIPLES = (1, 2, 3, 4, 5)
CENTRAL_LEVELS = {"coverage_68": 0.68, "coverage_95": 0.95, "coverage_99_7": 0.997}
CONFIDENCE = 0.95
"""Probability of the Wilson intervals and of the simultaneous band."""

_ECDF_POINTS = 101
_OWN_ELEMENTS = 200_000
_ONE_POINT = "at least two points are needed, there is only one"


def calibration(
    draws: np.ndarray, observed: np.ndarray, noise: PredictiveNoise
) -> dict[str, float | str]:
    """Check the uncertainties of one split.

    Raises InputError if the arrays do not fit together or a value is not finite.

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
    Of the pulls z = (observed - mean) / sd: `sigma_z_epistemic` and `sigma_z_total`, their standard
    deviation, above 1 where the uncertainties are too small (undefined where a point has no
    epistemic spread, as with a single draw); `mean_z_total`; `chi2_per_point`, the mean of
    z_total². The last three with suffix `_se` are their standard errors. `coverage_k1` to
    `coverage_k5`: share of points within k total sd of the mean, and with suffix `_epistemic`
    within k epistemic sd, none without spread. `coverage_68`, `coverage_95`, `coverage_99_7`: share
    inside the central interval of the predictive mixture of probability 0.68, 0.95, 0.997.
    `pit_ks`: Kolmogorov-Smirnov distance of the probability integral transform to the uniform
    distribution.
    """
    draws, observed = checked_split(draws, observed)
    mean, posterior_sd, total_sd = predictive_moments(draws, noise)
    z_epistemic = standardised_residuals(observed, mean, posterior_sd)
    z_total = standardised_residuals(observed, mean, total_sd)
    pit = predictive_cdf(draws, observed, noise)
    return {
        "sigma_z_epistemic": _spread(z_epistemic),
        **_pulls(z_total),
        **{f"coverage_k{k}": share_within(z_total, k) for k in COVERAGE_MULTIPLES},
        **{f"coverage_k{k}_epistemic": share_within(z_epistemic, k) for k in COVERAGE_MULTIPLES},
        **{name: share_within(2 * pit - 1, level) for name, level in CENTRAL_LEVELS.items()},
        "pit_ks": kolmogorov_smirnov_distance(pit),
    }


class OwnCoverage(NamedTuple):
    """Share of the predictive within k sd of its mean, axis (row): of the draws, with the noise."""

    epistemic: np.ndarray
    total: np.ndarray


def own_coverage(draws: np.ndarray, noise: PredictiveNoise, *, k: np.ndarray) -> OwnCoverage:
    """Average over points the share of the predictive within k sd of its mean.

    It is the coverage of a calibrated predictive, and equals a Gaussian's only if the predictive is
    Gaussian. With many draws (sample, point) a subset of evenly spread points is used. `epistemic`
    is NaN without spread.
    """
    count = draws.shape[1]
    most = max(1, _OWN_ELEMENTS // (1 if noise.about_mean else len(draws)))
    points = np.linspace(0, count - 1, min(count, most)).round().astype(int)
    draws, noise = draws[:, points], select_rows(noise, points)
    mean, posterior_sd, total_sd = predictive_moments(draws, noise)
    deviations = np.abs(standardised_residuals(draws, mean, posterior_sd))
    centres, law, _ = locate(draws, noise)
    total = [
        (law.cdf(mean + half - centres) - law.cdf(mean - half - centres)).mean()
        for half in np.multiply.outer(k, total_sd)
    ]
    spread = bool((posterior_sd > 0).all())
    epistemic = [(deviations <= width).mean() if spread else np.nan for width in k]
    return OwnCoverage(np.array(epistemic), np.array(total))


def coverage_table(
    z_epistemic: np.ndarray, z_total: np.ndarray, own: OwnCoverage, *, k: np.ndarray
) -> dict[str, np.ndarray]:
    """Tabulate coverage against the width of the interval, for a figure.

    Parameters
    ----------
    z_epistemic, z_total
        Standardised residuals, axis (point); NaN, without spread, counts as not covered.
    own
        Shares that the predictive itself has within these intervals.
    k
        Half widths of the intervals in standard deviations, axis (row).

    Returns
    -------
    Columns of equal length: `k`; `own_epistemic` and `own_total`, the shares of the predictive
    itself; `epistemic` and `total`, the observed shares; `lower` and `upper`, the 95 % Wilson
    interval of `total`.
    """
    k = np.asarray(k, dtype=np.float64)
    total = np.array([share_within(z_total, width) for width in k])
    lower, upper = wilson_interval(total, len(z_total))
    return {
        "k": k,
        "own_epistemic": own.epistemic,
        "own_total": own.total,
        "epistemic": np.array([share_within(z_epistemic, width) for width in k]),
        "total": total,
        "lower": lower,
        "upper": upper,
    }


def level_table(pit: np.ndarray, levels: np.ndarray) -> dict[str, np.ndarray]:
    """Tabulate the coverage of central intervals of the predictive mixture, for a figure.

    Parameters
    ----------
    pit
        Probability integral transform, axis (point).
    levels
        Probabilities of the intervals, axis (row).

    Returns
    -------
    Columns of equal length: `level`, `coverage`, and its 95 % Wilson interval `lower`, `upper`.
    """
    levels = np.asarray(levels, dtype=np.float64)
    coverage = np.array([share_within(2 * pit - 1, level) for level in levels])
    lower, upper = wilson_interval(coverage, len(pit))
    return {"level": levels, "coverage": coverage, "lower": lower, "upper": upper}


def pit_table(
    pit: np.ndarray, *, confidence: float = CONFIDENCE, fitted_to: int | None = None
) -> dict[str, np.ndarray]:
    """Tabulate the distribution function of the PIT with the band of a uniform sample.

    Parameters
    ----------
    pit
        Probability integral transform, axis (point).
    confidence
        Probability that the whole function of a calibrated forecaster lies in the band.
    fitted_to
        Number of other rows that the noise was fitted to, if the band is to include their chance.

    Returns
    -------
    Columns of 101 rows: `u`, from 0 to 1; `ecdf`, the share of points with a PIT of at most u;
    `lower` and `upper`, the simultaneous band, its ends included.
    """
    u = np.linspace(0, 1, _ECDF_POINTS)
    ecdf = np.searchsorted(np.sort(pit), u, side="right") / len(pit)
    band = ecdf_band(len(pit), u, confidence)
    chance = 1.0 if fitted_to is None else _chance_of_ranks(u, len(pit), fitted_to)
    lower, upper = (np.clip(u + chance * (edge - u), 0, 1) for edge in band)
    return {"u": u, "ecdf": ecdf, "lower": lower, "upper": upper}


def standardised_residuals(observed: np.ndarray, mean: np.ndarray, sd: np.ndarray) -> np.ndarray:
    """Return (observed - mean) / sd of (..., point), NaN where sd is zero."""
    undefined = np.full(observed.shape, np.nan)
    return np.divide(observed - mean, sd, out=undefined, where=sd > 0)


def share_within(values: np.ndarray, width: float) -> float:
    """Return the share of points at most `width` from zero; NaN counts as outside."""
    return float(np.mean(np.abs(values) <= width))


def kolmogorov_smirnov_distance(pit: np.ndarray) -> float:
    """Return the largest distance between the distribution of values in [0, 1] and uniform."""
    steps = np.arange(len(pit) + 1) / len(pit)
    ordered = np.sort(pit)
    return float(max((steps[1:] - ordered).max(), (ordered - steps[:-1]).max()))


def wilson_interval(
    share: np.ndarray, points: int | np.ndarray, *, confidence: float = CONFIDENCE
) -> tuple[np.ndarray, np.ndarray]:
    """Return the Wilson score interval of binomial shares.

    References
    ----------
    E. B. Wilson, Journal of the American Statistical Association 22 (1927) 209.
    """
    z = -ndtri((1 - confidence) / 2)
    squared = z**2 / points
    centre = (share + squared / 2) / (1 + squared)
    half = np.sqrt(share * (1 - share) * squared + squared**2 / 4) / (1 + squared)
    return centre - half, centre + half


def spread_error(z: np.ndarray) -> float:
    """Return the standard error of the standard deviation, from the fourth moment.

    The delta method on the variance s² of n values, whose error is √((m4 - s⁴) / n); zero where
    all values are equal.
    """
    squared = np.square(z - z.mean())
    variance = squared.mean()
    return float(squared.std() / (2 * np.sqrt(variance * len(z)))) if variance > 0 else 0.0


def _chance_of_ranks(u: np.ndarray, points: int, others: int) -> np.ndarray:
    """Return the factor (row,) by which ranks among other residuals widen the band.

    The share of absolute residuals below the v-quantile of n others has the variance v (1 - v) / n.
    Half of its error is that of the distribution function at u = (1 + v) / 2 and (1 - v) / 2, where
    m points have the binomial variance (1 - v²) / 4 m. The ratio is (m / n) v / (1 + v).
    """
    v = np.abs(2 * u - 1)
    return np.sqrt(1 + points / others * v / (1 + v))


def _pulls(z: np.ndarray) -> dict[str, float | str]:
    points = len(z)
    scores: dict[str, float | str] = {
        "sigma_z_total": _spread(z),
        "mean_z_total": float(z.mean()),
        "chi2_per_point": float(np.square(z).mean()),
    }
    if points == 1:
        return scores | dict.fromkeys([f"{name}_se" for name in scores], _ONE_POINT)
    return scores | {
        "sigma_z_total_se": spread_error(z),
        "mean_z_total_se": float(z.std() / np.sqrt(points)),
        "chi2_per_point_se": float(np.square(z).std() / np.sqrt(points)),
    }


def _spread(z: np.ndarray) -> float | str:
    if np.isnan(z).any():
        return f"{np.isnan(z).sum()} of {len(z)} points have no epistemic spread"
    return _ONE_POINT if len(z) == 1 else float(z.std())
