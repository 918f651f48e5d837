"""All scores of one split, or of its parts.

The modules of the folders `regression` and `classification` define the scores. Draws (sample,
point) and observed (point) are on the model scale: log10 of the target (scale `log10`), or the
target itself (`identity`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from nlobayes.evaluation.calibration.conditional import DECILES, equal_count_bins
from nlobayes.evaluation.predictive.predictive_density import (
    PredictiveNoise,
    checked_split,
    select_rows,
)
from nlobayes.evaluation.run_evaluation import Scores
from nlobayes.evaluation.scores import classification, regression
from nlobayes.evaluation.scores.split import NO_OWN, ClassPrediction, ClassSplit, OwnScores
from nlobayes.types import RowGroups
from nlobayes.untyped import Document


class Decile(NamedTuple):
    """Scores of the points whose covariate lies between `low` and `high`."""

    low: float
    high: float
    points: int
    scores: Document


def evaluate(
    draws: np.ndarray,
    observed: np.ndarray,
    noise: PredictiveNoise,
    rng: np.random.Generator,
    *,
    scale: str,
    own: OwnScores = NO_OWN,
    quick: bool = False,
    features: np.ndarray | None = None,
) -> Scores:
    """Score predicted numbers of one split, by every module of `regression` and custom scores.

    Raises InputError if the arrays do not fit together, a value is not finite, the scale is
    unknown, or a function of the user gives no score.

    Parameters
    ----------
    draws
        Function draws on the model scale, axes (sample, point); the members of an ensemble serve
        as draws.
    observed
        Observed targets on the model scale, axis (point).
    noise
        Predictive noise.
    rng
        Source of the noise in the CRPS and of the resampled points; no other number is sampled.
    scale
        `log10` or `identity`.
    own
        Custom scores, which come last.
    quick
        Whether intervals over resampled points are left out, and sampled numbers are fewer.
    features
        Inputs of the network, axes (point, feature), for the coverage of the worst slab.

    Returns
    -------
    The keys of all modules, in their order, each a finite number, or None where there is none;
    `undefined`, the reason of each None in one line, by key.
    """
    draws, observed = checked_split(draws, observed)
    split = regression.Split(draws, observed, noise, rng, scale, quick, features)
    scores = [each.score(split) for each in regression.SCORES.values()]
    return _explained([*scores, own.of(split)])


def evaluate_classes(
    prediction: ClassPrediction, labels: np.ndarray, own: OwnScores = NO_OWN
) -> Scores:
    """Score predicted classes of one split, by all modules of `classification` and custom scores.

    The result has the keys of `evaluate`; `labels` (point,) are the indices of the true classes.
    """
    split = ClassSplit(prediction, labels)
    scores = [each.score(split) for each in classification.SCORES.values()]
    return _explained([*scores, own.of(split)])


def _explained(groups: Iterable[dict[str, float | str]]) -> Scores:
    """Join groups of scores; a missing value is None, and `undefined` states why."""
    scores = {name: score for group in groups for name, score in group.items()}
    undefined = {name: reason for name, score in scores.items() if (reason := _why_not(score))}
    return {
        **{name: None if name in undefined else score for name, score in scores.items()},
        "undefined": undefined,
    }


def by_decile(
    draws: np.ndarray,
    observed: np.ndarray,
    covariate: np.ndarray,
    noise: PredictiveNoise,
    rng: np.random.Generator,
    *,
    scale: str,
) -> list[Decile]:
    """Score the predictions of one split in bins of equally many points along a covariate.

    Returns
    -------
    Ten deciles in ascending order, or fewer bins where ten had fewer than 20 points each.

    Raises
    ------
    InputError
        As `evaluate`.
    """
    draws, observed = checked_split(draws, observed)
    return [
        Decile(
            low=float(covariate[points].min()),
            high=float(covariate[points].max()),
            points=len(points),
            scores=evaluate(
                draws[:, points], observed[points], select_rows(noise, points), rng, scale=scale
            ),
        )
        for points in equal_count_bins(covariate, DECILES)
    ]


def _why_not(score: float | str) -> str | None:
    if isinstance(score, str):
        return score
    return (
        None if math.isfinite(score) else "a prediction is too large for a number in target space"
    )


FEWEST_ROWS = 30
"""Fewest rows of a group that is scored."""


def score_groups(
    groups: RowGroups, chosen: np.ndarray, score: Callable[[np.ndarray, int], Scores]
) -> Scores:
    """Score each group of the chosen rows (point,) that has any, by its label.

    Parameters
    ----------
    groups
        Group of every row.
    chosen
        Whether a row is scored (point,).
    score
        Scores of a mask of rows (point,), whose group has this number.

    Returns
    -------
    `points`, the number of rows, and the scores; or a line that states why there are none.
    """
    found: Scores = {}
    for code, label in enumerate(groups.labels):
        rows = chosen & (groups.codes == code)
        count = int(rows.sum())
        if count >= FEWEST_ROWS:
            found[label] = {"points": count, **score(rows, code)}
        elif count:
            found[label] = f"{count} rows, scores of a group need {FEWEST_ROWS} or more"
    return found
