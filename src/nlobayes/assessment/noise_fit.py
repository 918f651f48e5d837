"""Fitting the predictive noise to points that were not trained on.

What is fitted is few numbers; at points they become a `PredictiveNoise`.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize, minimize_scalar

from nlobayes.assessment import noise as noises
from nlobayes.assessment.noise import STUDENT_T_DEGREES, PredictiveNoise, logpdf
from nlobayes.assessment.predictive import checked_split, log_predictive_density, point_chunks
from nlobayes.errors import InputError

SCALED = "scaled_student_t"
FAMILIES = (*noises.FAMILIES, SCALED)

# Scales searched, in units of the root mean square residual, which bounds the optimum from above.
_SEARCH = (1e-6, 2.0)
_SEARCH_POINTS = 14
# Rows to come may have heavier tails than those that the noise is fitted to.
_DEGREES = (2.1, 20.0)
_EXPONENTS = (-3.0, 3.0)
_LOG_SCALES = (-14.0, 3.0)
_SMALLEST_SD = 1e-3
_KNOTS = 6
_PROFILE_SD = 0.5


class FittedNoise(NamedTuple):
    """The predictive noise as it is fitted and stored.

    `gaussian` and `student_t` (4 degrees of freedom) lie about every draw, with one scale.
    `scaled_student_t` lies about the mean of the draws: its log scale is that of `scale`, plus
    `exponent` times the log of the sd of the draws over `reference_sd`, plus for each feature a
    line between `coefficients` at `knots`. A declared tolerance makes the spread of the draws tell
    where errors are large, not how large they are; rows that were not trained on do.
    """

    family: str
    scale: float
    degrees_of_freedom: float | None
    exponent: float = 0.0
    reference_sd: float = 1.0
    knots: tuple[tuple[float, ...], ...] = ()
    coefficients: tuple[tuple[float, ...], ...] = ()


def at_points(
    fitted: FittedNoise, draws: np.ndarray, features: np.ndarray | None = None
) -> PredictiveNoise:
    """Give the noise at points with these draws (sample, point) and features (point, feature)."""
    if fitted.family != SCALED:
        return PredictiveNoise(fitted.family, fitted.scale, fitted.degrees_of_freedom)
    spread = np.asarray(draws, np.float64).std(axis=0)
    log_scale = math.log(fitted.scale) + fitted.exponent * _log_spread(spread, fitted.reference_sd)
    for column, knots in enumerate(fitted.knots):
        assert features is not None
        log_scale += np.interp(features[:, column], knots, fitted.coefficients[column])
    return PredictiveNoise("student_t", np.exp(log_scale), fitted.degrees_of_freedom, "mean")


def fit_noise(
    draws: np.ndarray, observed: np.ndarray, *, family: str, features: np.ndarray | None = None
) -> FittedNoise:
    """Fit the noise that maximises the mean log predictive density of the observed points.

    All numbers of a `scaled_student_t` are fitted, those of its profile with a Gaussian prior of
    sd 0.5; of the others the scale alone.

    Parameters
    ----------
    draws
        Function draws on the model scale, axes (sample, point), at points not trained on.
    observed
        Observed targets on the model scale, axis (point).
    family
        `gaussian`, `student_t` or `scaled_student_t`.
    features
        Inputs of the network (point, feature), which the scale of a `scaled_student_t` follows
        where they are given.

    Returns
    -------
    FittedNoise
        The fitted noise, its scale to a relative accuracy of about 1e-4.

    Raises
    ------
    InputError
        If the arrays do not fit together, the family is unknown, or the predictions reproduce
        the observations so well that no scale can be found.
    """
    draws, observed = checked_split(draws, observed)
    if family == SCALED:
        return _fit_scaled(draws, observed, features)

    def loss(scale: float) -> float:
        noise = noises.make_noise(family, scale)
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
    degrees = STUDENT_T_DEGREES if family == "student_t" else None
    return FittedNoise(family, math.exp(optimum.x), degrees)


def _fit_scaled(
    draws: np.ndarray, observed: np.ndarray, features: np.ndarray | None
) -> FittedNoise:
    """Fit a Student-t about the mean of the draws, its log scale linear in what is known."""
    spread, residual = draws.std(axis=0), observed - draws.mean(axis=0)
    varies = bool(np.ptp(spread) > 0)
    reference = float(np.median(spread[spread > 0])) if varies else 1.0
    typical = float(np.median(np.abs(residual)))
    if typical <= 1e-12 * max(1.0, float(np.abs(observed).max())):
        raise _no_noise(len(observed))
    knots = _knots(features)
    known = np.column_stack([_log_spread(spread, reference), *_hats(features, knots)])

    def loss(parameters: np.ndarray) -> float:
        log_scale, log_degrees, *weights = parameters
        scale = typical * np.exp(log_scale + known @ weights)
        noise = PredictiveNoise("student_t", scale, 2 + math.exp(log_degrees))
        penalty = 0.5 * np.sum(np.square(weights[1:])) / _PROFILE_SD**2
        return float(penalty - logpdf(noise, residual).sum()) / len(observed)

    free = known.shape[1] - 1
    degrees = [math.log(limit - 2) for limit in _DEGREES]
    bounds = [_LOG_SCALES, degrees, _EXPONENTS if varies else (0.0, 0.0), *[(-3.0, 3.0)] * free]
    start = np.array([0.0, math.log(2.0), 0.5 if varies else 0.0, *[0.0] * free])
    options = {"ftol": 1e-11, "gtol": 1e-6, "maxfun": 100_000}
    found = minimize(loss, start, method="L-BFGS-B", bounds=bounds, options=options).x.tolist()
    profile = iter(found[3:])
    return FittedNoise(
        SCALED,
        scale=typical * math.exp(found[0]),
        degrees_of_freedom=2 + math.exp(found[1]),
        exponent=found[2],
        reference_sd=reference,
        knots=knots,
        coefficients=tuple(tuple(next(profile) for _ in each) for each in knots),
    )


def _log_spread(spread: np.ndarray, reference: float) -> np.ndarray:
    return np.log(np.maximum(spread / reference, _SMALLEST_SD))


def _knots(features: np.ndarray | None) -> tuple[tuple[float, ...], ...]:
    """Place knots at quantiles of each feature (point, feature), each once."""
    if features is None:
        return ()
    quantiles = np.quantile(features, np.linspace(0, 1, _KNOTS), axis=0)
    return tuple(tuple(np.unique(column).tolist()) for column in quantiles.T)


def _hats(features: np.ndarray | None, knots: tuple[tuple[float, ...], ...]) -> list[np.ndarray]:
    """Give for each knot the function that is one there and falls to zero at its neighbours."""
    return [
        np.interp(features[:, column], each, np.eye(len(each))[index])
        for column, each in enumerate(knots)
        for index in range(len(each))
        if features is not None
    ]


def _no_noise(points: int) -> InputError:
    return InputError(
        f"no predictive noise fits {points} points: the predictions reproduce the observations "
        "exactly; fit on points that were not trained on"
    )


def _root_mean_square_residual(draws: np.ndarray, observed: np.ndarray) -> float:
    parts = [
        np.square(observed[part] - draws[:, part]).sum() for part in point_chunks(*draws.shape)
    ]
    return float(np.sqrt(np.sum(parts) / draws.size))
