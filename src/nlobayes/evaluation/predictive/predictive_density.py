"""The predictive distribution at a point: the mean over draws s of p(y - f_s), with p the noise.

y and f are on the model scale (log10 of the target, or the target itself).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from nlobayes.distributions.distribution import Law, Rows
from nlobayes.distributions.mixture import Mixture, spread
from nlobayes.errors import InputError


class PredictiveNoise(NamedTuple):
    """A law of the error about the function on the model scale, for all points or for each.

    Its centres are the draws of the function, or with `about_mean` their mean.
    """

    law: Law
    about_mean: bool = False


def locate(draws: np.ndarray, noise: PredictiveNoise) -> Mixture:
    """Return the predictive distribution: the law about the draws (sample, point) or their mean."""
    centres = draws.mean(axis=0, keepdims=True) if noise.about_mean else draws
    return Mixture(centres, noise.law)


def select_rows(noise: PredictiveNoise, rows: Rows) -> PredictiveNoise:
    """Return the noise at some of its points."""
    return noise._replace(law=noise.law.at(rows))


class Moments(NamedTuple):
    """Mean and standard deviations of the predictive per point, on the model scale.

    `posterior_sd` is the spread of the draws as a mixture (the divisor is their number, not one
    less); `total_sd` adds the noise in quadrature if the noise is about the draws.
    """

    mean: np.ndarray
    posterior_sd: np.ndarray
    total_sd: np.ndarray


def log_predictive_density(
    draws: np.ndarray, observed: np.ndarray, noise: PredictiveNoise
) -> np.ndarray:
    """Return the log of the mixture density at each observed point, axis (point).

    Raises InputError if draws (sample, point) and observed (point) do not fit together.
    """
    draws, observed = checked_split(draws, observed)
    return locate(draws, noise).logpdf(observed)


def predictive_cdf(draws: np.ndarray, observed: np.ndarray, noise: PredictiveNoise) -> np.ndarray:
    """Return the mixture's probability of a smaller value at each observed point (the PIT).

    Raises InputError if draws (sample, point) and observed (point) do not fit together.
    """
    draws, observed = checked_split(draws, observed)
    return locate(draws, noise).cdf(observed)


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
    predictive = locate(np.asarray(draws, dtype=np.float64), noise)
    return np.stack(predictive.quantiles(probabilities))


def predictive_moments(draws: np.ndarray, noise: PredictiveNoise) -> Moments:
    """Return mean and standard deviations of the mixture from draws (sample, point).

    Identical draws have a spread of exactly zero, whatever their mean rounds to. Noise about the
    mean of the draws is the total sd.
    """
    draws = np.asarray(draws, dtype=np.float64)
    posterior_sd = spread(draws)
    within = 0.0 if noise.about_mean else posterior_sd
    return Moments(draws.mean(axis=0), posterior_sd, np.hypot(within, noise.law.sd()))


def checked_split(draws: np.ndarray, observed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both arrays in float64 after checking that they describe the same points.

    Raises InputError if draws are not (sample, point), observed not (point), or a value is not
    finite.
    """
    draws, observed = np.asarray(draws, np.float64), np.asarray(observed, np.float64)
    if draws.ndim != 2 or observed.shape != draws.shape[1:] or draws.size == 0:
        raise InputError("evaluation.prediction_shapes", draws=draws.shape, observed=observed.shape)
    for name, values in (("draws", draws), ("observed", observed)):
        if not np.isfinite(values).all():
            raise InputError(
                "evaluation.prediction_not_finite",
                array=name,
                not_finite=int(np.sum(~np.isfinite(values))),
                size=values.size,
            )
    return draws, observed
