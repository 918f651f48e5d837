"""The threshold of the stated error: exact tests, the guarantee by simulation, bad input."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from scipy.stats import binom, norm

from nlobayes.surrogate.acceptance import (
    FIRST,
    Threshold,
    relative_error,
    stated_error,
    tail,
    threshold,
)
from tests.refusals import refused

MAX_ERROR, SHARE, CONFIDENCE = 0.01, 0.05, 0.95
DATA_SETS = 200
MOST_ABOVE = int(binom.ppf(0.999, DATA_SETS, 1 - CONFIDENCE))
"""Of the data sets, those whose share may be too large if its probability is 5 %, by chance of one
in a thousand."""


class Truth(NamedTuple):
    """A law of stated errors, and the probability that a point exceeds the largest error."""

    draw: Callable[[np.random.Generator, int], np.ndarray]
    exceeds: Callable[[np.ndarray], np.ndarray]


def spread(rng: np.random.Generator, rows: int) -> np.ndarray:
    return MAX_ERROR / 2 * np.exp(rng.normal(0, 0.7, rows))


def normal_beyond(factor: float) -> Callable[[np.ndarray], np.ndarray]:
    """Errors are normal, with an sd of the stated error times a factor."""
    return lambda stated: 2 * norm.sf(MAX_ERROR / (factor * stated))


TRUTHS = {
    "honest": Truth(spread, normal_beyond(1.0)),
    "twice too small": Truth(spread, normal_beyond(2.0)),
    "twice too large": Truth(spread, normal_beyond(0.5)),
    "with outliers": Truth(spread, lambda s: np.maximum(normal_beyond(1.0)(s), 0.03)),
    "useless, at the share": Truth(spread, lambda s: np.full_like(s, 1.02 * SHARE)),
    "useless": Truth(spread, lambda s: np.full_like(s, 0.2)),
    "reversed": Truth(spread, lambda s: np.where(s < MAX_ERROR / 3, 0.15, 0.01)),
    "a step": Truth(spread, lambda s: np.where(s < MAX_ERROR / 3, 0.01, 0.3)),
    "in turn": Truth(spread, lambda s: np.where(np.sin(2000 * s) > 0, 0.12, 0.0)),
    "few values": Truth(
        lambda rng, rows: rng.choice([0.002, 0.004, 0.008], rows),
        lambda s: np.where(s > 0.003, 0.055, 0.02),
    ),
}


@pytest.mark.parametrize("rows", [80, 400, 1200])
@pytest.mark.parametrize("name", TRUTHS)
def test_accepted_points_keep_the_share_in_95_percent_of_data_sets(name: str, rows: int) -> None:
    """The share of new points is known: the mean of their probabilities over 200 000 of them."""
    truth, rng = TRUTHS[name], np.random.default_rng([rows, *name.encode()])
    points = np.sort(truth.draw(rng, 200_000))
    share_up_to = np.cumsum(truth.exceeds(points)) / np.arange(1, len(points) + 1)
    above = 0
    for _ in range(DATA_SETS):
        stated = truth.draw(rng, rows)
        error = np.where(rng.random(rows) < truth.exceeds(stated), 1.0, 0.0)
        found = threshold(stated, error, MAX_ERROR, SHARE, CONFIDENCE).value
        if found is not None:
            above += share_up_to[np.searchsorted(points, found, "right") - 1] > SHARE
    assert above <= MOST_ABOVE


@pytest.mark.parametrize(("rows", "least"), [(200, 0.35), (2000, 0.65)])
def test_honest_errors_are_accepted(rows: int, least: float) -> None:
    """With all probabilities known 79 % of the points could be accepted; the mean of 200."""
    truth, rng = TRUTHS["honest"], np.random.default_rng(rows)
    accepted = []
    for _ in range(200):
        stated = truth.draw(rng, rows)
        error = np.where(rng.random(rows) < truth.exceeds(stated), 1.0, 0.0)
        found = threshold(stated, error, MAX_ERROR).value
        accepted.append(0.0 if found is None else np.mean(stated <= found))
    assert least < np.mean(accepted) < 0.79


def test_a_test_at_the_wrong_level_would_break_the_guarantee() -> None:
    """The simulation can fail: with a confidence of 70 % too many shares are too large."""
    truth, rng = TRUTHS["useless, at the share"], np.random.default_rng(0)
    draws = (truth.draw(rng, 400) for _ in range(DATA_SETS))
    errors = ((s, np.where(rng.random(400) < truth.exceeds(s), 1.0, 0.0)) for s in draws)
    above = sum(threshold(*pair, MAX_ERROR, SHARE, 0.7).value is not None for pair in errors)
    assert above > MOST_ABOVE


@pytest.mark.parametrize("seed", range(20))
def test_threshold_is_that_of_a_plain_loop(seed: int) -> None:
    rng = np.random.default_rng(seed)
    stated = np.round(spread(rng, 300), 4)  # some are equal
    error = np.abs(rng.normal(0, stated))
    usable = np.sort(stated[stated <= MAX_ERROR])
    start = max(59, math.ceil(FIRST * len(usable)))
    best = None
    for value in np.unique(usable):
        below = stated <= value
        if below.sum() < start:
            continue
        if binom.cdf((error[below] > MAX_ERROR).sum(), below.sum(), SHARE) > 1 - CONFIDENCE:
            break
        best = value
    found = threshold(stated, error, MAX_ERROR)
    assert found.value == best
    if best is not None:
        below = stated <= best
        assert found[1:] == (below.sum(), (error[below] > MAX_ERROR).sum(), 59)


def test_tail_is_that_of_the_binomial() -> None:
    trials = np.repeat([1, 59, 400, 2000], 5)
    events = (trials * np.tile([0.0, 0.01, 0.05, 0.2, 1.0], 4)).astype(int)
    expected = binom.cdf(events, trials, 0.05)
    np.testing.assert_allclose(tail(events, trials, 0.05), expected, rtol=1e-9)


def test_too_few_rows_state_how_many_are_needed() -> None:
    """The smallest number of rows whose tail without an event is below 5 %: 0.95^59 = 0.0485."""
    nothing = np.zeros(58)
    assert threshold(nothing, nothing, MAX_ERROR) == Threshold(None, 58, 0, 59)
    assert threshold(nothing[:0], nothing[:0], MAX_ERROR) == Threshold(None, 0, 0, 59)
    assert threshold(np.zeros(59), np.zeros(59), MAX_ERROR).value == 0.0
    assert threshold(nothing, nothing, MAX_ERROR, 0.1, 0.9).needed == 22
    assert threshold(np.full(99, 0.02), np.zeros(99), MAX_ERROR) == Threshold(None, 0, 0, 59)


def test_larger_stated_errors_and_those_of_no_prediction_are_never_accepted() -> None:
    stated = np.concatenate([np.linspace(0, 0.03, 300), [np.inf, np.nan]])
    assert threshold(stated, np.zeros(302), MAX_ERROR).value == stated[stated <= MAX_ERROR].max()


def test_stated_error_is_the_larger_side_on_any_scale() -> None:
    median, low, high = np.array([[2.0, -2.0, 0.0, np.nan], [1.0, -2.5, -1.0, 1], [2.5, -1, 1, 1]])
    np.testing.assert_array_equal(
        stated_error(np.array([median, low, high])), [0.5, 0.5, np.inf, np.nan]
    )


def test_relative_error_is_that_over_the_truth() -> None:
    median = np.array([1.1, -0.9, 0.0, 1.0, np.nan])
    observed = np.array([1.0, -1.0, 0.0, 0.0, 1.0])
    np.testing.assert_allclose(relative_error(median, observed), [0.1, 0.1, 0, np.inf, np.inf])


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("value", [0, -0.1, 1, 1.5, math.nan, "1%", True])
def test_limits_are_between_0_and_1(place: int, value: float) -> None:
    limits: list[float] = [0.01, 0.05, 0.95]
    limits[place] = value
    where = ("max_error", "share", "confidence")[place]
    with refused("surrogate.no_share", where=where, received=value):
        threshold(np.zeros(99), np.zeros(99), *limits)
