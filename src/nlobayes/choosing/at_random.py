"""How many random points would predict as well as those that were chosen: an estimate.

The variance of f given rows does not depend on their targets. The prior covariance at the final
scales therefore gives the variance after every number of random rows. The estimate assumes these
scales, and a learned noise that is the same everywhere.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

ROUNDING = 1e-15
"""Relative rounding of an eigenvalue in double precision."""


class EquivalentRandom(NamedTuple):
    """Number of random points, and whether it is only the number that was tried."""

    points: int
    is_bound: bool
    """Even all tried points leave more variance: more are needed than `points`."""


def variance_after(
    prior: np.ndarray, noise_variance: np.ndarray, order: np.ndarray, reference: np.ndarray
) -> np.ndarray:
    """Return the mean variance of f at reference points given the first 0, 1, ... of some rows.

    The mean is also over draws. Given rows X = L L' - N, their part of the variance at r is the sum
    of the squares of L^-1 k(X, r) (Rasmussen and Williams 2006, algorithm 2.1), a term for each
    row.

    Parameters
    ----------
    prior
        Covariances of f before any row (draw, point, point).
    noise_variance
        Of a row at each point (draw, point).
    order
        Numbers of the points of the rows, all different.
    reference
        Numbers of the points of interest.

    Returns
    -------
    Mean variance (1 + row,).
    """
    curves = []
    for own, noise in zip(prior, noise_variance, strict=True):
        rounding = ROUNDING * len(order) * np.diag(own).max()
        of_rows = own[np.ix_(order, order)] + np.diag(noise[order] + rounding)
        across = own[np.ix_(order, reference)]
        known = solve_triangular(np.linalg.cholesky(of_rows), across, lower=True)
        fallen = np.concatenate([[0.0], np.square(known).mean(axis=1).cumsum()])
        curves.append(own[reference, reference].mean() - fallen)
    mean: np.ndarray = np.mean(curves, axis=0)
    return mean


def equivalent_random(
    prior: np.ndarray,
    noise_variance: np.ndarray,
    order: np.ndarray,
    reference: np.ndarray,
    variance: float,
) -> EquivalentRandom:
    """Return after how many random rows the mean variance at reference points is `variance`.

    Arguments as `variance_after`; `order` are random candidates in any order.
    """
    enough = variance_after(prior, noise_variance, order, reference) <= variance
    if not enough.any():
        return EquivalentRandom(len(order), True)
    return EquivalentRandom(int(enough.argmax()), False)
