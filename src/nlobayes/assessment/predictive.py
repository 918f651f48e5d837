"""The predictive density: of a point the mean over draws s of p(y - f_s), with p the noise.

y and f are on the model scale (log10 of the target, or the target itself).
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.optimize.elementwise import find_root
from scipy.special import logsumexp

from nlobayes.assessment.noise import (
    PredictiveNoise,
    at_rows,
    at_sd,
    cdf,
    locate,
    logpdf,
    make_noise,
    ppf,
    sd,
)
from nlobayes.errors import InputError

_CHUNK_ELEMENTS = 200_000
# Scales searched, in units of the root mean square residual, which bounds the optimum from above.
_SEARCH = (1e-6, 2.0)
_SEARCH_POINTS = 14
_QUANTILE_TOLERANCE = 1e-6
_DEGREES = (2.1, 200.0)
_EXPONENTS = (-3.0, 3.0)
_LOG_SCALES = (-14.0, 3.0)


class Moments(NamedTuple):
    """Mean and standard deviations of the predictive per point, on the model scale.

    `epistemic_sd` is the spread of the draws (divided by their number, not one less, so that it
    is the mixture's own); `total_sd` adds the noise in quadrature.
    """

    mean: np.ndarray
    epistemic_sd: np.ndarray
    total_sd: np.ndarray


def fit_noise(draws: np.ndarray, observed: np.ndarray, *, family: str) -> PredictiveNoise:
    """Fit the noise that maximises the mean log predictive density of the observed points.

    A `scaled_student_t` has scale, exponent and degrees of freedom fitted, others the scale alone.

    Parameters
    ----------
    draws
        Function draws on the model scale, axes (sample, point), at points not trained on.
    observed
        Observed targets on the model scale, axis (point).
    family
        `gaussian`, `student_t` or `scaled_student_t`.

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
    if family == "scaled_student_t":
        return _fit_scaled(draws, observed)

    def loss(scale: float) -> float:
        noise = make_noise(family, scale)
        return -float(log_predictive_density(draws, observed, noise).mean())

    widest = _root_mean_square_residual(draws, observed)
    scales = widest * np.geomspace(*_SEARCH, _SEARCH_POINTS)
    best = int(np.argmin([loss(scale) for scale in scales])) if widest > 0 else 0
    if best == 0:
        raise _no_noise(len(observed))
    optimum = minimize_scalar(
        lambda log_scale: loss(math.exp(log_scale)),
        bounds=np.log([scales[best - 1], scales[min(best + 1, _SEARCH_POINTS - 1)]]),
        method="bounded",
        options={"xatol": 1e-4},
    )
    return make_noise(family, math.exp(optimum.x))


def _fit_scaled(draws: np.ndarray, observed: np.ndarray) -> PredictiveNoise:
    """Fit scale, exponent and degrees of freedom of a Student-t about the mean of the draws."""
    mean, spread = draws.mean(axis=0), draws.std(axis=0)
    residual, varies = observed - mean, bool(np.ptp(spread) > 0)
    reference = float(np.median(spread[spread > 0])) if varies else 1.0
    typical = float(np.median(np.abs(residual)))
    if typical <= 1e-12 * max(1.0, float(np.abs(observed).max())):
        raise _no_noise(len(observed))

    def noise(parameters: np.ndarray) -> PredictiveNoise:
        log_scale, exponent, log_degrees = map(float, parameters)
        degrees = 2 + math.exp(log_degrees)
        return PredictiveNoise(
            "scaled_student_t", typical * math.exp(log_scale), degrees, exponent, reference
        )

    def loss(parameters: np.ndarray) -> float:
        return -float(logpdf(at_sd(noise(parameters), spread), residual).mean())

    degrees = [math.log(limit - 2) for limit in _DEGREES]
    found = minimize(
        loss,
        np.array([0.0, 0.5 if varies else 0.0, math.log(2.0)]),
        method="L-BFGS-B",
        bounds=[_LOG_SCALES, _EXPONENTS if varies else (0.0, 0.0), degrees],
        options={"ftol": 1e-12, "gtol": 1e-7},
    )
    return noise(found.x)


def _no_noise(points: int) -> InputError:
    return InputError(
        f"no predictive noise fits {points} points: the predictions reproduce the observations "
        "exactly; fit on points that were not trained on"
    )


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
    draws, noise = locate(draws, noise)
    parts = [
        logsumexp(logpdf(at_rows(noise, part), observed[part] - draws[:, part]), axis=0)
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
    draws, noise = locate(draws, noise)
    parts = [
        cdf(at_rows(noise, part), observed[part] - draws[:, part]).mean(axis=0)
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
    draws, noise = locate(np.asarray(draws, dtype=np.float64), noise)
    if len(draws) == 1:
        return np.stack([draws[0] + ppf(noise, probability) for probability in probabilities])
    parts = []
    for part in point_chunks(*draws.shape):
        chunk = np.ascontiguousarray(draws[:, part])
        parts.append([_quantile(chunk, noise, probability) for probability in probabilities])
    return np.concatenate(parts, axis=1)


def predictive_moments(draws: np.ndarray, noise: PredictiveNoise) -> Moments:
    """Return mean and standard deviations of the mixture from draws (sample, point).

    Identical draws have a spread of exactly zero, whatever their mean rounds to. The total of a
    `scaled_student_t` is its own: it follows the epistemic sd and does not add to it.
    """
    draws = np.asarray(draws, dtype=np.float64)
    epistemic_sd = np.where(np.ptp(draws, axis=0) > 0, draws.std(axis=0), 0.0)
    located, noise = locate(draws, noise)
    within = epistemic_sd if located is draws else 0.0
    return Moments(draws.mean(axis=0), epistemic_sd, np.hypot(within, sd(noise)))


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
