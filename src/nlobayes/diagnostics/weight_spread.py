"""Where the weights of a posterior lie, and how far each moves: quantiles over all weights."""

from __future__ import annotations

import numpy as np

SHARES = (np.arange(100) + 0.5) / 100
"""Shares of the weights below each quantile."""


def weight_spread(weights: np.ndarray) -> dict[str, list[float]]:
    """Give the quantiles at `SHARES` of all weights (chain, draw, weight), whatever their names.

    Returns
    -------
    dict
        `weight`: of the values of all weights in all draws. `sd`: of the standard deviations of the
        weights, each over the draws of all chains; chains in several modes of a weight widen it.
        Both in units of the network.
    """
    draws = weights.reshape(-1, weights.shape[-1])
    each = {"weight": draws.ravel(), "sd": draws.std(axis=0, dtype=np.float64)}
    return {
        name: np.quantile(values, SHARES).astype(np.float64).tolist()
        for name, values in each.items()
    }
