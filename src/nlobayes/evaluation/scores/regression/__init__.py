"""Scores of predicted numbers: each file has `score`, from a split to scores by their keys.

A new file is a new group of scores. Its keys have records in `nlobayes.metrics`.
"""

from typing import NamedTuple, Protocol

import numpy as np

from nlobayes.evaluation.predictive.noise import PredictiveNoise
from nlobayes.families import Family


class Split(NamedTuple):
    """What is scored: the predictions of the points of one split, or of a part of it.

    Attributes
    ----------
    draws
        Function draws on the model scale, axes (sample, point).
    observed
        Observed targets on the model scale, axis (point).
    noise
        Predictive noise.
    rng
        Source of sampled numbers, which all files share in alphabetical order. A new file draws
        from `rng.spawn(1)[0]`, so that the scores of the others stay as they are.
    scale
        `log10` or `identity`.
    """

    draws: np.ndarray
    observed: np.ndarray
    noise: PredictiveNoise
    rng: np.random.Generator
    scale: str


class Score(Protocol):
    """A file of this folder."""

    def score(self, split: Split) -> dict[str, float | str]:
        """Give scores by key: a number, or a line that states why there is none."""
        ...


SCORES: Family[Score] = Family(__name__, __file__)
