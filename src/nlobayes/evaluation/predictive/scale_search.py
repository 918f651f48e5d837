"""The fit of one scale for all points, for noise about every draw, by log predictive density."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from nlobayes.distributions.chunks import point_chunks
from nlobayes.distributions.distribution import Law
from nlobayes.distributions.mixture import Mixture
from nlobayes.errors import InputError
from nlobayes.evaluation.predictive.fitted import Points

# Scales searched, in units of the root mean square residual, which bounds the optimum from above.
_SEARCH = (1e-6, 2.0)
_SEARCH_POINTS = 14


class Optimum(NamedTuple):
    """The scale of least loss, and minus the mean log predictive density there."""

    scale: float
    loss: float


def fit_scale(points: Points, law: Callable[[float], Law]) -> Optimum:
    """Find the scale that maximises the mean log predictive density, to a relative 1e-4.

    Raises InputError if the predictions reproduce the observations so well that no scale can be
    found.
    """

    def loss(scale: float) -> float:
        return -float(Mixture(points.draws, law(scale)).logpdf(points.observed).mean())

    widest = _root_mean_square_residual(points.draws, points.observed)
    scales = widest * np.geomspace(*_SEARCH, _SEARCH_POINTS)
    best = int(np.argmin([loss(scale) for scale in scales])) if widest > 0 else 0
    if best == 0:
        raise no_noise(len(points.observed))
    optimum = minimize_scalar(
        lambda log_scale: loss(math.exp(log_scale)),
        bounds=np.log([scales[best - 1], scales[min(best + 1, _SEARCH_POINTS - 1)]]),
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
