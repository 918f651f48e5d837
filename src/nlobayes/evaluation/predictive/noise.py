"""The predictive noise at points: the error about the function, on the model scale.

The model scale is log10 of the target, or the target itself. The scale of the noise is one number,
or one per point.
"""

import math
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from nlobayes.errors import InputError
from nlobayes.evaluation.predictive import recalibration

FAMILIES = ("gaussian", "student_t")
STUDENT_T_DEGREES = 4.0

_TABLE_NODES = 8193
_TABLE_TAIL = 1e-8


class PredictiveNoise(NamedTuple):
    """Noise about every one of the draws of a function or about their mean.

    `scale` is on the model scale, a number or one per point; only a Student-t has degrees of
    freedom. Where there are `tails` ((point,) 2), the noise is recalibrated: beyond its own
    intervals of these tails lie 5 and 32 % (`recalibration`).
    """

    family: str
    scale: float | np.ndarray
    degrees_of_freedom: float | None
    about: Literal["draws", "mean"] = "draws"
    tails: np.ndarray | None = None


def make_noise(family: str, scale: float) -> PredictiveNoise:
    """Build the noise of a family; the Student-t has 4 degrees of freedom.

    Raises
    ------
    InputError
        If the family is unknown or the scale is not positive and finite.
    """
    degrees = None if family == "gaussian" else STUDENT_T_DEGREES
    noise = PredictiveNoise(family, float(scale), degrees)
    _checked(noise)
    return noise


def locate(draws: np.ndarray, noise: PredictiveNoise) -> tuple[np.ndarray, PredictiveNoise]:
    """Give what the noise lies about (sample, point): the draws, or their mean as one sample."""
    if noise.about == "draws":
        return draws, noise
    return draws.mean(axis=0, keepdims=True), noise._replace(about="draws")


def at_rows(noise: PredictiveNoise, rows: slice | np.ndarray) -> PredictiveNoise:
    """Give the noise at some of its points."""
    scale, tails = np.asarray(noise.scale), noise.tails
    if scale.ndim:
        noise = noise._replace(scale=scale[rows])
    return noise if tails is None or tails.ndim == 1 else noise._replace(tails=tails[rows])


def sd(noise: PredictiveNoise) -> float | np.ndarray:
    """Return the standard deviation on the model scale; a Student-t's is above its scale."""
    scale, degrees = _checked(noise)
    if degrees is None:
        return scale
    if noise.tails is not None:
        return scale * np.sqrt(recalibration.variance(noise.tails, degrees))
    return scale * math.sqrt(degrees / (degrees - 2))


def logpdf(noise: PredictiveNoise, residual: np.ndarray) -> np.ndarray:
    """Return the log density of residuals on the model scale, elementwise."""
    scale, degrees = _checked(noise)
    if noise.tails is not None:
        plain = noise._replace(tails=None)
        factor = recalibration.slope(2 * cdf(plain, -np.abs(residual)), noise.tails)
        return logpdf(plain, residual) + np.log(factor)
    squared = np.square(residual / scale)
    if degrees is None:
        return -0.5 * squared - np.log(scale * math.sqrt(2 * math.pi))
    normalisation = math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)
    constant = normalisation - np.log(scale * math.sqrt(degrees * math.pi))
    return constant - (degrees + 1) / 2 * np.log1p(squared / degrees)


def cdf(noise: PredictiveNoise, residual: np.ndarray) -> np.ndarray:
    """Return the probability of a smaller residual, elementwise."""
    scale, degrees = _checked(noise)
    if noise.tails is not None:
        plain = noise._replace(tails=None)
        half = recalibration.recalibrate(2 * cdf(plain, -np.abs(residual)), noise.tails) / 2
        return np.where(residual < 0, half, 1 - half)
    standardised = residual / scale
    if degrees is None:
        return ndtr(standardised)
    if degrees != STUDENT_T_DEGREES:
        return stdtr(degrees, standardised)
    # The integral for four degrees of freedom, ten times as fast as scipy's for any.
    sine = standardised / np.sqrt(np.square(standardised) + 4)
    return np.square(1 + sine) * (2 - sine) / 4


def ppf(noise: PredictiveNoise, probability: float) -> float | np.ndarray:
    """Return the residual that is exceeded with probability 1 - `probability`."""
    scale, degrees = _checked(noise)
    if noise.tails is not None:
        half = recalibration.invert(2 * min(probability, 1 - probability), noise.tails) / 2
        return math.copysign(1.0, 0.5 - probability) * scale * stdtrit(degrees, half)
    standard = ndtri(probability) if degrees is None else stdtrit(degrees, probability)
    return scale * standard


def sample(noise: PredictiveNoise, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Draw residuals on the model scale; points come first in a shape with a scale for each."""
    scale, degrees = _checked(noise)
    each = scale if np.ndim(scale) == 0 else np.reshape(scale, (-1, *(1 for _ in shape[1:])))
    if noise.tails is not None:
        return each * _recalibrated_sample(noise, rng, shape)
    standard = rng.standard_normal(shape) if degrees is None else rng.standard_t(degrees, shape)
    return each * standard


def distribution_table(noise: PredictiveNoise) -> tuple[np.ndarray, np.ndarray]:
    """Tabulate the distribution function of the noise in units of its scale.

    Returns
    -------
    Residuals (node,), dense around zero, and the probability of a smaller one (bin, node), a bin
    for each row of `tails` or one: linear between nodes it errs by less than 1e-6. They reach to
    where the noise ends, without `tails` to where 1e-8 is left on each side.
    """
    plain = noise._replace(scale=1.0, tails=None)
    if noise.tails is None:
        residual = _nodes(float(ppf(plain, 1 - _TABLE_TAIL)))
        return residual, cdf(plain, residual)[np.newaxis]
    bins = np.atleast_2d(noise.tails)
    ends = recalibration.invert(0.0, bins)[:, np.newaxis]
    kinks = np.abs(stdtrit(noise.degrees_of_freedom, np.hstack([ends, bins]) / 2)).ravel()
    residual = np.union1d(_nodes(kinks.max()), [-kinks, kinks])
    return residual, np.stack([cdf(plain._replace(tails=nodes), residual) for nodes in bins])


def _nodes(furthest: float) -> np.ndarray:
    return np.sinh(np.linspace(-1, 1, _TABLE_NODES) * math.asinh(furthest))


def _recalibrated_sample(
    noise: PredictiveNoise, rng: np.random.Generator, shape: tuple[int, ...]
) -> np.ndarray:
    """Draw residuals in units of the scale, from the table of the noise that is recalibrated."""
    assert noise.tails is not None
    nodes = np.reshape(noise.tails, (-1, *(1 for _ in shape[1:]), 2))
    residual, [probability] = distribution_table(noise._replace(tails=None))
    uniform = rng.random(shape)
    half = recalibration.invert(2 * np.minimum(uniform, 1 - uniform), nodes) / 2
    return np.copysign(np.interp(half, probability, residual), uniform - 0.5)


def _checked(noise: PredictiveNoise) -> tuple[float | np.ndarray, float | None]:
    """Return scale and degrees of freedom of noise that is one."""
    degrees = noise.degrees_of_freedom
    fits = degrees is None if noise.family == "gaussian" else degrees is not None and degrees > 2
    if noise.tails is not None:
        outer, inner = np.moveaxis(noise.tails, -1, 0)
        fits &= degrees is not None and bool(np.all((outer > 0) & (outer < inner) & (inner < 1)))
    if noise.family in FAMILIES and fits and np.all((noise.scale > 0) & np.isfinite(noise.scale)):
        return noise.scale, degrees
    raise InputError(
        f"predictive noise must be gaussian, or a Student-t with more than 2 degrees of freedom "
        f"and tails that increase between 0 and 1, of a positive scale, got {noise}"
    )
