"""Scores of predicted numbers: `score` of each module gives the scores of a split by key.

A new module is a new group of scores. Its keys have records in `nlobayes.metrics`.
"""

from typing import NamedTuple, Protocol

import numpy as np

from nlobayes.evaluation.predictive.noise import PredictiveNoise
from nlobayes.families import Family


class Split(NamedTuple):
    """The input of scores: the predictions of the points of one split, or of a part of it."""

    draws: np.ndarray
    """Function draws on the model scale, axes (sample, point)."""
    observed: np.ndarray
    """Observed targets on the model scale, axis (point)."""
    noise: PredictiveNoise
    """Predictive noise."""
    rng: np.random.Generator
    """Source of sampled numbers, which all modules share in alphabetical order. A new one draws
    from `rng.spawn(1)[0]`, so that the scores of the others do not change."""
    scale: str
    """`log10` or `identity`."""
    quick: bool = False
    """Whether intervals over resampled points are left out, and sampled numbers are fewer."""
    features: np.ndarray | None = None
    """Inputs of the network, axes (point, feature), of all test rows; None for other rows."""


class Score(Protocol):
    """A module of this folder."""

    def score(self, split: Split) -> dict[str, float | str]:
        """Return scores by key: a number, or a line that states why there is none."""
        ...


SCORES: Family[Score] = Family(__name__, __file__)
