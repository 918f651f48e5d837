"""Which predictions to accept, so that few of them exceed a largest error: a threshold of theirs.

A point is accepted if its stated error is at most a threshold. Rows that the network has not
learned set the threshold: they have stated errors, and errors. Thresholds are tested from small to
large, each against the hypothesis that more than the allowed share of the points below it exceed
the largest error, until the first that is not rejected (fixed-sequence testing; Angelopoulos,
Bates, Candes, Jordan and Lei, "Learn then Test", arXiv:2110.01052, after "Risk-controlling
prediction sets", Bates et al., arXiv:2101.02703).

Why this holds, for rows and points of one distribution:

- Given the stated errors of the rows, whether each row exceeds is an independent event. Of a
  threshold, the number of rows below it that exceed is a sum of such events, whose lower tail is at
  most that of the binomial distribution of their mean probability (Hoeffding 1956, Ann. Math. Stat.
  27, 713). The binomial p-value is therefore valid whatever the stated errors are worth.
- Thresholds, their order and the first of them depend on stated errors alone, never on errors.
  Hence all tests together accept a threshold whose share is too large with a probability of at most
  1 - confidence: this needs the first such threshold of the sequence to be rejected.

The share is the mean over points with the stated errors of the rows. That of new points differs by
the chance of which stated errors the rows have, which vanishes if the share does not fall where
stated errors rise; a simulation tests both. No threshold holds for points of another distribution.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from nlobayes.errors import InputError
from nlobayes.surrogate.domain import INSIDE

SHARE, CONFIDENCE = 0.05, 0.95
FIRST = 1 / 3
"""Share of the rows with a small enough stated error that the first threshold accepts. A smaller
one allows hardly a row to exceed, so that the sequence often ends at once."""


class Threshold(NamedTuple):
    """A threshold of the stated error, and the rows below it.

    Attributes
    ----------
    value
        The largest stated error that is accepted; None if there is no such threshold.
    rows, exceeding
        Held-out rows up to the threshold, and how many of them exceed the largest error. Without a
        threshold they are those of the first one tested, or all whose stated error is small enough.
    needed
        Fewest rows with a small enough stated error that allow a threshold.
    """

    value: float | None
    rows: int
    exceeding: int
    needed: int

    def accepts(self, stated: np.ndarray, domain: np.ndarray) -> np.ndarray:
        """Return which points (point,) of these stated errors and domains are accepted.

        Points near the edge of the domain are not: few rows test the errors there.
        """
        limit = -np.inf if self.value is None else self.value
        accepted: np.ndarray = (stated <= limit) & (domain == INSIDE)
        return accepted

    def in_words(
        self, max_error: float, share: float = SHARE, confidence: float = CONFIDENCE
    ) -> str:
        """Say what is accepted, and what is guaranteed of it."""
        limit, percent = 0.0 if self.value is None else self.value, "{:.3g} %"
        stated, most, sure, wrong = (
            percent.format(100 * each) for each in (limit, share, confidence, max_error)
        )
        return (
            f"accepted points are inside and state an error of at most {stated}: with {sure} "
            f"confidence at most {most} of them are wrong by more than {wrong}, if they are "
            "distributed as the held-out rows of the table"
        )


def stated_error(quantiles: np.ndarray) -> np.ndarray:
    """Return the relative error (point,) that a prediction states: its larger side.

    `quantiles` (quantile, point) are median and ends of the 68 % interval of the target itself, on
    whatever scale it was learned. It is infinite for a median of 0, and NaN without a prediction.
    """
    median, low, high = quantiles
    with np.errstate(all="ignore"):
        error: np.ndarray = np.maximum(high - median, median - low) / np.abs(median)
    return error


def relative_error(median: np.ndarray, observed: np.ndarray) -> np.ndarray:
    """Return |median / observed - 1| (point,); of an observed 0 it is infinite, or 0 if predicted.

    Without a prediction it is infinite.
    """
    with np.errstate(all="ignore"):
        error = np.where(median == observed, 0.0, np.abs(median / observed - 1))
    return np.where(np.isnan(error), np.inf, error)


def threshold(
    stated: np.ndarray,
    error: np.ndarray,
    max_error: float,
    share: float = SHARE,
    confidence: float = CONFIDENCE,
) -> Threshold:
    """Find the largest threshold up to which few points exceed an error, at a confidence.

    Parameters
    ----------
    stated, error
        Stated and actual relative errors (row,) of rows that the predictions have not learned.
    max_error
        Largest relative error, and largest threshold.
    share
        Largest share of the accepted points that may exceed it.
    confidence
        Probability, over sets of rows, that the share is kept.

    Raises
    ------
    InputError
        If one of the three numbers is not between 0 and 1.
    """
    check_limits(max_error, share, confidence)
    needed = math.ceil(math.log1p(-confidence) / math.log1p(-share))
    order = np.argsort(stated, kind="stable")
    order = order[: np.count_nonzero(stated <= max_error)]
    exceeding, rows = np.cumsum(error[order] > max_error), np.arange(1, len(order) + 1)
    if len(order) < needed:
        return Threshold(None, len(order), int(exceeding[-1]) if len(order) else 0, needed)
    values = stated[order]
    last_of_value = np.flatnonzero(np.append(np.diff(values) > 0, True))
    first = max(needed, math.ceil(FIRST * len(order)))
    tested = last_of_value[last_of_value >= first - 1]
    passed = tail(exceeding[tested], rows[tested], share) <= 1 - confidence
    count = len(tested) if passed.all() else int(np.argmin(passed))
    at = tested[max(count - 1, 0)]
    value = float(values[at]) if count else None
    return Threshold(value, int(rows[at]), int(exceeding[at]), needed)


def threshold_of_rows(
    held_out: Mapping[str, np.ndarray], max_error: float, share: float, confidence: float
) -> Threshold:
    """Find the `threshold` of a surrogate from the errors of its held-out rows.

    Raises InputError if there is none, or no such rows; and as `threshold`.
    """
    check_limits(max_error, share, confidence)
    if not held_out:
        raise InputError("surrogate.no_held_out")
    stated = held_out["stated"]
    found = threshold(stated, held_out["error"], max_error, share, confidence)
    if found.rows < found.needed:
        raise InputError(
            "surrogate.too_few_held_out",
            rows=found.rows,
            all=len(stated),
            needed=found.needed,
            max_error=max_error,
            share=share,
            confidence=confidence,
        )
    if found.value is None:
        raise InputError(
            "surrogate.no_threshold",
            rows=found.rows,
            exceeding=found.exceeding,
            max_error=max_error,
            share=share,
            confidence=confidence,
        )
    return found


def tail(events: np.ndarray, trials: np.ndarray, probability: float) -> np.ndarray:
    """Return the probability of at most so many events (case,) in so many trials (case,)."""
    most = int(trials.max(initial=1))
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, most + 1)))])
    count = np.arange(int(events.max(initial=0)) + 1)[:, np.newaxis]
    left = np.maximum(trials - count, 0)
    logs = log_factorial[trials] - log_factorial[np.minimum(count, most)] - log_factorial[left]
    logs += count * math.log(probability) + left * math.log1p(-probability)
    return np.where(count <= np.minimum(events, trials), np.exp(logs), 0.0).sum(axis=0)


def check_limits(max_error: float, share: float, confidence: float) -> None:
    """Refuse a largest error, a share or a confidence that is not between 0 and 1."""
    limits = {"max_error": max_error, "share": share, "confidence": confidence}
    for name, value in limits.items():
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (number and 0 < value < 1):
            raise InputError("surrogate.no_share", where=name, received=value)
