"""Scores of predicted classes: each file has `score`, from a split to scores by their keys.

A new file is a new group of scores. Its keys have records in `nlobayes.metrics`.
"""

from typing import NamedTuple, Protocol

import numpy as np

from nlobayes.evaluation.classification.scores import ClassPrediction
from nlobayes.families import Family


class Split(NamedTuple):
    """What is scored: the predictions of all draws together for one split.

    `labels` (point,) are the indices of the true classes.
    """

    prediction: ClassPrediction
    labels: np.ndarray


class Score(Protocol):
    """A file of this folder."""

    def score(self, split: Split) -> dict[str, float | str]:
        """Give scores by key: a number, or a line that states why there is none."""
        ...


SCORES: Family[Score] = Family(__name__, __file__)
