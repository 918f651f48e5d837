"""Stacking of chains that do not mix, for every task."""

from __future__ import annotations

from typing import Any

import numpy as np

from nlobayes.data.splits import TEST, VALIDATION
from nlobayes.evaluation.run_evaluation import Stacking
from nlobayes.evaluation.stacking import (
    chain_log_density,
    log_scores,
    resample_chains,
    stacking_weights,
)
from nlobayes.evaluation.tasks.task import Choices, ScoringData, Task
from nlobayes.types import PredictedDraws

STREAM = 7
"""Added to the seed of the scores for the random number that chooses the draws."""


def stack(task: Task, given: ScoringData, choices: Choices) -> Stacking:
    """Weight the chains by the validation rows, and score the test rows with draws by weight.

    Raises InputError if there is one chain, or a density is not finite.

    Log scores are of all draws under the noise of the likelihood; `test` are the scores of the
    chosen draws with a separately fitted predictive noise.
    """
    split = given.data.split
    held, tested = (_of_chains(task, given, split == name) for name in (VALIDATION, TEST))
    found = stacking_weights(held)
    draws = len(given.posterior.function) // given.chains
    rng = np.random.default_rng([choices.seed, STREAM])
    chosen = resample_chains(found.weights, draws, rng)
    by_weight = given._replace(posterior=_chosen(given.posterior, chosen), rivals={})
    return {
        "weights": [float(weight) for weight in found.weights],
        "gap": found.gap,
        "draws": len(chosen),
        "distinct": len(np.unique(chosen)),
        "lppd_val": _log_scores(held, found.weights),
        "lppd_test": _log_scores(tested, found.weights),
        "test": task.score(by_weight, choices)["test"],
    }


def _of_chains(task: Task, given: ScoringData, rows: np.ndarray) -> np.ndarray:
    """Return the log density of rows under each chain (chain, row)."""
    density = task.log_likelihood(given, rows)
    return chain_log_density(density.reshape(given.chains, -1, density.shape[1]))


def _log_scores(log_density: np.ndarray, weights: np.ndarray) -> dict[str, float]:
    equal = np.full(len(weights), 1 / len(weights))
    each = {"equal": equal, "stacking": weights}
    return {name: float(log_scores(log_density, w).mean()) for name, w in each.items()}


def _chosen(predicted: PredictedDraws, chosen: np.ndarray) -> PredictedDraws:
    """Take some draws; values that all draws share stay single."""

    def some(values: Any) -> Any:
        alike = np.ndim(values) == 0 or len(values) == 1  # of None as of a number
        return values if alike else values[chosen]

    return predicted._replace(
        function=predicted.function[chosen],
        scale=some(predicted.scale),
        degrees_of_freedom=some(predicted.degrees_of_freedom),
    )
