"""The rule to stop against binomial sums, in simulations, and what it says is missing."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import binomtest, lognorm

from nlobayes.choosing.stopping import Verdict, judge, least_validation
from nlobayes.errors import InputError
from nlobayes.study.accuracy import Accuracy

WANTED = Accuracy(median=0.5, p95=2.0)


def test_59_points_without_an_exceedance_are_the_fewest() -> None:
    assert least_validation(0.95) == 59
    assert 0.95**59 < 0.05 < 0.95**58
    assert least_validation(0.95, looks=5) == 90
    assert judge(np.full(59, 0.1), WANTED)["met"]
    assert not judge(np.full(58, 0.1), WANTED)["met"]
    assert not judge(np.r_[np.full(58, 0.1), np.nan], WANTED)["met"]
    assert not judge(np.full(59, 0.1), WANTED, looks=5)["met"]


@pytest.mark.parametrize("beyond", [0, 1, 7, 60, 100])
def test_bounds_of_the_shares_are_those_of_scipy(beyond: int) -> None:
    errors = np.r_[np.full(100 - beyond, 0.1), np.full(beyond, 3.0)]
    found = judge(errors, WANTED, looks=2)
    interval = binomtest(100 - beyond, 100).proportion_ci(0.95, "exact")  # two sides of 0.025
    for name in ("median", "p95"):
        stated = found[name]
        assert stated["within"] == 100 - beyond
        assert stated["share_bound"] == pytest.approx(interval.low, abs=1e-12)


def test_a_bound_of_the_error_says_what_the_bound_of_the_share_says() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        errors = lognorm.rvs(rng.uniform(0.5, 1.5), size=rng.integers(20, 300), random_state=rng)
        found = judge(errors, Accuracy(median=1, p95=4))
        for name in ("median", "p95"):
            stated = found[name]
            holds = stated["share_bound"] >= stated["share"]
            assert holds == ((stated["error_bound"] or np.inf) <= stated["limit"])


def stops_wrongly(share: float, wanted: Accuracy, seed: int, looks: int = 5) -> bool:
    """Look again and again at a growing number of points of which this share is within p95."""
    rng = np.random.default_rng(seed)
    errors = np.where(rng.uniform(size=60 * looks) < share, 0.1, 3.0)
    return any(judge(errors[: 60 * look], wanted, looks)["met"] for look in range(1, looks + 1))


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_the_rule_stops_wrongly_at_most_as_often_as_stated(confidence: float) -> None:
    """The true share is just too small. Within three standard errors of the stated rate."""
    wanted, many = Accuracy(median=0.5, p95=2, confidence=confidence), 300
    wrong = np.mean([stops_wrongly(0.9499, wanted, seed) for seed in range(many)])
    allowed = 1 - confidence
    assert wrong <= allowed + 3 * (allowed * (1 - allowed) / many) ** 0.5
    assert wrong > 0.1 * allowed  # a rule that never stops would pass the line above


def test_a_rule_that_ignores_its_looks_would_fail_the_simulation() -> None:
    naive = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        errors = np.where(rng.uniform(size=320) < 0.9499, 0.1, 3.0)
        naive.append(
            any(
                judge(errors[: 40 * look], Accuracy(median=0.5, p95=2, confidence=0.8))["met"]
                for look in range(1, 9)
            )
        )
    assert np.mean(naive) > 0.2 + 2 * (0.2 * 0.8 / 100) ** 0.5  # two standard errors


def test_the_rule_stops_where_the_accuracy_is_reached() -> None:
    assert np.mean([stops_wrongly(0.99, WANTED, seed) for seed in range(100)]) > 0.9


def test_the_median_alone_can_forbid_to_stop() -> None:
    found = judge(np.r_[np.full(60, 0.1), np.full(60, 1.0)], WANTED)
    assert found["p95"]["share_bound"] > 0.95
    assert not found["met"]


def looked(points: int, scale: float, validation: int = 400) -> Verdict:
    """Errors of a known distribution, of which the scale falls with the points."""
    errors = scale * np.linspace(0.001, 2.4, validation)
    return judge(errors, WANTED, looks=9, points=points)


def test_further_points_follow_from_the_trend_of_the_errors() -> None:
    """Errors that fall as 1 / points reach a bound that is so many times too large then."""
    earlier = [looked(points, 400 / points) for points in (100, 200)]
    errors = np.linspace(0.001, 2.4, 400)
    now = judge(errors, WANTED, looks=9, points=400, earlier=earlier)
    assert now["further_validation"] is None
    ratio = max(
        (now[name]["error_bound"] or 0) / getattr(WANTED, name) for name in ("median", "p95")
    )
    assert now["further_points"] == pytest.approx(400 * (ratio - 1), abs=2)
    for few in (earlier[:0], [judge(errors, WANTED, looks=9)]):
        assert judge(errors, WANTED, 9, 400, few)["further_points"] is None
    rising = [looked(100, 0.5)]
    assert judge(errors, WANTED, 9, 400, rising)["further_points"] is None


def test_further_validation_points_meet_the_accuracy_if_the_shares_stay() -> None:
    errors = np.r_[np.full(49, 0.1), 3.0]
    found = judge(errors, WANTED)
    more = found["further_validation"]
    assert more is not None
    beyond = int(np.ceil((50 + more) / 50))
    again = np.r_[np.full(50 + more - beyond, 0.1), np.full(beyond, 3.0)]
    assert judge(again, WANTED)["met"]
    assert not judge(again[4:], WANTED)["met"]  # to 2 % of about 200
    assert judge(np.full(99, 0.1), WANTED)["further_validation"] == 0


def test_a_verdict_is_json() -> None:
    found = judge(np.array([0.1, np.nan, np.inf]), WANTED, looks=2, points=3)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["p95"]["error"] is None


def test_bad_input_is_one_line() -> None:
    with pytest.raises(InputError, match="no random validation points"):
        judge(np.array([]), WANTED)
    with pytest.raises(InputError, match="look 1 \\+ 1 of 1"):
        judge(np.ones(3), WANTED, looks=1, earlier=[looked(100, 1.0)])


def test_an_accuracy_of_half_beyond_that_of_95_percent_is_refused() -> None:
    with pytest.raises(ValueError, match="exchange them"):
        Accuracy(median=0.1, p95=0.05)
