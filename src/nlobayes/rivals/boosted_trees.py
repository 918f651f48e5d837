"""Trees boosted by gradients, on histograms of the features (scikit-learn).

They learn the mean alone, or quantiles of an observation, by the loss of each quantile.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from nlobayes.rivals import Fitted, RivalOutput

LEVELS = (np.arange(32) + 0.5) / 32
"""Probabilities of the quantiles that represent draws."""
SMALLEST_SD = 1e-3
"""Least spread of the quantiles, in units of the network: leaves may have equal quantiles."""


def fit(
    features: np.ndarray,
    target: np.ndarray,
    *,
    seed: int,
    quantiles: bool,
    learning_rate: float,
    most_iterations: int,
    most_leaves: int,
    patience: int,
    held_out: float,
) -> Fitted:
    """Add trees until the score of held-out rows of the train split no longer improves."""
    settings = {
        "learning_rate": learning_rate,
        "max_iter": most_iterations,
        "max_leaf_nodes": most_leaves,
        "early_stopping": True,
        "validation_fraction": held_out,
        "n_iter_no_change": patience,
        "random_state": seed,
    }
    losses = [{"loss": "quantile", "quantile": level} for level in LEVELS] if quantiles else [{}]
    each = [
        HistGradientBoostingRegressor(**settings, **loss).fit(features, target) for loss in losses
    ]
    iterations = [int(trees.n_iter_) for trees in each]
    facts: dict[str, Any] = {"rows": len(target)}
    facts["iterations"] = iterations if quantiles else iterations[0]
    return Fitted(lambda points: _predict(each, points), facts)


def _predict(each: Sequence[HistGradientBoostingRegressor], points: np.ndarray) -> RivalOutput:
    """Predict the mean, or quantiles (level, point) in order: those that cross are sorted."""
    draws = np.stack([trees.predict(points) for trees in each])
    if len(each) == 1:
        return RivalOutput(draws)
    draws.sort(axis=0)
    return RivalOutput(draws, np.maximum(draws.std(axis=0), SMALLEST_SD))
