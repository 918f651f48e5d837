"""Gaussian about every draw; the logarithm of its scale is linear in the mean of the draws."""

import math

import numpy as np
from scipy.optimize import minimize

from nlobayes.distributions.laws.gaussian import Gaussian
from nlobayes.distributions.mixture import Mixture
from nlobayes.evaluation.predictive.fitted import FittedNoise, Points
from nlobayes.evaluation.predictive.noises import gaussian

ABOUT_MEAN = False

_SLOPE_SD = 0.5
"""Sd of the prior of the slope, per sd of the means."""
_MOST = 3.0
"""Largest size of both parameters: a factor of 20 in the scale."""


def fit(points: Points) -> FittedNoise:
    """Fit scale and slope; the slope per sd of the means has a Gaussian prior of sd 0.5.

    Scales beyond those at the smallest and the largest mean of these points are clipped.
    """
    draws, observed, *_ = points
    constant, mean = gaussian.fit(points).scale, draws.mean(axis=0)
    middle, width = float(mean.mean()), float(mean.std()) or 1.0

    def scale_of(parameters: np.ndarray) -> np.ndarray:
        height, slope = parameters
        scale: np.ndarray = constant * np.exp(height + slope * (mean - middle) / width)
        return scale

    def loss(parameters: np.ndarray) -> float:
        density = Mixture(draws, Gaussian(scale_of(parameters))).logpdf(observed).sum()
        return float(np.square(parameters[1] / _SLOPE_SD) / 2 - density)

    bounds = [(-_MOST, _MOST)] * 2
    found = minimize(loss, np.zeros(2), method="L-BFGS-B", bounds=bounds).x
    scale = scale_of(found)
    return FittedNoise(
        "scaled_gaussian",
        constant * math.exp(found[0]),
        None,
        scale_range=(float(scale.min()), float(scale.max())),
        slope=float(found[1]) / width,
        reference_mean=middle,
    )


law = gaussian.law
