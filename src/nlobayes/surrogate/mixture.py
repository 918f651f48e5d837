"""The predictive of a surrogate: the mixture over draws of f plus noise, on the model scale.

The standardised distribution function of the noise comes as a table, whatever its family.
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


class Noise(NamedTuple):
    """Noise about f on the model scale: its scale, and its distribution function at nodes.

    `about` says whether it lies about every of the `draws` or about their `mean`. There its log
    scale is that of `scale`, plus `exponent` times the log of the sd of the draws over
    `reference_sd`, plus for each feature a line between `coefficients` at `knots`. Its sd is
    `sd_per_scale` times its scale. `residual`, in units of the scale, and `probability` (node,)
    increase.
    """

    about: str
    scale: float
    exponent: float
    reference_sd: float
    knots: Sequence[Sequence[float]]
    coefficients: Sequence[Sequence[float]]
    sd_per_scale: float
    residual: np.ndarray
    probability: np.ndarray


class Block(NamedTuple):
    """Points that are predicted together: draws of f on the model scale, and their features.

    Axes (draw, point) and (point, feature), in float64.
    """

    functions: np.ndarray
    features: np.ndarray


class Located(NamedTuple):
    """What the noise lies about (sample, point), and its scale there (point,)."""

    centres: np.ndarray
    scale: np.ndarray


class Prediction(NamedTuple):
    """What is predicted of each point (point,); quantiles have axes (quantile, point)."""

    mean: np.ndarray
    median: np.ndarray
    epistemic_sd: np.ndarray
    total_sd: np.ndarray
    quantiles: np.ndarray


def locate(block: Block, noise: Noise) -> Located:
    """Find where the noise lies, and how wide it is."""
    functions, features = block
    if noise.about == "draws":
        return Located(functions, np.full(functions.shape[1], noise.scale))
    relative = np.maximum(functions.std(axis=0) / noise.reference_sd, _SMALLEST_SD)
    log_scale = math.log(noise.scale) + noise.exponent * np.log(relative)
    for column, knots in enumerate(noise.knots):
        log_scale += np.interp(features[:, column], knots, noise.coefficients[column])
    return Located(functions.mean(axis=0, keepdims=True), np.exp(log_scale))


def noise_sd(block: Block, noise: Noise) -> np.ndarray:
    """Give the sd of the noise at each point (point,)."""
    return locate(block, noise).scale * noise.sd_per_scale


def summarise(block: Block, noise: Noise, probabilities: Sequence[float]) -> Prediction:
    """Summarise the predictive on the model scale."""
    mean, epistemic = block.functions.mean(axis=0), block.functions.std(axis=0)
    located = locate(block, noise)
    within = epistemic if noise.about == "draws" else 0.0
    median, *quantiles = mixture_quantiles(located, noise, [0.5, *probabilities])
    stacked = np.reshape(quantiles, (len(probabilities), len(mean)))
    total = np.hypot(within, located.scale * noise.sd_per_scale)
    return Prediction(mean, median, epistemic, total, stacked)


def to_target(block: Block, on_scale: Prediction, noise: Noise) -> Prediction:
    """Take a summary from log10 of the target to the target itself.

    Median and quantiles are exact. Mean and epistemic sd are those of 10^f over the draws; the
    noise is error of the surrogate, not of nature, and enters the total sd to first order, as
    ln 10 times the mean times its sd.
    """
    targets = 10.0**block.functions
    mean, epistemic = targets.mean(axis=0), targets.std(axis=0)
    within = epistemic if noise.about == "draws" else 0.0
    total = np.hypot(within, LN10 * mean * noise_sd(block, noise))
    return Prediction(mean, 10.0**on_scale.median, epistemic, total, 10.0**on_scale.quantiles)


def sample(block: Block, noise: Noise, rng: np.random.Generator) -> np.ndarray:
    """Draw the predictive (draw, point) on the model scale, once per draw of f."""
    located = locate(block, noise)
    uniform = rng.random(block.functions.shape)
    standard = np.interp(uniform, noise.probability, noise.residual)
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
        low, high = noise.probability[0], noise.probability[-1]
        if not low < probability < high:
            raise InputError(
                f"quantiles are for probabilities between {low:.3g} and {high:.9g}, got "
                f"{probability!r}; ask for others"
            )
    scaled = np.ascontiguousarray((located.centres / located.scale).T)
    return [_quantile(scaled, noise, p) * located.scale for p in probabilities]


def _quantile(scaled: np.ndarray, noise: Noise, probability: float) -> np.ndarray:
    """Solve for one quantile of centres (point, sample) in units of the noise's scale."""
    single = float(np.interp(probability, noise.probability, noise.residual))
    if scaled.shape[1] == 1:
        return scaled[:, 0] + single
    low, high = scaled.min(axis=1) + single - 1e-6, scaled.max(axis=1) + single + 1e-6
    slopes = np.gradient(noise.probability, noise.residual)
    guess = np.clip(scaled.mean(axis=1) + single, low, high)
    active = np.arange(len(scaled))
    for _ in range(_STEPS):
        residual = guess[active, np.newaxis] - scaled[active]
        excess = np.interp(residual, noise.residual, noise.probability).mean(axis=1) - probability
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
