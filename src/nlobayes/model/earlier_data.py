"""Earlier data, condensed: combinations of f at a few points, measured with unit noise.

Draws of f at these points give a Gaussian N(m, K), draws from the prior of the same run N(m0, K0).
Their ratio is the factor of the data, a site in the words of Minka (2001, *Expectation propagation
for approximate Bayesian inference*): a Gaussian factor in f of precision L = K^-1 - K0^-1 and
natural mean K^-1 m - K0^-1 m0. With L = R'R it is exp(-|R f - y|^2 / 2). It depends neither on
weights nor on modes nor on the prior, so it can be combined with any prior.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nlobayes.errors import InputError
from nlobayes.types import Dataset, EarlierData

SMALLEST_SHARE = 3e-4
"""Directions with less than this share of the largest prior variance are left to the prior: a
network's values along them depend non-linearly on the others, and no Gaussian describes them."""
DRAWS_PER_DIRECTION = 4
FEWEST_DRAWS = 100
ROUNDING = 1e-9
UNSTABLE = 2.0
"""Ratio of the variances of two halves of prior draws that shows a prior without a variance."""


class Site(NamedTuple):
    """Earlier data as a Gaussian factor of f (point,) at features (point, feature).

    In units of the network. `root` (combination, point) and `observed` (combination,) state that
    root @ f is N(observed, 1).
    """

    features: np.ndarray
    root: np.ndarray
    observed: np.ndarray


class Moments(NamedTuple):
    """Mean (point,) and covariance (point, point) of f, and the draws that they are estimated from.

    The number of draws is infinite for exact moments.
    """

    mean: np.ndarray
    covariance: np.ndarray
    draws: float = np.inf


def moments(functions: np.ndarray) -> Moments:
    """Estimate the moments of draws of f (draw, point).

    Raises InputError if there are too few, or one is not finite.
    """
    draws = len(functions)
    if draws < FEWEST_DRAWS or not np.isfinite(functions).all():
        raise InputError(
            "model.few_draws",
            draws=draws,
            finite=int(np.isfinite(functions).all(axis=1).sum()),
            fewest=FEWEST_DRAWS,
        )
    exact = functions.astype(np.float64)
    return Moments(exact.mean(axis=0), np.atleast_2d(np.cov(exact.T)), draws)


def check_has_variance(functions: np.ndarray) -> None:
    """Refuse finite prior draws (draw, point) of tails so heavy that no Gaussian represents them.

    Raises InputError if the variances of the two halves of the draws disagree.
    """
    half = len(functions) // 2
    first, second = (part.var(axis=0).sum() for part in (functions[:half], functions[half:]))
    if not max(first, second) < UNSTABLE * min(first, second):
        raise InputError("model.no_variance", first=first, second=second)


def divide(
    posterior: Moments, prior: Moments, smallest_share: float = SMALLEST_SHARE
) -> tuple[np.ndarray, np.ndarray]:
    """Divide the Gaussian of a posterior by that of its prior: `root` and `observed` of a `Site`.

    Principal directions of the prior with at least the `smallest_share` of the largest variance are
    used; in their units the prior is N(0, I). A direction is kept if the posterior's variance is
    smaller than the noise of these draws alone can produce (the lower edge of Wachter's law). The
    bias of inverting an estimated covariance is removed from its precision.
    """
    whitening = _whitening(prior, posterior.draws / DRAWS_PER_DIRECTION, smallest_share)
    directions = whitening.shape[1]
    variances, rotation = np.linalg.eigh(whitening.T @ posterior.covariance @ whitening)
    measured = variances < (1 - ROUNDING) * lower_edge(directions, posterior.draws, prior.draws)
    axes = (whitening @ rotation[:, measured]).T
    precision = _unbiased(directions, posterior.draws) / variances[measured]
    gain = precision - 1
    shift = axes @ (posterior.mean - prior.mean)
    root = np.sqrt(gain)[:, np.newaxis] * axes
    return root, precision * shift / np.sqrt(gain) + root @ prior.mean


def condense(
    posterior: np.ndarray, prior: np.ndarray, at: Dataset, smallest_share: float
) -> EarlierData:
    """Divide the prior out of draws of f (draw, point), both at the few rows of a dataset.

    Raises InputError if draws are too few or not finite, or the prior has no variance. The result
    has no combination if the draws cannot distinguish posterior and prior.
    """
    before = moments(prior)
    check_has_variance(prior)
    root, observed = divide(moments(posterior), before, smallest_share)
    target = at.transforms["target"]
    return EarlierData(
        inputs=at.inputs,
        root=root,
        observed=observed,
        input_names=at.input_names,
        target=at.target_names[0],
        units={name: at.units[name] for name in (*at.input_names, *at.target_names)},
        scale=target["scale"],
        relative_to=target.get("relative_to"),
        reference=at.relative_to,
    )


def at_few_rows(data: Dataset, among: np.ndarray, count: int) -> Dataset:
    """Select at most `count` of these rows that cover their features."""
    rows = among[spread_points(data.features[among], count)]
    known = None if data.relative_to is None else data.relative_to[rows]
    return data._replace(
        inputs=data.inputs[rows], features=data.features[rows], error=None, relative_to=known
    )


def lower_edge(directions: int, draws: float, prior_draws: float) -> float:
    """Return the smallest variance that the noise of draws produces between equal covariances.

    Wachter (1980, Ann. Statist. 8, 937): the eigenvalues of one sample covariance in units of
    another; 1 if both are exact.
    """
    first, second = directions / draws, directions / prior_draws
    width = np.sqrt(first + second - first * second)
    return float(((1 - width) / (1 - second)) ** 2)


def spread_points(features: np.ndarray, count: int) -> np.ndarray:
    """Choose rows that cover features (row, feature): each the farthest from the previous ones.

    The first is the row nearest to the mean. A few rows then cover all of them, the edges included,
    where a random choice leaves gaps. The choice needs no seed.
    """
    distance = np.square(features - features.mean(axis=0)).sum(axis=1)
    chosen = [int(np.argmin(distance))]
    distance = np.square(features - features[chosen[0]]).sum(axis=1)
    while len(chosen) < count and distance.max() > 0:
        chosen.append(int(np.argmax(distance)))
        distance = np.minimum(distance, np.square(features - features[chosen[-1]]).sum(axis=1))
    return np.array(chosen)


def _whitening(prior: Moments, most: float, smallest_share: float) -> np.ndarray:
    """Return principal directions (point, direction) along which the prior has unit variance."""
    variances, directions = np.linalg.eigh(prior.covariance)
    place = np.arange(len(variances), 0, -1)
    kept = (variances > smallest_share * variances[-1]) & (place <= most)
    return directions[:, kept] / np.sqrt(variances[kept])


def _unbiased(directions: int, draws: float) -> float:
    """Scale the inverse of a sample covariance (Hartlap et al. 2007, A&A 464, 399)."""
    return 1.0 if np.isinf(draws) else (draws - directions - 2) / (draws - 1)
