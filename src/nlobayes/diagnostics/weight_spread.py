"""Quantiles over all weights of a posterior, of their values and of their standard deviations."""

from __future__ import annotations

import numpy as np

from nlobayes.diagnostics.run_diagnostics import WeightSpread

SHARES = (np.arange(100) + 0.5) / 100
"""Shares of the weights below each quantile."""


def weight_spread(weights: np.ndarray) -> WeightSpread:
    """Return the quantiles at `SHARES` of all weights (chain, draw, weight), whatever their names.

    They are in units of the network; chains in several modes of a weight increase its sd.
    """
    draws = weights.reshape(-1, weights.shape[-1])
    return {
        "weight": _quantiles(draws.ravel()),
        "sd": _quantiles(draws.std(axis=0, dtype=np.float64)),
    }


def _quantiles(values: np.ndarray) -> list[float]:
    found: list[float] = np.quantile(values, SHARES).astype(np.float64).tolist()
    return found
