"""Noise as it is fitted: its stored parameters, the points of its fit, the fit of one scale."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from nlobayes.distributions.distribution import Law, point_chunks
from nlobayes.distributions.mixture import Mixture
from nlobayes.errors import InputError
from nlobayes.evaluation.predictive.scale_regression import Knots


class FittedNoise(NamedTuple):
    """The parameters of a family of predictive noise.

    The log scale of noise about every draw has a `slope` along the mean of the draws, zero for one
    scale. That of noise about their mean is a function of the sd of the draws and the features
    (`distributions.scales`). With a declared tolerance the spread of the draws shows where errors
    are large; their size is fitted to rows that were not trained on. Recalibrated noise has `tails`
    in each bin of the feature `column` between `edges`.
    """

    family: str
    scale: float
    degrees_of_freedom: float | None
    exponent: float = 0.0
    reference_sd: float = 1.0
    knots: Knots = ()
    coefficients: tuple[tuple[float, ...], ...] = ()
    spread_range: tuple[float, ...] = ()
    scale_range: tuple[float, ...] = ()
    column: int = 0
    edges: tuple[float, ...] = ()
    tails: tuple[tuple[float, ...], ...] = ()
    slope: float = 0.0
    reference_mean: float = 0.0


class Points(NamedTuple):
    """Points that were not trained on: draws (sample, point) and observed targets (point,).

    Both are finite, in float64, on the model scale. Inputs of the network (point, feature) and the
    covariate (point,) are None if they are not known.
    """

    draws: np.ndarray
    observed: np.ndarray
    features: np.ndarray | None
    covariate: np.ndarray | None


# Scales searched, in units of the root mean square residual, which bounds the optimum from above.
_SEARCH = (1e-6, 2.0)
_SEARCH_POINTS = 14


class Optimum(NamedTuple):
    """The scale of least loss, and minus the mean log predictive density there."""

    scale: float
    loss: float


def fit_scale(points: Points, law: Callable[[float], Law], near: float | None = None) -> Optimum:
    """Find the scale that maximises the mean log predictive density, to a relative 1e-4.

    With a scale `near` the optimum, it is sought within a factor of three. Raises InputError if
    without one the predictions reproduce the observations so well that no scale can be found.
    """

    def loss(scale: float) -> float:
        return -float(Mixture(points.draws, law(scale)).logpdf(points.observed).mean())

    if near is None:
        widest = _root_mean_square_residual(points.draws, points.observed)
        scales = widest * np.geomspace(*_SEARCH, _SEARCH_POINTS)
        best = int(np.argmin([loss(scale) for scale in scales])) if widest > 0 else 0
        if best == 0:
            raise no_noise(len(points.observed))
        limits = scales[best - 1], scales[min(best + 1, _SEARCH_POINTS - 1)]
    else:
        limits = near / 3, near * 3
    optimum = minimize_scalar(
        lambda log_scale: loss(math.exp(log_scale)),
        bounds=np.log(limits),
        method="bounded",
        options={"xatol": 1e-4},
    )
    return Optimum(math.exp(optimum.x), float(optimum.fun))


def no_noise(points: int) -> InputError:
    """Return the error for points that are reproduced exactly."""
    return InputError("evaluation.exact_predictions", points=points)


def _root_mean_square_residual(draws: np.ndarray, observed: np.ndarray) -> float:
    parts = [
        np.square(observed[part] - draws[:, part]).sum() for part in point_chunks(*draws.shape)
    ]
    return float(np.sqrt(np.sum(parts) / draws.size))
