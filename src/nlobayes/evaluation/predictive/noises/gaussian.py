"""Gaussian about every draw."""

from nlobayes.distributions.laws.gaussian import Gaussian
from nlobayes.evaluation.predictive.fitted import FittedNoise, Points, fit_scale
from nlobayes.untyped import Array

ABOUT_MEAN = False


def fit(points: Points) -> FittedNoise:
    """Fit the scale."""
    return FittedNoise("gaussian", fit_scale(points, Gaussian).scale, None)


def law(fitted: FittedNoise, scale: Array, bins: Array) -> Gaussian:
    """Return the Gaussian of a scale."""
    return Gaussian(scale)
