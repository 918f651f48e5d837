"""The noise that the likelihood itself states, of every draw at every point.

The predictive of the model is the mixture over draws of the likelihood about each; it needs no row
that was not trained on. On noise-free targets a declared tolerance makes it too wide.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln, logsumexp, ndtr, stdtr

from nlobayes.evaluation.predictive.density import point_chunks


class StatedNoise(NamedTuple):
    """Family, scale and degrees of freedom of a likelihood on the model scale.

    Scale and degrees of freedom broadcast over (draw, point). Families are `gaussian` (scale sd),
    `student_t` and `laplace` (scale b of exp(-|r| / b)).
    """

    family: str
    scale: np.ndarray
    degrees_of_freedom: np.ndarray | None = None


def log_density(noise: StatedNoise, residual: np.ndarray) -> np.ndarray:
    """Return the log density of residuals (draw, point), elementwise."""
    z = residual / noise.scale
    if noise.family == "gaussian":
        standard = -0.5 * z**2 - 0.5 * np.log(2 * np.pi)
    elif noise.family == "laplace":
        standard = -np.abs(z) - np.log(2)
    else:
        nu: Any = noise.degrees_of_freedom
        constant = gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * np.log(nu * np.pi)
        standard = constant - (nu + 1) / 2 * np.log1p(z**2 / nu)
    return standard - np.log(noise.scale)


def distribution(noise: StatedNoise, residual: np.ndarray) -> np.ndarray:
    """Return the probability of a smaller residual (draw, point), elementwise."""
    z = residual / noise.scale
    if noise.family == "gaussian":
        return ndtr(z)
    if noise.family == "laplace":
        tail = 0.5 * np.exp(-np.abs(z))
        return np.where(z < 0, tail, 1 - tail)
    return stdtr(noise.degrees_of_freedom, z)


def at_points(noise: StatedNoise, points: np.ndarray | slice) -> StatedNoise:
    """Give the noise at some of the points."""
    alike = noise.scale.ndim < 2 or noise.scale.shape[1] == 1
    return noise if alike else noise._replace(scale=noise.scale[:, points])


def scores(draws: np.ndarray, observed: np.ndarray, noise: StatedNoise) -> dict[str, Any]:
    """Judge the predictive of the model on one split.

    Parameters
    ----------
    draws
        Function draws on the model scale (draw, point).
    observed
        Observed targets on the model scale (point,).
    noise
        The noise at these points.

    Returns
    -------
    dict
        `lppd` and its `lppd_se` (nats per point), `coverage_68` and `coverage_95` of central
        intervals.
    """
    densities, probabilities = [], []
    for part in point_chunks(*draws.shape):
        here, residual = at_points(noise, part), observed[part] - draws[:, part]
        densities.append(logsumexp(log_density(here, residual), axis=0))
        probabilities.append(distribution(here, residual).mean(axis=0))
    lppd = np.concatenate(densities) - np.log(len(draws))
    off_centre = np.abs(np.concatenate(probabilities) - 0.5)
    return {
        "lppd": float(lppd.mean()),
        "lppd_se": float(lppd.std(ddof=1) / np.sqrt(len(lppd))) if len(lppd) > 1 else None,
        "coverage_68": float(np.mean(off_centre < 0.68 / 2)),
        "coverage_95": float(np.mean(off_centre < 0.95 / 2)),
    }
