"""The predictive noise, fitted after sampling, and the predictive mixture it forms with the draws.

The predictive density of one point is the mean over draws s of p(y - f_s), with y and f on the
model scale (log10 of the target, or the target itself) and p a Gaussian or a Student-t of one
common scale.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.optimize.elementwise import find_root
from scipy.special import logsumexp, ndtr, ndtri, stdtr, stdtrit

from nlobayes.errors import InputError

FAMILIES = ("gaussian", "student_t")
STUDENT_T_DEGREES = 4.0

_CHUNK_ELEMENTS = 200_000
# Scales searched, in units of the root mean square residual, which bounds the optimum from above.
_SEARCH = (1e-6, 2.0)
_SEARCH_POINTS = 14
_QUANTILE_TOLERANCE = 1e-6


class PredictiveNoise(NamedTuple):
    """Noise about the function, its scale on the model scale; only a Student-t has degrees."""

    family: str
    scale: float
    degrees_of_freedom: float | None


class Moments(NamedTuple):
    """Mean and standard deviations of the predictive per point, on the model scale.

    `epistemic_sd` is the spread of the draws (divided by their number, not one less, so that it
    is the mixture's own); `total_sd` adds the noise in quadrature.
    """

    mean: np.ndarray
    epistemic_sd: np.ndarray
    total_sd: np.ndarray


def make_noise(family: str, scale: float) -> PredictiveNoise:
    """Build the noise of a family; the Student-t has 4 degrees of freedom.

    Raises
    ------
    InputError
        If the family is unknown or the scale is not positive and finite.
    """
    degrees = STUDENT_T_DEGREES if family == "student_t" else None
    return _checked(PredictiveNoise(family, float(scale), degrees))


def sd(noise: PredictiveNoise) -> float:
    """Return the standard deviation on the model scale; a Student-t's is above its scale."""
    _, scale, degrees = _checked(noise)
    return scale if degrees is None else scale * math.sqrt(degrees / (degrees - 2))


def logpdf(noise: PredictiveNoise, residual: np.ndarray) -> np.ndarray:
    """Return the log density of residuals on the model scale, elementwise."""
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
    if degrees is None:
        return ndtr(standardised)
    if degrees != STUDENT_T_DEGREES:
        return stdtr(degrees, standardised)
    # The integral for four degrees of freedom, ten times as fast as scipy's for any.
    sine = standardised / np.sqrt(np.square(standardised) + 4)
    return np.square(1 + sine) * (2 - sine) / 4


def ppf(noise: PredictiveNoise, probability: float) -> float:
    """Return the residual that is exceeded with probability 1 - `probability`."""
    _, scale, degrees = _checked(noise)
    standard = ndtri(probability) if degrees is None else stdtrit(degrees, probability)
    return float(scale * standard)


def sample(noise: PredictiveNoise, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Draw residuals on the model scale."""
    _, scale, degrees = _checked(noise)
    standard = rng.standard_normal(shape) if degrees is None else rng.standard_t(degrees, shape)
    return scale * standard


def fit_noise(draws: np.ndarray, observed: np.ndarray, *, family: str) -> PredictiveNoise:
    """Fit the scale that maximises the mean log predictive density of the observed points.

    Parameters
    ----------
    draws
        Function draws on the model scale, axes (sample, point), at points not trained on.
    observed
        Observed targets on the model scale, axis (point).
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

    def loss(scale: float) -> float:
        noise = make_noise(family, scale)
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


def predictive_quantiles(
    draws: np.ndarray, noise: PredictiveNoise, probabilities: Sequence[float]
) -> np.ndarray:
    """Return quantiles of the mixture, axes (probability, point).

    They are roots of the mixture's distribution function, to 1e-6 of the noise's scale.

    Parameters
    ----------
    draws
        Function draws, axes (sample, point).
    noise
        Predictive noise.
    probabilities
        Probabilities of a smaller value, between 0 and 1.
    """
    draws = np.asarray(draws, dtype=np.float64)
    parts = []
    for part in point_chunks(*draws.shape):
        chunk = np.ascontiguousarray(draws[:, part])
        parts.append([_quantile(chunk, noise, probability) for probability in probabilities])
    return np.concatenate(parts, axis=1)


def predictive_moments(draws: np.ndarray, noise: PredictiveNoise) -> Moments:
    """Return mean and standard deviations of the mixture from draws (sample, point).

    Identical draws have a spread of exactly zero, whatever their mean rounds to.
    """
    draws = np.asarray(draws, dtype=np.float64)
    epistemic_sd = np.where(np.ptp(draws, axis=0) > 0, draws.std(axis=0), 0.0)
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
                f"{name} on the model scale must be finite, got "
                f"{np.sum(~np.isfinite(values))} that are not of {values.size}; drop those points"
            )
    return draws, observed


def point_chunks(samples: int, points: int) -> Iterator[slice]:
    """Yield slices of points that keep (sample, point) temporaries near 2 MB, within a cache."""
    width = max(1, _CHUNK_ELEMENTS // samples)
    for start in range(0, points, width):
        yield slice(start, start + width)


def _quantile(draws: np.ndarray, noise: PredictiveNoise, probability: float) -> np.ndarray:
    """Find one quantile per point, which lies between those of the lowest and highest draw."""

    def excess(value: np.ndarray, point: np.ndarray) -> np.ndarray:
        return cdf(noise, value - draws[:, point]).mean(axis=0) - probability

    edge, margin = ppf(noise, probability), 1e-3 * noise.scale
    bracket = draws.min(axis=0) + edge - margin, draws.max(axis=0) + edge + margin
    tolerances = {"xatol": _QUANTILE_TOLERANCE * noise.scale, "xrtol": 0.0}
    points = np.arange(draws.shape[1])
    return find_root(excess, bracket, args=(points,), tolerances=tolerances).x


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
    if noise.family in FAMILIES and degrees_fit and 0 < noise.scale < math.inf:
        return noise
    raise InputError(
        f"predictive noise must be gaussian, or student_t with more than 2 degrees of freedom, "
        f"of a positive scale, got {noise}"
    )
