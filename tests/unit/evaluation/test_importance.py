"""Importance weights between Gaussians, whose answers are known, and what must not matter."""

import math
from typing import Any

import numpy as np
import pytest
from arviz_stats.base import array_stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from nlobayes.evaluation.reweighting import importance
from nlobayes.evaluation.reweighting.importance import (
    Weights,
    importance_weights,
    resample,
    weighted_mean,
    weighted_quantiles,
    weighted_sd,
)
from tests.refusals import refused

DRAWS = 4000
# Multiples of 1/16 and whole shifts: sums of them are exact.
RATIOS = arrays(
    np.float64,
    st.integers(25, 120),
    elements=st.one_of(st.integers(-400, 400).map(lambda n: n / 16), st.just(-np.inf)),
).filter(lambda ratios: bool(np.isfinite(ratios).any()))


def standard_draws(seed: int, draws: int = DRAWS) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(draws)


def log_ratio(draws: np.ndarray, mean: float, sd: float) -> np.ndarray:
    """From the standard normal distribution to another one."""
    return stats.norm.logpdf(draws, mean, sd) - stats.norm.logpdf(draws)


def equal(count: int) -> Weights:
    return importance_weights(np.zeros(count))


@pytest.mark.statistical
@pytest.mark.parametrize(("mean", "sd"), [(0.3, 1.0), (0.0, 0.6), (-0.4, 0.8), (0.5, 1.1)])
def test_moves_between_gaussians(mean: float, sd: float) -> None:
    """Mean, sd and quantiles within four standard errors of as many draws as the weights are."""
    draws = standard_draws(1)
    weights = importance_weights(log_ratio(draws, mean, sd))
    importance.check(weights)
    assert weights.pareto_k < 0.4
    error = 4 * sd / np.sqrt(weights.ess)
    quantities = draws[:, np.newaxis]
    assert weighted_mean(weights, quantities) == pytest.approx(mean, abs=error)
    assert weighted_sd(weights, quantities) == pytest.approx(sd, abs=error / np.sqrt(2))
    probabilities = (0.16, 0.5, 0.84)
    expected = stats.norm.ppf(probabilities, mean, sd)
    found = weighted_quantiles(weights, quantities, probabilities)
    assert found.shape == (3, 1)
    np.testing.assert_allclose(found[:, 0], expected, atol=1.6 * error)


@pytest.mark.statistical
@pytest.mark.parametrize(("mean", "sd"), [(0.5, 1.0), (0.0, 0.6)])
def test_effective_size_of_gaussian_moves(mean: float, sd: float) -> None:
    """One over the mean squared ratio: exp(-m²) for shifts, s √(2 - s²) for smaller widths."""
    weights = importance_weights(log_ratio(standard_draws(2, 20_000), mean, sd))
    expected = math.exp(-(mean**2)) if mean else sd * math.sqrt(2 - sd**2)
    assert weights.ess_weights / 20_000 == pytest.approx(expected, rel=0.05)
    assert weights.ess == weights.ess_weights


@pytest.mark.statistical
@pytest.mark.parametrize("dimensions", [1, 5])
def test_moves_to_wide_targets_are_refused(dimensions: int) -> None:
    """To three times the width: the tail index of the ratios is 1 - 1/9."""
    draws = np.random.default_rng(3).standard_normal((dimensions, DRAWS))
    weights = importance_weights(log_ratio(draws, 0.0, 3.0).sum(axis=0))
    assert weights.pareto_k > 0.7
    assert not weights.reliable
    limit = pytest.approx(0.7)
    with refused("evaluation.far_for_any_draws", k=weights.pareto_k, limit=limit, ess=weights.ess):
        importance.check(weights)


@pytest.mark.parametrize(
    ("draws", "expected"),
    [(100, 0.5), (1000, 2 / 3), (2000, 1 - 1 / math.log10(2000)), (4000, 0.7)],
)
def test_threshold_grows_with_the_draws(draws: int, expected: float) -> None:
    assert importance.threshold(draws) == pytest.approx(expected)


def test_more_draws_are_a_remedy_below_the_largest_k() -> None:
    few = Weights(np.full(100, -math.log(100)), 0.6, 0.5)
    with refused("evaluation.far_for_few_draws", ess=pytest.approx(50), enough=317):
        importance.check(few)
    importance.check(few._replace(pareto_k=0.49))
    importance.check(few._replace(log_weights=np.full(400, -math.log(400))))
    with refused("evaluation.far_for_any_draws", k=math.inf):
        importance.check(few._replace(pareto_k=math.inf))


@given(ratios=RATIOS)
def test_weights_are_normalised_and_rise_with_the_ratios(ratios: np.ndarray) -> None:
    weights = importance_weights(ratios)
    assert weights.values.sum() == pytest.approx(1)
    assert 1 - 1e-9 <= weights.ess_weights <= np.isfinite(ratios).sum() + 1e-9
    np.testing.assert_array_equal(weights.log_weights == -np.inf, ratios == -np.inf)
    smaller = ratios[:, np.newaxis] < ratios
    rises = weights.values[:, np.newaxis] <= weights.values + 1e-12
    assert rises[smaller].all()


@pytest.mark.parametrize("noise", [0.0, 1e-12])
def test_the_same_density_leaves_equal_weights(noise: float) -> None:
    """Also where the two differ by rounding alone."""
    weights = importance_weights(7.0 + noise * standard_draws(4))
    np.testing.assert_allclose(weights.values, 1 / DRAWS, rtol=1e-9)
    assert weights.pareto_k == -np.inf
    assert weights.reliable


@pytest.mark.parametrize("edge", [-1.0, 0.0, 1.5])
def test_a_truncated_target_keeps_the_draws_inside(edge: float) -> None:
    draws = standard_draws(5)
    weights = importance_weights(np.where(draws > edge, 0.0, -np.inf))
    assert weights.reliable
    assert weights.ess_weights == pytest.approx(np.sum(draws > edge))
    expected = stats.truncnorm(edge, np.inf)
    error = 4 * expected.std() / np.sqrt(weights.ess)
    quantities = draws[:, np.newaxis]
    assert weighted_mean(weights, quantities) == pytest.approx(expected.mean(), abs=error)
    assert weighted_quantiles(weights, quantities, [1e-6]) > edge


@pytest.mark.parametrize("count", [1, 4, 100])
def test_draws_with_weight_that_fill_no_tail_are_refused(count: int) -> None:
    """The tail of 4000 draws are 190."""
    ratios = np.full(DRAWS, -np.inf)
    ratios[:count] = 0.0
    weights = importance_weights(ratios)
    assert weights.pareto_k == np.inf
    assert weights.ess == pytest.approx(count)
    with refused("evaluation.far_for_any_draws", k=np.inf, ess=pytest.approx(count)):
        importance.check(weights)
    ratios[:count] = 0.1 * standard_draws(15, count)
    assert importance_weights(ratios).pareto_k == np.inf


@pytest.mark.statistical
def test_a_tail_that_spans_more_than_floats_hold_has_the_k_of_a_power_of_it() -> None:
    """Of the same uniform draws u^-k: k of 500 is five times that of 100, as both are Pareto.

    A thousand draws with k of 500 span 3454 in the logarithm, where a float holds 708.
    """
    logs = -np.log(np.random.default_rng(8).uniform(size=1000))
    small, large = (importance_weights(k * logs) for k in (100, 500))
    assert large.pareto_k == pytest.approx(5 * small.pareto_k, rel=0.02)
    assert large.ess_weights == pytest.approx(1, abs=1e-3)
    assert large.values.max() == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("count", [5, 150])
def test_a_tail_of_one_value_is_refused(count: int) -> None:
    """Smoothing it would give weights that are not numbers."""
    ratios = np.full(DRAWS, -3.0)
    ratios[:count] = 0.0
    weights = importance_weights(ratios)
    expected = np.exp(ratios) / np.exp(ratios).sum()
    np.testing.assert_allclose(weights.values, expected, rtol=1e-12)
    assert not weights.reliable


def test_chains_lend_their_efficiency() -> None:
    """An AR(1) chain of coefficient 0.9 has (1 - 0.9) / (1 + 0.9) effective draws per draw."""
    steps = np.random.default_rng(6).standard_normal((4, 5000))
    chains = np.empty_like(steps)
    chains[:, 0] = steps[:, 0]
    for step in range(1, 5000):
        chains[:, step] = 0.9 * chains[:, step - 1] + np.sqrt(1 - 0.81) * steps[:, step]
    ratios = log_ratio(chains, 0.3, 1.0)
    weights = importance_weights(ratios)
    assert weights.relative_efficiency == pytest.approx(0.1 / 1.9, rel=0.2)
    assert weights.ess == pytest.approx(weights.relative_efficiency * weights.ess_weights)
    stated = importance_weights(ratios.reshape(-1), relative_efficiency=weights.relative_efficiency)
    np.testing.assert_array_equal(weights.log_weights, stated.log_weights)
    assert importance_weights(ratios.reshape(-1)).relative_efficiency == 1


def test_smoothing_is_that_of_arviz() -> None:
    """Less efficient draws have a longer tail."""
    ratios = log_ratio(standard_draws(13), 0.0, 1.3)
    for efficiency in (1.0, 0.1):
        weights = importance_weights(ratios, relative_efficiency=efficiency)
        log_weights, pareto_k = array_stats.psislw(-ratios, r_eff=efficiency)
        np.testing.assert_allclose(weights.log_weights, log_weights, atol=1e-12)
        assert weights.pareto_k == pytest.approx(float(pareto_k), abs=1e-12)
    assert weights.pareto_k != importance_weights(ratios).pareto_k


def test_anticorrelated_chains_are_worth_no_more_than_their_draws() -> None:
    steps = np.random.default_rng(14).standard_normal((4, 1001))
    weights = importance_weights(steps[:, 1:] - 0.9 * steps[:, :-1])
    assert weights.relative_efficiency == 1


def test_efficiency_of_chains_with_draws_outside_the_target() -> None:
    draws = standard_draws(7).reshape(4, -1)
    cut = importance_weights(np.where(draws > -1, 0.2 * draws, -np.inf))
    assert 0.8 < cut.relative_efficiency <= 1
    assert importance_weights(np.zeros((4, 100))).relative_efficiency == 1
    stuck = importance_weights(np.repeat(np.arange(4.0)[:, np.newaxis], 100, axis=1))
    assert stuck.relative_efficiency < 0.05


def test_weighted_moments_by_hand() -> None:
    log_weights = np.full(30, -np.inf)
    log_weights[[3, 7, 20]] = np.log([0.5, 0.3, 0.2])
    weights = Weights(log_weights, 0.0, 1.0)
    quantities = np.full((30, 2), 0.1)
    quantities[[3, 7, 20], 0] = [1.0, 2.0, 4.0]
    mean = 0.5 + 0.6 + 0.8
    sd = math.sqrt(0.5 + 1.2 + 3.2 - mean**2)
    np.testing.assert_allclose(weighted_mean(weights, quantities), [mean, 0.1], rtol=1e-14)
    np.testing.assert_allclose(weighted_sd(weights, quantities), [sd, 0], rtol=1e-12)
    found = weighted_quantiles(weights, quantities, (0.01, 0.49, 0.51, 0.79, 0.81))
    np.testing.assert_array_equal(found[:, 0], [1, 1, 2, 2, 4])
    np.testing.assert_array_equal(found[:, 1], 0.1)


def test_a_constant_has_its_own_mean_and_no_spread() -> None:
    weights = importance_weights(standard_draws(12, 100))
    constants = np.tile(np.linspace(0.1, 0.9, 20), (100, 1))
    np.testing.assert_array_equal(weighted_mean(weights, constants), constants[0])
    np.testing.assert_array_equal(weighted_sd(weights, constants), 0)


@given(ratios=RATIOS, count=st.integers(1, 500), seed=st.integers(0, 1000))
def test_resampling_is_proportional_to_within_one(
    ratios: np.ndarray, count: int, seed: int
) -> None:
    weights = importance_weights(ratios)
    chosen = resample(weights, count, np.random.default_rng(seed))
    assert chosen.shape == (count,)
    assert (np.diff(chosen) >= 0).all()
    times = np.bincount(chosen, minlength=len(ratios))
    assert (np.abs(times - count * weights.values) < 1 + 1e-9).all()
    assert (times[ratios == -np.inf] == 0).all()
    np.testing.assert_array_equal(chosen, resample(weights, count, np.random.default_rng(seed)))


@pytest.mark.statistical
def test_resampled_draws_follow_the_target() -> None:
    draws = standard_draws(9)
    weights = importance_weights(log_ratio(draws, 0.4, 0.8))
    chosen = draws[resample(weights, DRAWS, np.random.default_rng(10))]
    error = 4 * 0.8 / np.sqrt(weights.ess)
    assert chosen.mean() == pytest.approx(0.4, abs=error)
    assert chosen.std() == pytest.approx(0.8, abs=error)


def test_resampling_depends_on_the_seed() -> None:
    weights = importance_weights(standard_draws(11))
    first, second = (resample(weights, 50, np.random.default_rng(seed)) for seed in (1, 2))
    assert (first != second).any()


@pytest.mark.parametrize(
    ("ratios", "fault", "fields"),
    [
        (np.zeros(24), "ratios_shape", {"fewest": 25, "shape": (24,)}),
        (np.zeros((2, 2, 25)), "ratios_shape", {"shape": (2, 2, 25)}),
        (np.array([0.0] * 25 + [np.nan]), "ratios_not_finite", {"bad": 1, "draw": 25}),
        (np.array([0.0, np.inf] * 15), "ratios_not_finite", {"bad": 15, "draw": 1}),
        (np.full(30, -np.inf), "target_without_density", {"draws": 30}),
        (np.arange(40.0).reshape(20, 2), "ratios_without_ess", {"chains": 20, "draws": 2}),
    ],
)
def test_ratios_that_give_no_weights(
    ratios: np.ndarray, fault: str, fields: dict[str, Any]
) -> None:
    with refused(f"evaluation.{fault}", **fields):
        importance_weights(ratios)


@pytest.mark.parametrize(
    ("quantities", "fault", "fields"),
    [
        (np.zeros(30), "weighted_shape", {"draws": 30, "shape": (30,)}),
        (np.zeros((29, 2)), "weighted_shape", {"shape": (29, 2)}),
        (np.full((30, 2), np.inf), "weighted_not_finite", {"not_finite": 60, "size": 60}),
    ],
)
def test_refuses_quantities_of_other_draws(
    quantities: np.ndarray, fault: str, fields: dict[str, Any]
) -> None:
    for statistic in (weighted_mean, weighted_sd):
        with refused(f"evaluation.{fault}", **fields):
            statistic(equal(30), quantities)
    with refused(f"evaluation.{fault}", **fields):
        weighted_quantiles(equal(30), quantities, [0.5])
