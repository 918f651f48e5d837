"""Stacking: weights of chains that do not mix, which maximise the predictive score.

Each chain counts as a separate posterior. The weights maximise the log score of the mixture of the
chains' predictives over rows that were not trained on, sum_i log sum_k w_k p(y_i | chain k), over
the simplex. The source takes leave-one-out densities of the train rows; here they are densities of
the validation rows, which no chain was trained on.

Y. Yao, A. Vehtari, A. Gelman, Journal of Machine Learning Research 23 (2022) 79.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nlobayes.data.splits import TEST, VALIDATION
from nlobayes.distributions.log_sums import log_sum_exp
from nlobayes.errors import InputError
from nlobayes.evaluation.reweighting.importance import Weights, resample
from nlobayes.evaluation.run_evaluation import Stacking
from nlobayes.evaluation.tasks.task import Choices, ScoringData, Task
from nlobayes.types import PredictedDraws

TOLERANCE = 1e-6
"""Tolerance of the log score in nats per row."""
_MOST_STEPS = 20_000
"""Most steps of the search for weights."""


class StackingWeights(NamedTuple):
    """Weights of chains (chain,), which sum to one; the log score cannot rise by more than `gap`.

    `gap` is in nats per row.
    """

    weights: np.ndarray
    gap: float


def chain_log_density(log_likelihood: np.ndarray) -> np.ndarray:
    """Return log p(y_i | chain) (chain, row) from the log likelihood (chain, draw, row)."""
    draws = log_likelihood.shape[1]
    density: np.ndarray = log_sum_exp(log_likelihood, axis=1) - np.log(draws)
    return density


def stacking_weights(log_density: np.ndarray) -> StackingWeights:
    """Find the weights of chains whose mixture has the highest log score.

    The score is concave. Expectation maximisation starts from equal weights, which chains with
    equal densities keep. With g_k = mean_i p_ik / sum_j w_j p_ij the score is at most max_k g_k - 1
    nats per row below its maximum. The steps end where that is below 1e-6, or after 20 000 steps.

    Raises InputError if there is one chain or no row, or a density is not finite.

    Parameters
    ----------
    log_density
        Log predictive density of held-out rows under each chain (chain, row).

    Returns
    -------
    The weights, and that bound.
    """
    density = _relative(_checked(log_density))
    weights = np.full(len(density), 1 / len(density))
    gap = np.inf
    for _ in range(_MOST_STEPS):
        gain = np.mean(density / (weights @ density), axis=1)
        gap = float(gain.max()) - 1
        if gap <= TOLERANCE:
            break
        weights = weights * gain
        weights /= weights.sum()
    return StackingWeights(weights, max(gap, 0.0))


def log_scores(log_density: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the log density of each row (row,) under the mixture of chains (chain, row)."""
    with np.errstate(divide="ignore"):
        scores: np.ndarray = log_sum_exp(log_density + np.log(weights)[:, np.newaxis], axis=0)
    return scores


def resample_chains(weights: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Choose as many draws as there are, from each chain by its weight.

    The choice is systematic: a draw is chosen `chains` times its chain's weight, rounded down or
    up. So a chain of weight one gives each of its draws as often as there are chains.

    Parameters
    ----------
    weights
        Weights of the chains (chain,).
    draws
        Draws of each chain.
    rng
        Source of the one random number.

    Returns
    -------
    Places of the chosen draws (chain x draw,), ascending, in draws of chains one after the other.
    """
    with np.errstate(divide="ignore"):
        log_weights = np.repeat(np.log(weights) - np.log(draws), draws)
    return resample(Weights(log_weights, -np.inf, 1.0), len(log_weights), rng)


def _relative(log_density: np.ndarray) -> np.ndarray:
    """Return densities relative to the best chain's at each row; the weights do not change."""
    return np.exp(log_density - log_density.max(axis=0))


def _checked(log_density: np.ndarray) -> np.ndarray:
    log_density = np.asarray(log_density, np.float64)
    if log_density.ndim != 2 or len(log_density) < 2 or log_density.shape[1] == 0:
        raise InputError("evaluation.stacking_shape", shape=log_density.shape)
    if not np.isfinite(log_density).all():
        bad = int(np.sum(~np.isfinite(log_density)))
        raise InputError("evaluation.stacking_not_finite", bad=bad, size=log_density.size)
    return log_density


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
