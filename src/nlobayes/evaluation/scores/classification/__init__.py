"""Scores of predicted classes: `score` of each module gives the scores of a split by key.

A new module is a new group of scores. Its keys have records in `nlobayes.metrics`.
"""

from typing import NamedTuple, Protocol

import numpy as np

from nlobayes.evaluation.classification.scores import ClassPrediction
from nlobayes.families import Family


class Split(NamedTuple):
    """The input of scores: the predictions of all draws together for one split.

    `labels` (point,) are the indices of the true classes.
    """

    prediction: ClassPrediction
    labels: np.ndarray


class Score(Protocol):
    """A module of this folder."""

    def score(self, split: Split) -> dict[str, float | str]:
        """Return scores by key: a number, or a line that states why there is none."""
        ...


SCORES: Family[Score] = Family(__name__, __file__)
