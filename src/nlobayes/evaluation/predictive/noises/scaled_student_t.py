"""Student-t about the mean of the draws; its scale depends on their sd and the features."""

import numpy as np

from nlobayes.evaluation.predictive.fitted import FittedNoise, Points, no_noise
from nlobayes.evaluation.predictive.noises import student_t
from nlobayes.evaluation.predictive.scale_regression import fit_scales, place_knots

ABOUT_MEAN = True


def fit(points: Points) -> FittedNoise:
    """Fit all parameters together, with Gaussian priors (`scale_regression.fit_scales`)."""
    draws, observed, features, _ = points
    residual = observed - draws.mean(axis=0)
    if np.median(np.abs(residual)) <= 1e-12 * np.ptp(observed):
        raise no_noise(len(observed))
    regression = fit_scales(residual, draws.std(axis=0), features, place_knots(features))
    return FittedNoise("scaled_student_t", *regression)


law = student_t.law
