"""A Student-t whose log scale is linear in functions of the sd of the draws and the features."""

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import digamma

from nlobayes.distributions.laws.student_t import StudentT
from nlobayes.distributions.scales import log_spread

# New rows may have heavier tails than the rows of the fit.
_DEGREES = (2.1, 20.0)
# A posterior promises errors in proportion to the sd of the draws. Few rows cannot contradict this,
# and no row has information about spreads outside their range.
_EXPONENTS = (0.0, 1.2)
_EXPONENT, _EXPONENT_SD = 1.0, 0.25
"""Mean and sd of the prior of the exponent of the spread."""
_LOG_SCALES = (-14.0, 3.0)
"""Limits of the log scale, in units of the median size of the residuals."""
_HEIGHTS = (-3.0, 3.0)
"""Limits of the height at a knot: a factor of 20 in the scale."""
_ROWS_PER_KNOT = 400
_KNOTS = (6, 24)
"""Fewest and most knots of a feature."""
_HEIGHT_SD = 0.15
"""Sd of the prior of the height at a knot."""

Knots = tuple[tuple[float, ...], ...]


class Regression(NamedTuple):
    """A Student-t whose scale is that of `distributions.scales`, which explains its numbers."""

    scale: float
    degrees_of_freedom: float
    exponent: float
    reference_sd: float
    knots: Knots
    coefficients: tuple[tuple[float, ...], ...]
    spread_range: tuple[float, ...]
    scale_range: tuple[float, ...]


def place_knots(features: np.ndarray | None) -> Knots:
    """Place a knot per 400 points, 6 to 24, at quantiles of each feature (point, feature)."""
    if features is None:
        return ()
    count = int(np.clip(len(features) // _ROWS_PER_KNOT, *_KNOTS))
    quantiles = np.quantile(features, np.linspace(0, 1, count), axis=0)
    return tuple(tuple(np.unique(column).tolist()) for column in quantiles.T)


def fit_scales(
    residual: np.ndarray, spread: np.ndarray, features: np.ndarray | None, knots: Knots
) -> Regression:
    """Maximise the density of residuals (point,), with Gaussian priors on exponent and heights.

    The prior of the exponent has mean 1 and sd 0.25, between 0 and 1.2; those of the heights at
    the knots have mean 0 and sd 0.15. The residuals must not all be zero.
    """
    varies = bool(np.ptp(spread) > 0)
    reference = float(np.median(spread[spread > 0])) if varies else 1.0
    known = np.column_stack([log_spread(spread, reference), *_hats(features, knots)])
    problem = _Problem(residual, float(np.median(np.abs(residual))), known)
    heights = [_HEIGHTS] * (known.shape[1] - 1)
    degrees = tuple(math.log(limit - 2) for limit in _DEGREES)
    found = minimize(
        _loss,
        np.array([0.0, math.log(2.0), _EXPONENT if varies else 0.0, *[0.0] * len(heights)]),
        args=(problem,),
        jac=True,
        method="L-BFGS-B",
        bounds=[_LOG_SCALES, degrees, _EXPONENTS if varies else (0.0, 0.0), *heights],
        options={"ftol": 1e-11, "gtol": 1e-6, "maxiter": 5000, "maxfun": 5000},
    ).x
    scales = problem.typical * np.exp(found[0] + known @ found[2:])
    remaining = iter(found[3:].tolist())
    return Regression(
        scale=problem.typical * math.exp(found[0]),
        degrees_of_freedom=2 + math.exp(found[1]),
        exponent=float(found[2]),
        reference_sd=reference,
        knots=knots,
        coefficients=tuple(tuple(next(remaining) for _ in each) for each in knots),
        spread_range=(float(spread.min()), float(spread.max())),
        scale_range=(float(scales.min()), float(scales.max())),
    )


class _Problem(NamedTuple):
    """Residuals (point,), their typical size, and the terms of the log scale (point, term)."""

    residual: np.ndarray
    typical: float
    known: np.ndarray


def _loss(parameters: np.ndarray, problem: _Problem) -> tuple[float, np.ndarray]:
    """Return minus the log posterior per point, and its gradient."""
    residual, typical, known = problem
    log_scale, log_degrees, *_ = parameters
    weights, degrees = parameters[2:], 2 + math.exp(log_degrees)
    scale = typical * np.exp(log_scale + known @ weights)
    away = weights - np.array([_EXPONENT, *[0.0] * (len(weights) - 1)])
    pulled = away / np.square([_EXPONENT_SD, *[_HEIGHT_SD] * (len(weights) - 1)])
    density = StudentT(scale, degrees).logpdf(residual).sum()
    by_scale, by_degrees = _slopes(residual / scale, degrees)
    gradient = [by_scale.sum(), by_degrees.sum() * (degrees - 2), *(by_scale @ known - pulled)]
    loss = 0.5 * pulled @ away - density
    return float(loss) / len(residual), -np.array(gradient) / len(residual)


def _slopes(standardised: np.ndarray, degrees: float) -> tuple[np.ndarray, np.ndarray]:
    """Differentiate the log density of a Student-t by its log scale and degrees of freedom."""
    squared = np.square(standardised) / degrees
    share = squared / (1 + squared)
    constant = digamma((degrees + 1) / 2) - digamma(degrees / 2) - 1 / degrees
    by_degrees = 0.5 * (constant - np.log1p(squared) + (degrees + 1) / degrees * share)
    return (degrees + 1) * share - 1, by_degrees


def _hats(features: np.ndarray | None, knots: Knots) -> list[np.ndarray]:
    """Return for each knot the function that is one there and falls to zero at its neighbours."""
    return [
        np.interp(features[:, column], each, np.eye(len(each))[index])
        for column, each in enumerate(knots)
        for index in range(len(each))
        if features is not None
    ]
