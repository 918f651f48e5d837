"""Scores of networks whose size is drawn: of all sizes, of each, of chains, and of each draw."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from nlobayes.data.splits import SPLITS, TEST, VALIDATION
from nlobayes.evaluation.run_evaluation import Scores
from nlobayes.evaluation.tasks.stacking import chain_log_density
from nlobayes.evaluation.tasks.task import ScoringData, Task
from nlobayes.types import Columns
from nlobayes.untyped import Facts

MARGINAL, MODAL = "marginal", "modal"
LEAST_SHARE = 0.01
"""Least share of the draws of a size that is scored alone."""


def draws_by_size(sizes: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """Mark the draws (draw,) of each size, all numbers (draw,) of it together, smallest first."""
    together = np.stack([*sizes.values()], axis=1)
    found, which = np.unique(together, axis=0, return_inverse=True)
    return [which.reshape(-1) == number for number in range(len(found))]


def modal_draws(sizes: Mapping[str, np.ndarray]) -> np.ndarray:
    """Mark the draws (draw,) of the most frequent size; the smallest of equally frequent ones."""
    return max(draws_by_size(sizes), key=np.count_nonzero)


def score_sizes(task: Task, given: ScoringData) -> Scores:
    """Score held-out rows by mixtures of draws: all, those of the modal size, of chains, of sizes.

    Returns `modal`, that size; `draws` and `draws_of_modal`; for `val` and `test`, under `marginal`
    and under `modal`, the log score `lppd` under the likelihood itself, in nats per row, and the
    RMSE or the accuracy of the mean prediction. `by_chain` has the same of each chain, and
    `by_size` of each size with a hundredth of the draws or more, with its numbers and `draws`.
    """
    modal = modal_draws(given.sizes)
    every = np.ones(len(modal), bool)
    size = {name: float(drawn[modal][0]) for name, drawn in given.sizes.items()}
    counts = {"draws": len(modal), "draws_of_modal": int(modal.sum())}
    scores: Scores = {"modal": size, **counts}
    of_chains = np.repeat(np.arange(given.chains), len(modal) // given.chains)
    chosen = [of for of in draws_by_size(given.sizes) if of.mean() >= LEAST_SHARE]
    for split in (VALIDATION, TEST):
        rows = given.data.split == split
        density = task.log_likelihood(given, rows)
        score = partial(_of_draws, task, given, rows, density)
        by_size = [
            {name: float(drawn[of][0]) for name, drawn in given.sizes.items()}
            | {"draws": int(of.sum()), **score(of)}
            for of in chosen
        ]
        scores[SPLITS[split]] = {
            MARGINAL: score(every),
            MODAL: score(modal),
            "by_chain": [score(of_chains == chain) for chain in range(given.chains)],
            "by_size": by_size,
        }
    return scores


def scores_table(scores: Facts) -> Columns:
    """Tabulate the result of `score_sizes`, a row for each split and prediction."""
    rows = [
        {"split": split, "prediction": prediction, "draws": draws, **scores[split][prediction]}
        for split in (SPLITS[VALIDATION], SPLITS[TEST])
        for prediction, draws in ((MARGINAL, scores["draws"]), (MODAL, scores["draws_of_modal"]))
    ]
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def draws_table(task: Task, given: ScoringData, draws: np.ndarray) -> Columns:
    """Tabulate the scores of every single draw of every chain, for each split.

    Parameters
    ----------
    task
        The task.
    given
        The predictions.
    draws
        Numbers of the draws of a chain (draw,), the same of all chains.

    Returns
    -------
    Columns `split`, `chain`, `draw`, the numbers of the size, the RMSE or the accuracy of the draw,
    and its `log_likelihood`, the mean over the rows in nats.
    """
    count = given.chains * len(draws)
    columns: list[Columns] = []
    for code, split in enumerate(SPLITS):
        rows = given.data.split == code
        key, measured = task.measure(given, given.posterior.function, rows)
        columns.append(
            {
                "split": np.repeat(split, count),
                "chain": np.repeat(np.arange(given.chains), len(draws)),
                "draw": np.tile(draws, given.chains),
                **given.sizes,
                key: measured,
                "log_likelihood": task.log_likelihood(given, rows).mean(axis=1),
            }
        )
    return {name: np.concatenate([part[name] for part in columns]) for name in columns[0]}


def _of_draws(
    task: Task, given: ScoringData, rows: np.ndarray, density: np.ndarray, draws: np.ndarray
) -> Scores:
    """Score rows by some draws, whose log densities are (draw, row)."""
    mean = given.posterior.function[draws].mean(axis=0, dtype=np.float64)
    key, measured = task.measure(given, mean[np.newaxis], rows)
    lppd = chain_log_density(density[np.newaxis, draws])[0].mean()
    return {"lppd": float(lppd), key: float(measured[0])}
