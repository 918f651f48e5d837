"""Tables for data with one input: draws of f and MAPs as curves, and the predictive density."""

from __future__ import annotations

import numpy as np

from nlobayes.distributions.mixture import Mixture
from nlobayes.evaluation.predictive.predictive_density import PredictiveNoise, locate, select_rows
from nlobayes.types import Columns

DRAWS = 40
"""Draws of f that are tabulated, in equal numbers from all chains."""
MOST_POINTS = 300
"""Points of a curve."""
LEVELS = {"q2_5": 0.025, "q16": 0.16, "q50": 0.5, "q84": 0.84, "q97_5": 0.975}
IMAGE_POINTS, CELLS = 100, 120
"""Points and cells of the target in the image of the density."""
SHOWN = 0.005
"""Largest probability beyond the image on either side."""


def tables(
    draws: np.ndarray, maps: np.ndarray, chains: int, covariate: np.ndarray, noise: PredictiveNoise
) -> dict[str, Columns]:
    """Tabulate curves over the points, in the order of the covariate.

    Parameters
    ----------
    draws
        f of all draws (draw, point) on the model scale, chain after chain.
    maps
        f of the MAPs (member, point) on that scale.
    chains
        Number of chains; some draws of each are tabulated.
    covariate
        Horizontal axis of the points (point,), ascending; no points give no rows.
    noise
        Predictive noise at the points.
    """
    points = evenly(len(covariate), MOST_POINTS)
    x, shown = covariate[points], draws_of_chains(len(draws), chains)
    chain, draw = np.divmod(shown, max(len(draws) // chains, 1))
    curves = {"chain": chain, "draw": draw}
    members = {"member": np.arange(len(maps))}
    return {
        "curves": _long(curves, draws[np.ix_(shown, points)], x),
        "maps": _long(members, maps[:, points], x),
        "predictive_quantiles": _quantiles(draws[:, points], x, select_rows(noise, points)),
        "density": density(draws, covariate, noise),
    }


def evenly(count: int, most: int) -> np.ndarray:
    """Choose at most `most` numbers below `count`, evenly from the first to the last."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))


def draws_of_chains(draws: int, chains: int) -> np.ndarray:
    """Choose equally many draws of each chain, evenly; `draws` counts those of all chains."""
    draws_per_chain = draws // chains
    chosen = evenly(draws_per_chain, max(DRAWS // chains, 1))
    return (draws_per_chain * np.arange(chains)[:, np.newaxis] + chosen).ravel()


def density(draws: np.ndarray, covariate: np.ndarray, noise: PredictiveNoise) -> Columns:
    """Tabulate the mean of p(y | x) in cells of y, per unit of the model scale.

    It is the probability of a cell over its width, so that a density narrower than a cell is not
    missed. `value` is the middle of a cell.
    """
    points = evenly(len(covariate), IMAGE_POINTS)
    if not len(points):
        return {name: np.empty(0) for name in ("covariate", "value", "density")}
    predictive = locate(draws[:, points], select_rows(noise, points))
    edges = _edges(predictive)
    below = np.stack([predictive.cdf(np.full(len(points), edge)) for edge in edges])
    found = np.diff(below, axis=0) / np.diff(edges)[:, np.newaxis]
    return {
        "covariate": np.tile(covariate[points], CELLS),
        "value": np.repeat((edges[1:] + edges[:-1]) / 2, len(points)),
        "density": found.ravel(),
    }


def _edges(predictive: Mixture) -> np.ndarray:
    low, high = predictive.quantiles([SHOWN, 1 - SHOWN])
    return np.linspace(np.min(low), np.max(high), CELLS + 1)


def _quantiles(draws: np.ndarray, x: np.ndarray, noise: PredictiveNoise) -> Columns:
    found = locate(draws, noise).quantiles([*LEVELS.values()]) if len(x) else [x] * len(LEVELS)
    return {"covariate": x, **dict(zip(LEVELS, found, strict=True))}


def _long(names: Columns, functions: np.ndarray, x: np.ndarray) -> Columns:
    """Concatenate curves (curve, point), with the names of its curve for each point."""
    curves, points = functions.shape
    return {
        **{name: np.repeat(values, points) for name, values in names.items()},
        "covariate": np.tile(x, curves),
        "f": functions.ravel(),
    }
