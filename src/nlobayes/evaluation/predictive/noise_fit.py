"""The fit of the predictive noise to points that were not trained on.

The fit gives a few parameters; at points they become a `PredictiveNoise`.
"""

import numpy as np

from nlobayes.distributions.distribution import Law
from nlobayes.distributions.scales import bins_at, scale_along, scales_at
from nlobayes.errors import InputError
from nlobayes.evaluation.predictive.fitted import FittedNoise, Points
from nlobayes.evaluation.predictive.noises import NOISES, NoiseFamily
from nlobayes.evaluation.predictive.predictive_density import PredictiveNoise, checked_split


def fit_noise(
    draws: np.ndarray,
    observed: np.ndarray,
    *,
    family: str,
    features: np.ndarray | None = None,
    covariate: np.ndarray | None = None,
) -> FittedNoise:
    """Fit the noise that maximises the mean log predictive density of the observed points.

    Raises InputError if the arrays do not fit together, the family is unknown, the predictions
    reproduce the observations so well that no scale can be found, or there are fewer than 40 points
    for conformal noise.

    Parameters
    ----------
    draws
        Function draws on the model scale, axes (sample, point), at points not trained on.
    observed
        Observed targets on the model scale, axis (point).
    family
        Name of a module of `noises`.
    features
        Inputs of the network (point, feature), on which scales about the mean depend if given.
    covariate
        Covariate of the bins of conformal intervals, axis (point); without it there is one bin.

    Returns
    -------
    The fitted noise, its scale to a relative accuracy of about 1e-4.
    """
    return _family(family).fit(Points(*checked_split(draws, observed), features, covariate))


def noise_at_points(
    fitted: FittedNoise, draws: np.ndarray, features: np.ndarray | None = None
) -> PredictiveNoise:
    """Return the noise at points with these draws (sample, point) and features (point, feature).

    Raises InputError if the family is unknown, or its parameters have no variance.
    """
    family = _family(fitted.family)
    draws = np.asarray(draws, np.float64)
    if family.ABOUT_MEAN:
        scale = scales_at(fitted, draws.std(axis=0), features)
        bins = bins_at(fitted.edges, fitted.column, features, len(scale))
        law = family.law(fitted, scale, bins)
    elif fitted.slope:
        law = family.law(fitted, scale_along(fitted, draws.mean(axis=0)), None)
    else:
        law = family.law(fitted, fitted.scale, None)
    law.check()
    return PredictiveNoise(law, family.ABOUT_MEAN)


def standard_law(fitted: FittedNoise) -> Law:
    """Return the law of scale one, with a row of tails for each bin of its recalibration."""
    law: Law = _family(fitted.family).law(fitted, 1.0, np.arange(len(fitted.tails)))
    law.check()
    return law


def lies_about_mean(family: str) -> bool:
    """Return whether the noise of a family lies about the mean of the draws."""
    return _family(family).ABOUT_MEAN


def _family(name: str) -> NoiseFamily:
    if name not in NOISES:
        raise InputError("evaluation.unknown_noise", name=name, known=list(NOISES))
    return NOISES[name]
