"""Accuracy against hand calculation, loops and scipy's bootstrap."""

import numpy as np
import pytest
from scipy import stats

from nlobayes.evaluation.scores.regression.accuracy import (
    accuracy,
    mean_target,
    r_squared,
    r_squared_interval,
    variance_share,
)
from tests.refusals import refused

OBSERVED = np.array([0.0, 1.0, 2.0])
DRAWS = np.array([[0.0, 1.0, 1.0], [0.0, 1.0, 2.0], [0.3, 1.0, 2.0]])
"""Targets 1, 10, 100 in log10; mean and median of the draws differ."""


def scored(draws: np.ndarray, observed: np.ndarray, scale: str = "log10") -> dict[str, float | str]:
    return accuracy(draws, observed, np.random.default_rng(1), scale=scale)


def interval(predicted: np.ndarray, observed: np.ndarray, *, seed: int) -> tuple[float, float]:
    found = r_squared_interval(predicted, observed, np.random.default_rng(seed))
    assert not isinstance(found, str)
    return found


def test_accuracy_by_hand() -> None:
    result = scored(DRAWS, OBSERVED)
    mean = np.array([0.1, 1.0, 5 / 3])
    assert result["rmse_log10"] == pytest.approx(np.sqrt((0.01 + 1 / 9) / 3))
    assert result["squared_error_log10"] == pytest.approx((0.01 + 1 / 9) / 3)
    assert result["bias_log10"] == pytest.approx((0.1 - 1 / 3) / 3)
    assert result["r2_log10"] == pytest.approx(1 - ((mean - OBSERVED) ** 2).sum() / 2)
    assert result["r2_target_median"] == pytest.approx(1.0)
    means = np.array([(2 + 10**0.3) / 3, 10.0, 70.0])
    target = np.array([1.0, 10.0, 100.0])
    expected = 1 - ((target - means) ** 2).sum() / ((target - 37) ** 2).sum()
    assert result["r2_target_mean"] == pytest.approx(expected)
    for name in ("relative_error_p99", "percent_error", "squared_error", "rmse_target"):
        assert result[name] == pytest.approx(0.0, abs=1e-12)


def test_errors_in_target_space_are_those_of_the_median_draw() -> None:
    """Predicted 2, 10, 50 of 1, 10, 100: off by 100, 0 and 50 %."""
    draws = np.log10([[2.0, 10.0, 50.0], [2.0, 10.0, 50.0], [2.0, 10.0, 1e4]])
    result = scored(draws, OBSERVED)
    assert result["percent_error"] == pytest.approx(50.0)
    assert result["squared_error"] == pytest.approx((1 + 2500) / 3)
    assert result["rmse_target"] == pytest.approx(np.sqrt(2501 / 3))
    assert result["relative_error_p50"] == pytest.approx(0.5)


def test_identity_is_scored_as_it_is() -> None:
    result = scored(DRAWS, OBSERVED, "identity")
    assert not [name for name in result if name.endswith("_log10")]
    mean = np.array([0.1, 1.0, 5 / 3])
    assert result["r2_target_mean"] == pytest.approx(1 - ((mean - OBSERVED) ** 2).sum() / 2)
    assert result["r2_target_median"] == 1.0
    shifted = scored(DRAWS + 0.5, OBSERVED + 1, "identity")
    assert shifted["rmse_target"] == pytest.approx(0.5)
    assert shifted["percent_error"] == pytest.approx(50 * (1 + 1 / 2 + 1 / 3) / 3)


def test_relative_errors_are_percentiles_in_target_space() -> None:
    """Errors of 0, 1, ..., 100 %, predicted too high."""
    observed = np.linspace(0, 3, 101)
    draws = (observed + np.log10(1 + np.arange(101) / 100))[np.newaxis]
    result = scored(draws, observed)
    for p in (50, 68, 90, 95, 99):
        assert result[f"relative_error_p{p}"] == pytest.approx(p / 100, rel=1e-12)
    assert result["percent_error"] == pytest.approx(50.0)


@pytest.mark.statistical
def test_mean_target_is_the_lognormal_mean() -> None:
    """200 000 draws in many chunks; relative standard error 0.1 %."""
    draws = 0.2 * np.random.default_rng(4).normal(size=(200_000, 6)) + np.arange(6)
    expected = 10 ** (np.arange(6) + 0.5 * np.log(10) * 0.2**2)
    np.testing.assert_allclose(mean_target(draws, "log10"), expected, rtol=6e-3)
    np.testing.assert_allclose(mean_target(draws, "identity"), draws.mean(axis=0))


@pytest.mark.statistical
@pytest.mark.parametrize(("points", "heavy"), [(12, False), (300, False), (300, True)])
def test_bootstrap_interval_matches_scipy(points: int, heavy: bool) -> None:
    """Ends of 1000 and of 20 000 resamples agree within 15 % of the width."""
    rng = np.random.default_rng(5)
    observed = rng.lognormal(sigma=2, size=points) if heavy else rng.normal(size=points)
    predicted = observed + 0.3 * observed.std() * rng.normal(size=points)
    found = interval(predicted, observed, seed=6)

    def statistic(p: np.ndarray, o: np.ndarray, axis: int) -> np.ndarray:
        total = np.square(o - o.mean(axis=axis, keepdims=True)).sum(axis=axis)
        return 1 - np.square(o - p).sum(axis=axis) / total

    oracle = stats.bootstrap(
        (predicted, observed),
        statistic,
        n_resamples=20_000,
        batch=1000,
        paired=True,
        method="percentile",
        rng=np.random.default_rng(7),
    ).confidence_interval
    np.testing.assert_allclose(found, oracle, atol=0.15 * (oracle.high - oracle.low))


def test_bootstrap_interval_does_not_depend_on_offset_or_unit() -> None:
    rng = np.random.default_rng(8)
    observed, error = rng.normal(size=50), 0.2 * rng.normal(size=50)
    plain = interval(observed + error, observed, seed=9)
    moved = 1e6 + 1e-3 * observed
    far = interval(moved + 1e-3 * error, moved, seed=9)
    np.testing.assert_allclose(far, plain, rtol=1e-5)


def test_resamples_without_spread_are_left_out() -> None:
    """One of twelve points differs: over a third of the resamples miss it."""
    observed = np.eye(12)[0]
    low, high = interval(observed * 0.5, observed, seed=10)
    assert np.isfinite([low, high]).all()
    assert low <= float(r_squared(observed * 0.5, observed)) <= high


def test_share_of_the_largest_deviations_by_hand() -> None:
    """Mean 2; squared deviations 4, 1, 0, 1, 16 of 22, in another order."""
    observed = np.array([1.0, 0.0, 6.0, 2.0, 1.0])
    assert variance_share(observed, 1) == pytest.approx(16 / 22)
    assert variance_share(observed, 3) == pytest.approx(21 / 22)
    assert variance_share(observed, 5) == variance_share(observed, 20) == pytest.approx(1.0)


def test_variance_shares_of_both_spaces() -> None:
    result = scored(DRAWS, OBSERVED)
    assert result["variance_share_top1_log10"] == pytest.approx(1 / 2)
    squared = np.square(np.array([1.0, 10.0, 100.0]) - 37)
    assert result["variance_share_top1_target"] == pytest.approx(squared[2] / squared.sum())


@pytest.mark.parametrize(("points", "reason"), [(1, "there is only one"), (4, "all 4 are equal")])
def test_constant_targets_have_errors_but_no_r_squared(points: int, reason: str) -> None:
    result = scored(np.full((3, points), 1.1), np.ones(points))
    undefined = {name: why for name, why in result.items() if isinstance(why, str)}
    assert set(undefined) == {name for name in result if name.startswith(("r2", "variance_share"))}
    assert all(why.endswith(reason) for why in undefined.values())
    assert result["rmse_log10"] == pytest.approx(0.1)
    assert result["percent_error"] == pytest.approx(100 * (10**0.1 - 1))


def test_few_points_have_no_interval() -> None:
    result = scored(DRAWS, OBSERVED)
    assert result["r2_log10_low"] == "a bootstrap interval needs at least 10 points, got 3"
    assert result["r2_target_median_high"] == result["r2_log10_low"]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_refuses_draws_that_are_not_finite(bad: float) -> None:
    draws = DRAWS.copy()
    draws[1, 2] = bad
    with refused("evaluation.prediction_not_finite", array="draws", not_finite=1):
        scored(draws, OBSERVED)
