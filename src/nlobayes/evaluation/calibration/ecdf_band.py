"""The simultaneous confidence band of the distribution function of uniform points."""

import numpy as np
from scipy.optimize import minimize_scalar


def ecdf_band(points: int, at: np.ndarray, confidence: float) -> tuple[np.ndarray, np.ndarray]:
    """Compute the band that holds the whole distribution function of uniform points.

    Parameters
    ----------
    points
        Number of points.
    at
        Values (place,) in rising order, from 0 to 1, at which the function is compared.
    confidence
        Probability that the function lies in the band at all of them.

    Returns
    -------
    Ends (place,) of the band, which are included. At each value they are those of a binomial
    interval, whose probability is the same everywhere.

    Notes
    -----
    The counts of uniform points are those of a Poisson process with that many events, so that the
    step from one value to the next is a convolution.

    References
    ----------
    T. Säilynoja, P.-C. Bürkner, A. Vehtari, Statistics and Computing 32 (2022) 32.
    A. Moscovich, B. Nadler, Statistics & Probability Letters 123 (2017) 177.
    """

    def apart(pointwise: float) -> float:
        return abs(_inside(points, at, *_counts(points, at, pointwise)) - confidence)

    pointwise = minimize_scalar(apart, bounds=(confidence, 1), method="bounded").x
    low, high = _counts(points, at, pointwise)
    return low / points, high / points


def _counts(points: int, at: np.ndarray, probability: float) -> tuple[np.ndarray, np.ndarray]:
    from scipy.stats import binom

    low, high = binom.interval(probability, points, at)
    return low.astype(int), high.astype(int)


def _inside(points: int, at: np.ndarray, low: np.ndarray, high: np.ndarray) -> float:
    """Compute the probability that all counts (place,) lie between their limits."""
    from scipy.stats import poisson

    chance, first = np.ones(1), 0
    expected = points * np.diff(at, prepend=0.0)
    for mean, least, most in zip(expected, low, high, strict=True):
        steps = poisson.pmf(np.arange(most - first + 1), mean)
        chance = np.convolve(chance, steps)[least - first : most - first + 1]
        first = least
    return float(chance.sum() / poisson.pmf(points, points))
