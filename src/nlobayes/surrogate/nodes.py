"""Nodes of an infinitely wide network: values of f that represent the draws of its scales.

They have mean and variance of the mixture of the draws' normals, and take the place of functions
of a finite network, at each point alone. Module `pathwise` draws functions.
"""

from __future__ import annotations

from functools import lru_cache
from statistics import NormalDist

import numpy as np

from nlobayes.untyped import Array, Module

NODES = 6
"""Nodes of each draw."""
GOLDEN = (5**0.5 - 1) / 2
"""Its multiples, modulo 1, fill the interval most evenly."""


@lru_cache(maxsize=16)
def nodes(count: int) -> np.ndarray:
    """Return quantiles of a standard normal (draw, node), a rising sequence for each draw.

    Their probabilities are equally spaced over all draws, in turns of the golden ratio: draws that
    hardly differ then resolve the quantiles of their mixture together.
    """
    turns = np.argsort(np.argsort(GOLDEN * np.arange(count) % 1))
    levels = (np.arange(NODES) + (turns[:, np.newaxis] + 0.5) / count) / NODES
    return np.vectorize(NormalDist().inv_cdf)(levels)


def spread(means: Array, sds: Array, xp: Module) -> Array:
    """Represent draws whose f has these means and sds (..., draw, point): f (..., value, point).

    Each draw has `NODES` values. All together have the mean and the variance of the mixture of the
    draws' normals.
    """
    *leading, draws, points = means.shape
    values = means[..., None, :] + nodes(draws)[..., None] * sds[..., None, :]
    values = values.reshape(*leading, draws * NODES, points)
    sd = xp.sqrt((sds * sds).mean(axis=-2) + means.var(axis=-2))
    middle, rough = values.mean(axis=-2, keepdims=True), values.std(axis=-2)
    ratio = xp.where(rough > 0, sd / xp.where(rough > 0, rough, 1.0), 1.0)
    return means.mean(axis=-2, keepdims=True) + (values - middle) * ratio[..., None, :]
