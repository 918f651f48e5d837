"""How good the predictions are: accuracy, calibration and proper scores of one split, or its parts.

Draws (sample, point) and observed (point) are on the model scale: log10 of the target (scale
`log10`), or the target itself (`identity`).
"""

import math
from typing import Any, NamedTuple

import numpy as np

from nlobayes.evaluation.calibration.calibration import calibration
from nlobayes.evaluation.calibration.conditional import DECILES, equal_count_bins
from nlobayes.evaluation.predictive.density import checked_split
from nlobayes.evaluation.predictive.noise import PredictiveNoise, at_rows
from nlobayes.evaluation.scores.accuracy import accuracy
from nlobayes.evaluation.scores.proper_scores import proper_scores


class Decile(NamedTuple):
    """Scores of the points whose covariate lies between `low` and `high`."""

    low: float
    high: float
    points: int
    scores: dict[str, Any]


def evaluate(
    draws: np.ndarray,
    observed: np.ndarray,
    noise: PredictiveNoise,
    rng: np.random.Generator,
    *,
    scale: str,
) -> dict[str, Any]:
    """Judge the predictions of one split: accuracy, calibration and proper scores.

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

    Returns
    -------
    dict
        The keys of `accuracy`, `calibration` and `proper_scores`, each a finite number, or None
        where there is none; `undefined`, the reason of each None in one line, by key.

    Raises
    ------
    InputError
        If the arrays do not fit together, a value is not finite, or the scale is unknown.
    """
    draws, observed = checked_split(draws, observed)
    scores = {
        **accuracy(draws, observed, rng, scale=scale),
        **calibration(draws, observed, noise),
        **proper_scores(draws, observed, noise, rng, scale=scale),
    }
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
    """Judge the predictions of one split in bins of equally many points along a covariate.

    Returns
    -------
    list
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
                draws[:, points], observed[points], at_rows(noise, points), rng, scale=scale
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
