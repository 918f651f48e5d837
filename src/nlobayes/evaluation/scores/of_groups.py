"""Scores of groups of rows, such as rows of known and of doubtful quality."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nlobayes.evaluation.run_evaluation import Scores
from nlobayes.types import RowGroups

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
