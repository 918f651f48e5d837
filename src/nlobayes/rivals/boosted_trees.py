"""Trees boosted by gradients, on histograms of the features, for the mean alone (scikit-learn)."""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from nlobayes.rivals import Fitted, Foretold


def fit(
    features: np.ndarray,
    target: np.ndarray,
    *,
    seed: int,
    learning_rate: float,
    most_iterations: int,
    most_leaves: int,
    patience: int,
    held_out: float,
) -> Fitted:
    """Add trees until rows of the train split that are held out no longer gain."""
    trees = HistGradientBoostingRegressor(
        learning_rate=learning_rate,
        max_iter=most_iterations,
        max_leaf_nodes=most_leaves,
        early_stopping=True,
        validation_fraction=held_out,
        n_iter_no_change=patience,
        random_state=seed,
    ).fit(features, target)
    facts = {"rows": len(target), "iterations": int(trees.n_iter_)}
    return Fitted(lambda points: Foretold(trees.predict(points)[np.newaxis]), facts)
