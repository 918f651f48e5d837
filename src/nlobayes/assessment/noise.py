"""The predictive noise, fitted after sampling, and the predictive mixture it forms with the draws.

The predictive density of one point is the mean over draws s of p(y - f_s), with f in log10 units
and p a Gaussian or a Student-t of one common scale.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp, ndtr, stdtr

from nlobayes.errors import InputError

FAMILIES = ("gaussian", "student_t")
STUDENT_T_DEGREES = 4.0

_CHUNK_ELEMENTS = 1_000_000
# Scales searched, in units of the root mean square residual, which bounds the optimum from above.
_SEARCH = (1e-6, 2.0)
_SEARCH_POINTS = 14


class PredictiveNoise(NamedTuple):
    """Noise about the function: family, scale in log10 units, degrees of freedom (Student-t)."""

    family: str
    scale_log10: float
    degrees_of_freedom: float | None


class Moments(NamedTuple):
    """Mean and standard deviations of the predictive per point, in log10 units.

    `epistemic_sd` is the spread of the draws (divided by their number, not one less, so that it
    is the mixture's own); `total_sd` adds the noise in quadrature.
    """

    mean: np.ndarray
    epistemic_sd: np.ndarray
    total_sd: np.ndarray


def make_noise(family: str, scale_log10: float) -> PredictiveNoise:
    """Build the noise of a family; the Student-t has 4 degrees of freedom.

    Raises
    ------
    InputError
        If the family is unknown or the scale is not positive and finite.
    """
    degrees = STUDENT_T_DEGREES if family == "student_t" else None
    return _checked(PredictiveNoise(family, float(scale_log10), degrees))


def sd(noise: PredictiveNoise) -> float:
    """Return the standard deviation in log10 units: the scale, or larger for a Student-t."""
    _, scale, degrees = _checked(noise)
    return scale if degrees is None else scale * math.sqrt(degrees / (degrees - 2))


def logpdf(noise: PredictiveNoise, residual: np.ndarray) -> np.ndarray:
    """Return the log density of residuals in log10 units, elementwise."""
    _, scale, degrees = _checked(noise)
    squared = np.square(residual / scale)
    if degrees is None:
        return -0.5 * squared - math.log(scale * math.sqrt(2 * math.pi))
    constant = math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)
    constant -= math.log(scale * math.sqrt(degrees * math.pi))
    return constant - (degrees + 1) / 2 * np.log1p(squared / degrees)


def cdf(noise: PredictiveNoise, residual: np.ndarray) -> np.ndarray:
    """Return the probability of a smaller residual, elementwise."""
    _, scale, degrees = _checked(noise)
    standardised = residual / scale
    return ndtr(standardised) if degrees is None else stdtr(degrees, standardised)


def sample(noise: PredictiveNoise, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Draw residuals in log10 units."""
    _, scale, degrees = _checked(noise)
    standard = rng.standard_normal(shape) if degrees is None else rng.standard_t(degrees, shape)
    return scale * standard


def fit_noise(draws: np.ndarray, observed: np.ndarray, *, family: str) -> PredictiveNoise:
    """Fit the scale that maximises the mean log predictive density of the observed points.

    Parameters
    ----------
    draws
        Function draws in log10 units, axes (sample, point), at points not trained on.
    observed
        Observed log10 targets, axis (point).
    family
        `gaussian` or `student_t`.

    Returns
    -------
    PredictiveNoise
        The fitted noise, its scale to a relative accuracy of about 1e-4.

    Raises
    ------
    InputError
        If the arrays do not fit together, the family is unknown, or the predictions reproduce
        the observations so well that no scale can be found.
    """
    draws, observed = checked_split(draws, observed)

    def loss(scale_log10: float) -> float:
        noise = make_noise(family, scale_log10)
        return -float(log_predictive_density(draws, observed, noise).mean())

    widest = _root_mean_square_residual(draws, observed)
    scales = widest * np.geomspace(*_SEARCH, _SEARCH_POINTS)
    best = int(np.argmin([loss(scale) for scale in scales])) if widest > 0 else 0
    if best == 0:
        raise InputError(
            f"no predictive noise fits {len(observed)} points: the predictions reproduce the "
            f"observations exactly; fit on points that were not trained on"
        )
    optimum = minimize_scalar(
        lambda log_scale: loss(math.exp(log_scale)),
        bounds=np.log([scales[best - 1], scales[min(best + 1, _SEARCH_POINTS - 1)]]),
        method="bounded",
        options={"xatol": 1e-4},
    )
    return make_noise(family, math.exp(optimum.x))


def log_predictive_density(
    draws: np.ndarray, observed: np.ndarray, noise: PredictiveNoise
) -> np.ndarray:
    """Return the log of the mixture density at each observed point, axis (point).

    Raises
    ------
    InputError
        If draws (sample, point) and observed (point) do not fit together.
    """
    draws, observed = checked_split(draws, observed)
    parts = [
        logsumexp(logpdf(noise, observed[part] - draws[:, part]), axis=0)
        for part in point_chunks(*draws.shape)
    ]
    return np.concatenate(parts) - np.log(len(draws))


def predictive_cdf(draws: np.ndarray, observed: np.ndarray, noise: PredictiveNoise) -> np.ndarray:
    """Return the mixture's probability of a smaller value at each observed point (the PIT).

    Raises
    ------
    InputError
        If draws (sample, point) and observed (point) do not fit together.
    """
    draws, observed = checked_split(draws, observed)
    parts = [
        cdf(noise, observed[part] - draws[:, part]).mean(axis=0)
        for part in point_chunks(*draws.shape)
    ]
    return np.concatenate(parts)


def predictive_moments(draws: np.ndarray, noise: PredictiveNoise) -> Moments:
    """Return mean and standard deviations of the mixture from draws (sample, point)."""
    draws = np.asarray(draws, dtype=np.float64)
    epistemic_sd = draws.std(axis=0)
    return Moments(draws.mean(axis=0), epistemic_sd, np.hypot(epistemic_sd, sd(noise)))


def checked_split(draws: np.ndarray, observed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both arrays in float64 after checking that they describe the same points.

    Raises
    ------
    InputError
        If draws are not (sample, point), observed not (point), or a value is not finite.
    """
    draws, observed = np.asarray(draws, np.float64), np.asarray(observed, np.float64)
    if draws.ndim != 2 or observed.shape != draws.shape[1:] or draws.size == 0:
        raise InputError(
            f"predictions need draws (sample, point) and observed (point) of the same points, "
            f"got shapes {draws.shape} and {observed.shape}"
        )
    for name, values in (("draws", draws), ("observed", observed)):
        if not np.isfinite(values).all():
            raise InputError(
                f"{name} in log10 units must be finite, got {np.sum(~np.isfinite(values))} that "
                f"are not of {values.size}; drop those points"
            )
    return draws, observed


def point_chunks(samples: int, points: int) -> Iterator[slice]:
    """Yield slices of points that keep (sample, point) temporaries near 8 MB."""
    width = max(1, _CHUNK_ELEMENTS // samples)
    for start in range(0, points, width):
        yield slice(start, start + width)


def _root_mean_square_residual(draws: np.ndarray, observed: np.ndarray) -> float:
    parts = [
        np.square(observed[part] - draws[:, part]).sum() for part in point_chunks(*draws.shape)
    ]
    return float(np.sqrt(np.sum(parts) / draws.size))


def _checked(noise: PredictiveNoise) -> PredictiveNoise:
    degrees_fit = (
        noise.degrees_of_freedom is None
        if noise.family == "gaussian"
        else noise.degrees_of_freedom is not None and noise.degrees_of_freedom > 2
    )
    if noise.family in FAMILIES and degrees_fit and 0 < noise.scale_log10 < math.inf:
        return noise
    raise InputError(
        f"predictive noise must be gaussian, or student_t with more than 2 degrees of freedom, "
        f"of a positive scale, got {noise}"
    )
