"""Scores of predicted classes: `score` of each module gives the scores of a split by key.

A new module is a new group of scores. Its keys have records in `nlobayes.metrics`.
"""

from typing import Protocol

from nlobayes.evaluation.scores.split import ClassSplit
from nlobayes.families import Family


class Score(Protocol):
    """A module of this folder."""

    def score(self, split: ClassSplit) -> dict[str, float | str]:
        """Return scores by key: a number, or a line that states why there is none."""
        ...


SCORES: Family[Score] = Family(__name__, __file__)
