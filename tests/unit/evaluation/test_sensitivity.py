"""Power-scaling of conjugate Gaussians, whose posterior is known for every power."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from arviz_stats.base import array_stats
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from nlobayes.evaluation.reweighting import importance
from nlobayes.evaluation.reweighting.importance import (
    importance_weights,
    weighted_mean,
    weighted_sd,
)
from nlobayes.evaluation.reweighting.sensitivity import (
    cumulative_distance,
    power_scaled,
    sensitivity,
)
from tests.refusals import refused

PRIOR_SD, NOISE_SD, ROWS, ROW_MEAN = 0.5, 1.0, 8, 1.5
DRAWS = 20_000


class Moments(NamedTuple):
    mean: float
    sd: float


def posterior(prior: float = 1.0, likelihood: float = 1.0) -> Moments:
    """Of the mean of normal rows, with prior and likelihood raised to powers."""
    from_prior, from_rows = prior / PRIOR_SD**2, likelihood * ROWS / NOISE_SD**2
    precision = from_prior + from_rows
    return Moments(from_rows * ROW_MEAN / precision, precision**-0.5)


class Case(NamedTuple):
    """Draws of the mean, as a quantity (draw, 1), and the logs of the two components."""

    quantities: np.ndarray
    logs: dict[str, np.ndarray]


@pytest.fixture(scope="module")
def case() -> Case:
    """Quantiles of the posterior instead of draws: no Monte-Carlo error but that of the tails."""
    draws = stats.norm.ppf((np.arange(DRAWS) + 0.5) / DRAWS, *posterior())
    draws = np.random.default_rng(1).permutation(draws)
    likelihood = -ROWS / 2 * np.square((draws - ROW_MEAN) / NOISE_SD)
    logs = {"prior": stats.norm.logpdf(draws, 0, PRIOR_SD), "likelihood": likelihood}
    return Case(draws[:, np.newaxis], logs)


def exact_distance(first: Moments, second: Moments) -> float:
    """The definition, integrated over both distribution functions."""

    def divergence(sign: int) -> float:
        def parts(x: float) -> tuple[float, float]:
            p, q = (stats.norm.cdf(sign * (x - m.mean) / m.sd) for m in (first, second))
            middle = (p + q) / 2
            return p * np.log2(p / middle) + q * np.log2(q / middle), p + q

        draws = stats.norm.ppf((0.5 / DRAWS, 1 - 0.5 / DRAWS), *first)  # as far as draws reach
        over, under = (
            integrate.quad(lambda x, i=i: parts(x)[i], *draws, epsrel=1e-9)[0] for i in (0, 1)
        )
        return over / under

    return math.sqrt(max(divergence(1), divergence(-1)))


@pytest.mark.parametrize("component", ["prior", "likelihood"])
@pytest.mark.parametrize("power", [0.8, 1 / 0.8])
def test_a_power_moves_the_posterior(case: Case, component: str, power: float) -> None:
    expected = posterior(**{component: power})
    weights = power_scaled(case.logs[component], power)
    importance.check(weights)
    assert weighted_mean(weights, case.quantities) == pytest.approx(expected.mean, abs=2e-4)
    assert weighted_sd(weights, case.quantities) == pytest.approx(expected.sd, rel=1e-3)
    found = cumulative_distance(weights, case.quantities)
    assert found == pytest.approx(exact_distance(posterior(), expected), rel=0.01)


@pytest.mark.parametrize("component", ["prior", "likelihood"])
def test_sensitivity_is_the_derivative(case: Case, component: str) -> None:
    """Of mean and standard deviation with respect to log2 of the power, by closed form."""
    step = 1e-5
    above, below = (posterior(**{component: 2**side}) for side in (step, -step))
    found = sensitivity(case.logs[component], case.quantities)
    assert found.mean == pytest.approx((above.mean - below.mean) / (2 * step), rel=5e-3)
    assert found.sd == pytest.approx((above.sd - below.sd) / (2 * step), rel=5e-3)
    near = (posterior(**{component: power}) for power in (1 / 1.01, 1.01))
    distances = [exact_distance(posterior(), each) for each in near]
    assert found.distance == pytest.approx(sum(distances) / (2 * math.log2(1.01)), rel=0.01)
    assert found.pareto_k == tuple(
        power_scaled(case.logs[component], power).pareto_k for power in (1 / 1.01, 1.01)
    )
    assert max(found.pareto_k) < 0.5


def test_a_prior_against_the_data_is_reported(case: Case) -> None:
    """Prior and data disagree by three prior widths: both powers move the posterior."""
    for log_component in case.logs.values():
        assert sensitivity(log_component, case.quantities).distance > 0.05


def test_a_large_power_of_many_weights_is_shown_by_its_k() -> None:
    """The prior of 2000 weights: a per cent can be weighted, a quarter cannot."""
    rng = np.random.default_rng(2)
    log_prior = -0.5 * rng.chisquare(2000, size=4000)
    quantities = rng.normal(size=(4000, 1))
    assert max(sensitivity(log_prior, quantities).pareto_k) < 0.5
    assert max(sensitivity(log_prior, quantities, power=1.25).pareto_k) > 0.7


def test_distance_is_that_of_arviz() -> None:
    """At every draw of several quantities, one of them skewed."""
    rng = np.random.default_rng(3)
    draws = rng.normal(size=(2000, 3))
    quantities = np.column_stack([draws, np.exp(draws[:, 0])])
    log_prior = stats.norm.logpdf(draws[:, 0], 1, 1.5)
    powers = 1 / 1.01, 1.01
    lower, upper = (power_scaled(log_prior, power).values[None] for power in powers)
    expected = [
        array_stats.power_scale_sense(one[None], lower, upper, *powers) for one in quantities.T
    ]
    found = sensitivity(log_prior, quantities)
    np.testing.assert_allclose(found.distance, expected, rtol=1e-5)


@given(
    seed=st.integers(0, 1000),
    shift=st.integers(-1000, 1000),
    unit=st.sampled_from([1e-6, 0.5, 3.0, 1e4]),
)
def test_constants_order_and_units_do_not_matter(seed: int, shift: int, unit: float) -> None:
    rng = np.random.default_rng(seed)
    log_component, quantities = rng.normal(size=100), rng.normal(size=(100, 2))
    order = rng.permutation(100)
    plain = sensitivity(log_component, quantities)
    moved = sensitivity(log_component[order] + shift, 5 - unit * quantities[order])
    np.testing.assert_allclose(moved.mean, -unit * plain.mean, atol=1e-6 * unit + 1e-9)
    np.testing.assert_allclose(moved.sd, unit * plain.sd, atol=1e-6 * unit + 1e-9)
    np.testing.assert_allclose(moved.distance, plain.distance, atol=1e-5)
    np.testing.assert_allclose(moved.pareto_k, plain.pareto_k, atol=1e-5)


@given(st.integers(0, 1000), st.floats(0.1, 30))
def test_distance_lies_between_nothing_and_one(seed: int, strength: float) -> None:
    rng = np.random.default_rng(seed)
    quantities = np.column_stack([rng.normal(size=60), np.ones(60), np.round(rng.normal(size=60))])
    weights = importance_weights(strength * quantities[:, 0])
    found = cumulative_distance(weights, quantities)
    assert (found >= 0).all()
    assert (found <= 1).all()
    assert found[0] > 0
    assert found[1] == 0
    np.testing.assert_allclose(
        cumulative_distance(importance_weights(np.zeros(60)), quantities), 0, atol=1e-7
    )


def test_chains_lend_their_efficiency() -> None:
    """Chains of 25 draws that are each repeated four times."""
    log_component = np.repeat(np.random.default_rng(4).normal(size=(4, 25)), 4, axis=1)
    quantities = log_component.reshape(-1, 1)
    in_chains = power_scaled(log_component, 0.9)
    assert in_chains.relative_efficiency < 0.6
    found = sensitivity(log_component, quantities)
    stated = sensitivity(
        log_component.reshape(-1), quantities, relative_efficiency=in_chains.relative_efficiency
    )
    assert found.pareto_k == pytest.approx(stated.pareto_k)


def test_refuses_arrays_that_do_not_fit() -> None:
    with refused("evaluation.component_not_finite", not_finite=2, size=30):
        power_scaled(np.array([0.0] * 28 + [-np.inf, np.nan]), 1.1)
    with refused("evaluation.weighted_shape", draws=30, shape=(29, 1)):
        sensitivity(np.zeros(30), np.zeros((29, 1)))
    with refused("evaluation.weighted_shape", shape=(30,)):
        cumulative_distance(importance_weights(np.zeros(30)), np.zeros(30))
