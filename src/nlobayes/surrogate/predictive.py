"""The predictive of a surrogate: the mixture over draws of f plus noise, on the model scale.

The standardised distribution function of the noise is a table for each bin of a feature, whatever
the family of the noise. Therefore this module does not need SciPy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from nlobayes.distributions.mixture import Mixture, by_newton
from nlobayes.distributions.scales import bins_at, scale_along, scales_at
from nlobayes.distributions.tabulated import TabulatedLaw
from nlobayes.errors import InputError

LN10 = math.log(10)

_EVERY = 16


class StoredNoise(NamedTuple):
    """The parameters of the noise about f, as a file stores them.

    `about` is `draws` for noise about each draw, or `mean` for noise about their mean; both scales
    are those of `distributions.scales`, and files without `slope` have one scale about the draws.
    The bins of the feature `column` are separated by `edges`. In each bin the sd of the noise is
    `sd_per_scale` (bin,) times its scale, and its distribution function is `probability` (bin,
    node) at `residual` (node,), in units of the scale. Noise about draws has one bin.
    """

    about: str
    scale: float
    exponent: float
    reference_sd: float
    knots: Sequence[Sequence[float]]
    coefficients: Sequence[Sequence[float]]
    spread_range: Sequence[float]
    scale_range: Sequence[float]
    column: int
    edges: Sequence[float]
    sd_per_scale: Sequence[float]
    residual: np.ndarray
    probability: np.ndarray
    slope: float = 0.0
    reference_mean: float = 0.0


class Chunk(NamedTuple):
    """Points that are predicted together: draws of f on the model scale, and their features.

    Axes (draw, point) and (point, feature), in float64.
    """

    functions: np.ndarray
    features: np.ndarray


class LocatedNoise(NamedTuple):
    """Centres of the noise (sample, point), and its law."""

    centres: np.ndarray
    law: TabulatedLaw


class Prediction(NamedTuple):
    """Prediction of each point (point,); quantiles have axes (quantile, point)."""

    mean: np.ndarray
    median: np.ndarray
    posterior_sd: np.ndarray
    total_sd: np.ndarray
    quantiles: np.ndarray


def locate(chunk: Chunk, noise: StoredNoise) -> LocatedNoise:
    """Compute the centres of the noise and its law; arrays are of NumPy or of JAX."""
    functions, features = chunk
    xp = functions.__array_namespace__()
    bins = xp.zeros_like(functions[0], dtype=int)
    if noise.about == "draws":
        scale = scale_along(noise, functions.mean(axis=0))
        return LocatedNoise(functions, _law(noise, scale, bins))
    scale = scales_at(noise, functions.std(axis=0), features)
    if len(noise.edges):
        bins = bins_at(noise.edges, noise.column, features, functions.shape[1])
    return LocatedNoise(functions.mean(axis=0, keepdims=True), _law(noise, scale, bins))


def noise_sd(chunk: Chunk, noise: StoredNoise) -> np.ndarray:
    """Compute the sd of the noise at each point (point,)."""
    return locate(chunk, noise).law.sd()


def summarise(
    chunk: Chunk, noise: StoredNoise, probabilities: Sequence[float], *, powers: bool
) -> Prediction:
    """Summarise the predictive on the model scale, or of 10 to the power of it with `powers`.

    Median, quantiles, mean and total sd are those of one distribution, that of f + noise or of
    10^(f + noise), which `sample` draws. Median and quantiles of powers are powers of those on the
    model scale. The posterior sd is that of f or 10^f over the draws.
    """
    about_draws, located = noise.about == "draws", locate(chunk, noise)
    centres, law = located
    median, *others = _quantiles(located, noise, [0.5, *probabilities])
    quantiles = np.reshape(others, (len(probabilities), len(median)))
    if not powers:
        posterior_sd = chunk.functions.std(axis=0)
        total = np.hypot(posterior_sd if about_draws else 0.0, law.sd())
        return Prediction(centres.mean(axis=0), median, posterior_sd, total, quantiles)
    targets = 10.0**chunk.functions
    centres = targets if about_draws else 10.0**centres
    centre, between = centres.mean(axis=0), centres.std(axis=0)
    first, second = (_excess(law, power) for power in (1, 2))
    within = np.maximum(second - 2 * first - np.square(first), 0)
    total = np.sqrt((1 + second) * np.square(between) + within * np.square(centre))
    mean, spread = (1 + first) * centre, targets.std(axis=0)
    return Prediction(mean, 10.0**median, spread, total, 10.0**quantiles)


def quantiles_of(chunk: Chunk, noise: StoredNoise, probabilities: Sequence[float]) -> np.ndarray:
    """Return quantiles (quantile, point) on the model scale; they are those of `summarise`."""
    return np.array(_quantiles(locate(chunk, noise), noise, probabilities))


def _quantiles(
    located: LocatedNoise, noise: StoredNoise, probabilities: Sequence[float]
) -> list[np.ndarray]:
    check_probabilities(noise, probabilities)
    return Mixture(located.centres, located.law, by_newton).quantiles(probabilities)


def sample(chunk: Chunk, noise: StoredNoise, rng: np.random.Generator) -> np.ndarray:
    """Draw the predictive (draw, point) on the model scale, once per draw of f."""
    centres, law = locate(chunk, noise)
    drawn: np.ndarray = centres + law.quantile(rng.random(chunk.functions.shape))
    return drawn


def _law(noise: StoredNoise, scale: np.ndarray, bins: np.ndarray) -> TabulatedLaw:
    sds = np.asarray(noise.sd_per_scale)
    return TabulatedLaw(scale, bins, noise.residual, noise.probability, sds)


def check_probabilities(noise: StoredNoise, probabilities: Sequence[float]) -> None:
    """Refuse probabilities outside the range of the table."""
    low, high = noise.probability[:, 0].max(), noise.probability[:, -1].min()
    for probability in probabilities:
        if not low < probability < high:
            raise InputError("surrogate.beyond_table", low=low, high=high, probability=probability)


def pieces(law: TabulatedLaw) -> tuple[np.ndarray, np.ndarray]:
    """Split the table of a law into pieces, with the middle of each and its share in each bin.

    Middles (piece,) are in units of the scale; shares (bin, piece) are probabilities.
    """
    nodes = np.unique([*range(0, len(law.residual), _EVERY), len(law.residual) - 1])
    middle = (law.residual[nodes[1:]] + law.residual[nodes[:-1]]) / 2
    return middle, np.diff(law.probability[:, nodes], axis=1)


def _excess(law: TabulatedLaw, power: int) -> np.ndarray:
    """Compute the mean of 10^(power times noise) at each point (point,), minus one.

    The noise is symmetric, so the result is the mean of cosh t z - 1 = 2 sinh² (t z / 2) over the
    standard noise z, with t = power ln 10 times the scale.
    """
    rates, places = np.unique(power * LN10 * law.scale, return_inverse=True)
    middle, shares = pieces(law)
    means = 2 * np.square(np.sinh(np.outer(rates, middle / 2)))
    return np.einsum("pn,pn->p", means[places], shares[law.bins])
