"""The predictive of a surrogate: the mixture over draws of f plus noise, on the model scale.

The standardised distribution function of the noise comes as a table, whatever its family, one for
each bin of a feature.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from nlobayes.errors import InputError

LN10 = math.log(10)

_SMALLEST_SD = 1e-3
_TOLERANCE = 1e-5
_STEPS = 60
_RATES = 257
_EVERY = 16
_SLOWEST = 1e-3


class Noise(NamedTuple):
    """Noise about f on the model scale: its scale, and its distribution function at nodes.

    `about` says whether it lies about every of the `draws` or about their `mean`. There its log
    scale is that of `scale`, plus `exponent` times the log of the sd of the draws over
    `reference_sd`, plus for each feature a line between `coefficients` at `knots`; neither that sd
    nor the scale leaves its range, at whose ends it stays. In each bin of
    the feature `column` between `edges` its sd is `sd_per_scale` (bin,) times its scale, and its
    distribution function is `probability` (bin, node) at `residual` (node,), in units of the scale;
    about draws there is one bin.
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


class Block(NamedTuple):
    """Points that are predicted together: draws of f on the model scale, and their features.

    Axes (draw, point) and (point, feature), in float64.
    """

    functions: np.ndarray
    features: np.ndarray


class Located(NamedTuple):
    """What the noise lies about (sample, point), and its scale and bin there (point,)."""

    centres: np.ndarray
    scale: np.ndarray
    bins: np.ndarray


class Prediction(NamedTuple):
    """What is predicted of each point (point,); quantiles have axes (quantile, point)."""

    mean: np.ndarray
    median: np.ndarray
    posterior_sd: np.ndarray
    total_sd: np.ndarray
    quantiles: np.ndarray


def locate(block: Block, noise: Noise) -> Located:
    """Find where the noise lies, and how wide it is."""
    functions, features = block
    if noise.about == "draws":
        points = functions.shape[1]
        return Located(functions, np.full(points, noise.scale), np.zeros(points, int))
    spread = _within(noise.spread_range, functions.std(axis=0))
    relative = np.maximum(spread / noise.reference_sd, _SMALLEST_SD)
    log_scale = math.log(noise.scale) + noise.exponent * np.log(relative)
    for column, knots in enumerate(noise.knots):
        log_scale += np.interp(features[:, column], knots, noise.coefficients[column])
    bins = np.searchsorted(noise.edges, features[:, noise.column], side="right")
    scale = _within(noise.scale_range, np.exp(log_scale))
    return Located(functions.mean(axis=0, keepdims=True), scale, bins)


def noise_sd(block: Block, noise: Noise) -> np.ndarray:
    """Give the sd of the noise at each point (point,)."""
    return _sd(locate(block, noise), noise)


def summarise(block: Block, noise: Noise, probabilities: Sequence[float]) -> Prediction:
    """Summarise the predictive on the model scale."""
    mean, epistemic = block.functions.mean(axis=0), block.functions.std(axis=0)
    located = locate(block, noise)
    within = epistemic if noise.about == "draws" else 0.0
    median, *quantiles = mixture_quantiles(located, noise, [0.5, *probabilities])
    stacked = np.reshape(quantiles, (len(probabilities), len(mean)))
    total = np.hypot(within, _sd(located, noise))
    return Prediction(mean, median, epistemic, total, stacked)


def to_target(block: Block, on_scale: Prediction, noise: Noise) -> Prediction:
    """Take a summary from log10 of the target to the target itself.

    All is of one distribution, that of 10^(f + noise), which `sample` draws: median and quantiles
    are powers of those on the model scale, mean and total sd are its moments. The posterior sd is
    that of 10^f over the draws.
    """
    targets, located = 10.0**block.functions, locate(block, noise)
    centres = targets if noise.about == "draws" else 10.0**located.centres
    centre, between = centres.mean(axis=0), centres.std(axis=0)
    first, second = (_excess(located, noise, power) for power in (1, 2))
    within = np.maximum(second - 2 * first - np.square(first), 0)
    total = np.sqrt((1 + second) * np.square(between) + within * np.square(centre))
    median, quantiles = 10.0**on_scale.median, 10.0**on_scale.quantiles
    return Prediction((1 + first) * centre, median, targets.std(axis=0), total, quantiles)


def sample(block: Block, noise: Noise, rng: np.random.Generator) -> np.ndarray:
    """Draw the predictive (draw, point) on the model scale, once per draw of f."""
    located = locate(block, noise)
    uniform = rng.random(block.functions.shape)
    standard = np.empty_like(uniform)
    for index, probability in enumerate(noise.probability):
        here = located.bins == index
        standard[:, here] = np.interp(uniform[:, here], probability, noise.residual)
    return located.centres + located.scale * standard


def mixture_quantiles(
    located: Located, noise: Noise, probabilities: Sequence[float]
) -> list[np.ndarray]:
    """Solve for quantiles (point,) of the mixture, to 1e-5 of the noise's scale or better.

    By Newton's method, or by bisection where that would leave the bracket.

    Raises
    ------
    InputError
        If a probability is not between those of the table's ends.
    """
    for probability in probabilities:
        low, high = noise.probability[:, 0].max(), noise.probability[:, -1].min()
        if not low < probability < high:
            raise InputError(
                f"quantiles are for probabilities between {low:.3g} and {high:.9g}, got "
                f"{probability!r}; ask for others"
            )
    if len(located.centres) == 1:
        singles = [_single_quantiles(noise, p)[located.bins] for p in probabilities]
        return [located.centres[0] + located.scale * each for each in singles]
    scaled = np.ascontiguousarray((located.centres / located.scale).T)
    return [_quantile(scaled, noise, p) * located.scale for p in probabilities]


def _within(limits: Sequence[float], values: np.ndarray) -> np.ndarray:
    low, high = limits
    return np.clip(values, low, high)


def _excess(located: Located, noise: Noise, power: int) -> np.ndarray:
    """Give the mean of 10^(power times noise) at each point (point,), less one.

    The noise is symmetric, so that it is the mean of cosh t z - 1 = 2 sinh² (t z / 2) over the
    standard noise z, with t = power ln 10 times the scale. Divided by t² it varies slowly, and is
    interpolated.
    """
    rates = power * LN10 * located.scale
    grid = np.linspace(0.0, rates.max(initial=_SLOWEST), _RATES)[1:]
    nodes = np.unique([*range(0, len(noise.residual), _EVERY), len(noise.residual) - 1])
    middle = (noise.residual[nodes[1:]] + noise.residual[nodes[:-1]]) / 2
    grown = 2 * np.square(np.sinh(np.outer(grid, middle / 2)) / grid[:, np.newaxis])
    means = grown @ np.diff(noise.probability[:, nodes], axis=1).T
    each = np.empty_like(rates)
    for index, mean in enumerate(means.T):
        here = located.bins == index
        each[here] = np.interp(rates[here], grid, mean)
    return np.square(rates) * each


def _sd(located: Located, noise: Noise) -> np.ndarray:
    return located.scale * np.asarray(noise.sd_per_scale)[located.bins]


def _single_quantiles(noise: Noise, probability: float) -> np.ndarray:
    """Give a quantile of the noise alone in each bin (bin,), in units of its scale."""
    return np.array([np.interp(probability, each, noise.residual) for each in noise.probability])


def _quantile(scaled: np.ndarray, noise: Noise, probability: float) -> np.ndarray:
    """Solve for one quantile of centres (point, sample) in units of the noise's scale."""
    single, table = _single_quantiles(noise, probability)[0], noise.probability[0]
    low, high = scaled.min(axis=1) + single - 1e-6, scaled.max(axis=1) + single + 1e-6
    slopes = np.gradient(table, noise.residual)
    guess = np.clip(scaled.mean(axis=1) + single, low, high)
    active = np.arange(len(scaled))
    for _ in range(_STEPS):
        residual = guess[active, np.newaxis] - scaled[active]
        excess = np.interp(residual, noise.residual, table).mean(axis=1) - probability
        slope = np.interp(residual, noise.residual, slopes).mean(axis=1)
        high[active] = np.where(excess > 0, guess[active], high[active])
        low[active] = np.where(excess > 0, low[active], guess[active])
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = guess[active] - excess / slope
        middle = (low[active] + high[active]) / 2
        inside = (newton > low[active]) & (newton < high[active])
        step = np.where(inside, newton, middle)
        moved = np.abs(step - guess[active])
        guess[active] = step
        active = active[moved > _TOLERANCE]
        if not active.size:
            break
    return guess
