"""How good the predictions are: accuracy in log10 and target space, proper scoring rules.

Draws (sample, point) and observed (point) are in log10 units; the target is 10 to that power.
"""

import math

import numpy as np
import scoringrules

from nlobayes.assessment.calibration import calibration, standardised_residuals
from nlobayes.assessment.noise import (
    PredictiveNoise,
    checked_split,
    log_predictive_density,
    point_chunks,
    predictive_cdf,
    predictive_moments,
    sample,
)
from nlobayes.errors import InputError

RELATIVE_ERROR_PERCENTILES = (50, 68, 90, 95, 99)

# A few draws (an ensemble, a single fit) get several noise values each, for an accurate CRPS.
_FEWEST_CRPS_MEMBERS = 1000


def evaluate(
    draws: np.ndarray, observed: np.ndarray, noise: PredictiveNoise, rng: np.random.Generator
) -> dict[str, float | None]:
    """Judge the predictions of one split: accuracy, calibration and proper scores.

    Parameters
    ----------
    draws
        Function draws, axes (sample, point); the members of an ensemble serve as draws.
    observed
        Observed targets, axis (point).
    noise
        Predictive noise.
    rng
        Source of the noise in the CRPS, the only sampled number.

    Returns
    -------
    dict
        The keys of `accuracy`, `calibration` and `proper_scores`.

    Raises
    ------
    InputError
        If the arrays do not fit together, a value is not finite, or all targets are equal.
    """
    draws, observed = checked_split(draws, observed)
    return {
        **accuracy(draws, observed),
        **calibration(draws, observed, noise),
        **proper_scores(draws, observed, noise, rng),
    }


def accuracy(draws: np.ndarray, observed: np.ndarray) -> dict[str, float]:
    """Score the point predictions of one split.

    Parameters
    ----------
    draws
        Function draws, axes (sample, point).
    observed
        Observed targets, axis (point).

    Returns
    -------
    dict
        `r2_log10`, `rmse_log10`: of the mean of the draws. `r2_target_mean`,
        `r2_target_median`: of the mean of 10^draw and of 10^(median draw).
        `relative_error_p50` to `relative_error_p99`: percentiles over points of
        |10^(median draw) / target - 1|.

    Raises
    ------
    InputError
        If the arrays do not fit together, a value is not finite, or all targets are equal.
    """
    draws, observed = checked_split(draws, observed)
    mean, median = draws.mean(axis=0), np.median(draws, axis=0)
    target = 10**observed
    relative = np.abs(10 ** (median - observed) - 1)
    percentiles = np.percentile(relative, RELATIVE_ERROR_PERCENTILES)
    return {
        "r2_log10": r_squared(mean, observed),
        "rmse_log10": float(np.sqrt(np.mean(np.square(observed - mean)))),
        "r2_target_mean": r_squared(mean_target(draws), target),
        "r2_target_median": r_squared(10**median, target),
        **{
            f"relative_error_p{p}": float(value)
            for p, value in zip(RELATIVE_ERROR_PERCENTILES, percentiles, strict=True)
        },
    }


def proper_scores(
    draws: np.ndarray, observed: np.ndarray, noise: PredictiveNoise, rng: np.random.Generator
) -> dict[str, float]:
    """Score the whole predictive distribution of one split, averaged over points.

    Parameters
    ----------
    draws
        Function draws, axes (sample, point).
    observed
        Observed targets, axis (point).
    noise
        Predictive noise.
    rng
        Source of the noise in the CRPS.

    Returns
    -------
    dict
        `crps` in log10 units, lower is better; `lppd`, the log of the mixture density, higher
        is better; `nll_gaussian`, minus the log density of the Gaussian with the mixture's mean
        and variance, lower is better.

    Raises
    ------
    InputError
        If the arrays do not fit together or a value is not finite.

    References
    ----------
    T. Gneiting, A. E. Raftery, Journal of the American Statistical Association 102 (2007) 359.
    """
    draws, observed = checked_split(draws, observed)
    mean, _, total_sd = predictive_moments(draws, noise)
    squared = np.square((observed - mean) / total_sd)
    return {
        "crps": float(_crps(draws, observed, noise, rng).mean()),
        "lppd": float(log_predictive_density(draws, observed, noise).mean()),
        "nll_gaussian": float(np.mean(0.5 * squared + np.log(total_sd * math.sqrt(2 * math.pi)))),
    }


def predictions_table(
    draws: np.ndarray, observed: np.ndarray, noise: PredictiveNoise
) -> dict[str, np.ndarray]:
    """Tabulate the prediction and its residual per point, for figures.

    Returns
    -------
    dict
        Columns of one value per point: `mean_log10`, `epistemic_sd_log10`, `total_sd_log10`,
        `median_target` = 10^(median draw), `mean_target` = mean of 10^draw (noise left out: a
        Student-t in log10 has no mean in target space), `z_epistemic` (NaN without spread),
        `z_total`, `pit`.

    Raises
    ------
    InputError
        If draws (sample, point) and observed (point) do not fit together.
    """
    draws, observed = checked_split(draws, observed)
    mean, epistemic_sd, total_sd = predictive_moments(draws, noise)
    return {
        "mean_log10": mean,
        "epistemic_sd_log10": epistemic_sd,
        "total_sd_log10": total_sd,
        "median_target": 10 ** np.median(draws, axis=0),
        "mean_target": mean_target(draws),
        "z_epistemic": standardised_residuals(observed, mean, epistemic_sd),
        "z_total": standardised_residuals(observed, mean, total_sd),
        "pit": predictive_cdf(draws, observed, noise),
    }


def mean_target(draws: np.ndarray) -> np.ndarray:
    """Return the mean over draws of 10^draw, axis (point), without noise."""
    parts = [(10 ** draws[:, part]).mean(axis=0) for part in point_chunks(*draws.shape)]
    return np.concatenate(parts)


def r_squared(predicted: np.ndarray, observed: np.ndarray) -> float:
    """Return 1 - Σ(observed - predicted)^2 / Σ(observed - mean observed)^2.

    Raises
    ------
    InputError
        If all observed values are equal, where the ratio is undefined.
    """
    if np.ptp(observed) == 0:
        raise InputError(
            f"R^2 needs at least two different targets, got {observed.size} equal to "
            f"{observed.flat[0]}; use a larger split"
        )
    error = np.square(observed - predicted).sum()
    return float(1 - error / np.square(observed - observed.mean()).sum())


def _crps(
    draws: np.ndarray, observed: np.ndarray, noise: PredictiveNoise, rng: np.random.Generator
) -> np.ndarray:
    """Unbiased CRPS per point over noisy draws (probability-weighted moments)."""
    repeats = math.ceil(_FEWEST_CRPS_MEMBERS / len(draws))
    parts = []
    for part in point_chunks(len(draws) * repeats, len(observed)):
        members = np.repeat(draws[:, part].T, repeats, axis=1)
        members += sample(noise, rng, members.shape)
        members.sort(axis=1)
        parts.append(
            scoringrules.crps_ensemble(
                observed[part], members, estimator="pwm", sorted_ensemble=True, backend="numpy"
            )
        )
    return np.concatenate(parts)
