"""Quantiles over all weights of a posterior, of their values and of their standard deviations."""

from __future__ import annotations

import numpy as np

SHARES = (np.arange(100) + 0.5) / 100
"""Shares of the weights below each quantile."""


def weight_spread(weights: np.ndarray) -> dict[str, list[float]]:
    """Return the quantiles at `SHARES` of all weights (chain, draw, weight), whatever their names.

    Returns
    -------
    dict
        `weight`: quantiles of the values of all weights in all draws. `sd`: quantiles of the
        standard deviations of the weights, each over the draws of all chains; chains in several
        modes of a weight increase it. Both in units of the network.
    """
    draws = weights.reshape(-1, weights.shape[-1])
    each = {"weight": draws.ravel(), "sd": draws.std(axis=0, dtype=np.float64)}
    return {
        name: np.quantile(values, SHARES).astype(np.float64).tolist()
        for name, values in each.items()
    }
