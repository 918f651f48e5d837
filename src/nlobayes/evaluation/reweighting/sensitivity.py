"""Sensitivity of predictions to the prior or the likelihood raised to a power.

Importance weights replace another run of the sampler. Results are per doubling of the power: the
derivative with respect to its logarithm to base 2.

N. Kallioinen, T. Paananen, P.-C. Bürkner, A. Vehtari, Statistics and Computing 34 (2024) 57.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import rel_entr

from nlobayes.distributions.distribution import point_chunks
from nlobayes.errors import InputError
from nlobayes.evaluation.reweighting.importance import (
    Weights,
    checked_quantities,
    importance_weights,
    weighted_mean,
    weighted_sd,
)


class Sensitivity(NamedTuple):
    """Change of each quantity per doubling of the power of a component."""

    mean: np.ndarray
    """Change of the mean, in units of the quantity (point,)."""
    sd: np.ndarray
    """Change of the standard deviation, in units of the quantity (point,)."""
    distance: np.ndarray
    """Change of the cumulative Jensen-Shannon distance to the unchanged posterior (point,). Above
    0.05 a quantity is called sensitive."""
    pareto_k: tuple[float, float]
    """Pareto k of the weights to the smaller and to the larger power."""


def power_scaled(
    log_component: np.ndarray, power: float, *, relative_efficiency: float | None = None
) -> Weights:
    """Compute weights to the posterior with one component raised to a power.

    Raises InputError if the power is not positive and finite, or a component is not finite or has
    too few draws.

    Parameters
    ----------
    log_component
        Log prior or summed log likelihood of each draw, axes (chain, draw) or (draw,).
    power
        Power, above 0; 1 does not change the posterior.
    relative_efficiency
        As for `importance_weights`.
    """
    log_component = np.asarray(log_component, np.float64)
    if not 0 < power < math.inf:
        raise InputError("evaluation.power", power=power)
    if not np.isfinite(log_component).all():
        raise InputError(
            "evaluation.component_not_finite",
            not_finite=int(np.sum(~np.isfinite(log_component))),
            size=log_component.size,
        )
    return importance_weights((power - 1) * log_component, relative_efficiency=relative_efficiency)


def sensitivity(
    log_component: np.ndarray,
    quantities: np.ndarray,
    *,
    power: float = 1.01,
    relative_efficiency: float | None = None,
) -> Sensitivity:
    """Compute the change of quantities with the power of one component.

    Finite differences between 1 / power and power.

    Parameters
    ----------
    log_component
        Log prior or summed log likelihood of each draw, axes (chain, draw) or (draw,).
    quantities
        Quantities of interest, such as predictions, axes (draw, point), chain after chain.
    power
        Above 1. The default gives the derivative; a large power gives a finite step. Its Pareto k
        must be small, which it is not for the prior of many weights.
    relative_efficiency
        As for `importance_weights`.

    Raises
    ------
    InputError
        As `power_scaled` and `weighted_mean`, or if the power is not above 1.
    """
    if not power > 1:
        raise InputError("evaluation.power_of_sensitivity", power=power)
    lower, upper = (
        power_scaled(log_component, each, relative_efficiency=relative_efficiency)
        for each in (1 / power, power)
    )
    doublings = 2 * math.log2(power)
    mean = weighted_mean(upper, quantities) - weighted_mean(lower, quantities)
    sd = weighted_sd(upper, quantities) - weighted_sd(lower, quantities)
    distance = cumulative_distance(lower, quantities) + cumulative_distance(upper, quantities)
    k = lower.pareto_k, upper.pareto_k
    return Sensitivity(mean / doublings, sd / doublings, distance / doublings, k)


def cumulative_distance(weights: Weights, quantities: np.ndarray) -> np.ndarray:
    """Compute the cumulative Jensen-Shannon distance between unweighted and weighted draws.

    The square root of the Jensen-Shannon divergence of the distribution functions P and Q, that
    is ∫ P log2(P/M) + Q log2(Q/M) over ∫ P + Q with M = (P + Q) / 2, or of 1 - P and 1 - Q, the
    larger of the two; between 0 and 1, without a unit.

    Parameters
    ----------
    weights
        Weights of the draws.
    quantities
        Axes (draw, point).

    Returns
    -------
    Axis (point); zero where all draws are equal.

    Raises
    ------
    InputError
        As `weighted_mean`.
    """
    quantities = checked_quantities(weights, quantities)
    parts = [
        _distance(weights.values, quantities[:, part]) for part in point_chunks(*quantities.shape)
    ]
    return np.concatenate(parts)


def _distance(weights: np.ndarray, quantities: np.ndarray) -> np.ndarray:
    order = np.argsort(quantities, axis=0)
    steps = np.diff(np.take_along_axis(quantities, order, axis=0), axis=0)
    plain = np.arange(1, len(weights))[:, np.newaxis] / len(weights)
    weighted = np.clip(np.cumsum(weights[order], axis=0)[:-1], 0, 1)
    below = _divergence(plain, weighted, steps)
    above = _divergence(1 - plain, 1 - weighted, steps)
    return np.sqrt(np.maximum(below, above))


def _divergence(first: np.ndarray, second: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """Divergence of two step functions (step, point), not below zero by rounding."""
    middle = (first + second) / 2
    entropy = np.sum(steps * (rel_entr(first, middle) + rel_entr(second, middle)), axis=0)
    size = math.log(2) * np.sum(steps * (first + second), axis=0)
    return np.divide(np.maximum(entropy, 0), size, out=np.zeros_like(size), where=size > 0)
