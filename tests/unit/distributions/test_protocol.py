"""Every distribution is one: its functions agree with each other, at two points at once."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from nlobayes.distributions.distribution import PredictiveDistribution
from nlobayes.distributions.laws import LAWS
from nlobayes.distributions.mixture import Mixture, by_newton
from nlobayes.distributions.tabulated import TabulatedLaw
from nlobayes.evaluation.predictive.fitted import FittedNoise
from nlobayes.evaluation.predictive.noises import NOISES

SCALES = np.array([0.5, 2.0])
DEGREES = 5.0
TAILS = ((0.1, 0.4), (0.03, 0.3))
CENTRES = np.array([[-0.1, 3.0], [0.0, 3.1], [0.1, 3.3]])
"""So close that none lies where the noise about another has ended: its density does not end."""
PROBABILITIES = (0.001, 0.02, 0.1, 0.2, 0.45, 0.5, 0.51, 0.7, 0.95, 0.99, 0.999)


def law(name: str) -> Any:
    return LAWS[name].build(scale=SCALES, degrees_of_freedom=DEGREES, tails=TAILS)


def tabulated(name: str) -> TabulatedLaw:
    """The same law as a surrogate holds it."""
    unit = LAWS[name].build(scale=1.0, degrees_of_freedom=DEGREES, tails=TAILS)
    residual, probability = unit.table()
    bins = np.arange(2) if len(probability) == 2 else np.zeros(2, int)
    return TabulatedLaw(SCALES, bins, residual, probability, np.atleast_1d(unit.sd()))


def fitted(name: str) -> Any:
    """The law that a family of noise gives to two points."""
    numbers = FittedNoise(name, 1.0, DEGREES, tails=TAILS)
    return NOISES[name].law(numbers, SCALES, np.arange(2))


MEMBERS: dict[str, PredictiveDistribution] = {
    **{name: law(name) for name in LAWS},
    **{f"tabulated {name}": tabulated(name) for name in LAWS},
    **{f"noise {name}": fitted(name) for name in NOISES},
    **{f"mixture of {name}": Mixture(CENTRES, law(name)) for name in LAWS},
}
exact = pytest.mark.parametrize("name", [name for name in MEMBERS if "mixture" not in name])
every = pytest.mark.parametrize("name", MEMBERS)


def quantiles(name: str) -> np.ndarray:
    return np.stack([MEMBERS[name].quantile(probability) for probability in PROBABILITIES])


@exact
def test_quantile_inverts_the_distribution(name: str) -> None:
    found = MEMBERS[name].cdf(quantiles(name))
    expected = np.broadcast_to(np.array(PROBABILITIES)[:, np.newaxis], found.shape)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", LAWS)
def test_quantile_of_a_mixture_is_found_by_both_methods(name: str) -> None:
    """To 1e-6 and 1e-5 of the scale; Newton's method is for noise that has one bin."""
    mixture = Mixture(CENTRES, law(name))
    found = mixture.cdf(quantiles(f"mixture of {name}"))
    np.testing.assert_allclose(found.T, np.tile(PROBABILITIES, (2, 1)), rtol=0, atol=1e-6)
    table = tabulated(name)
    if len(table.probability) == 1:
        newton = Mixture(CENTRES, table, by_newton)
        below = newton.cdf(np.stack(newton.quantiles(PROBABILITIES)))
        np.testing.assert_allclose(below.T, np.tile(PROBABILITIES, (2, 1)), rtol=0, atol=1e-5)


@every
def test_distribution_rises_from_zero_to_one(name: str) -> None:
    low, high = (MEMBERS[name].quantile(probability) for probability in (1e-6, 1 - 1e-6))
    probability = MEMBERS[name].cdf(np.linspace(low, high, 2001))
    assert (np.diff(probability, axis=0) >= 0).all()
    np.testing.assert_allclose(probability[[0, -1]], [[1e-6] * 2, [1 - 1e-6] * 2], atol=1e-5)


@every
def test_density_is_the_slope_of_the_distribution(name: str) -> None:
    """A step of 1e-6 on both sides."""
    member, value, step = MEMBERS[name], quantiles(name) + 1e-4, 1e-6
    slope = (member.cdf(value + step) - member.cdf(value - step)) / (2 * step)
    np.testing.assert_allclose(np.exp(member.logpdf(value)), slope, rtol=1e-5, atol=1e-9)


@every
def test_density_integrates_to_one(name: str) -> None:
    """The density may jump, and 1e-6 lies beyond each end."""
    low, high = (MEMBERS[name].quantile(probability) for probability in (1e-6, 1 - 1e-6))
    grid = np.linspace(low, high, 40_001)
    middle, width = (grid[1:] + grid[:-1]) / 2, np.diff(grid, axis=0)
    total = (np.exp(MEMBERS[name].logpdf(middle)) * width).sum(axis=0)
    np.testing.assert_allclose(total, 1.0, atol=2e-3)


@every
def test_samples_follow_the_distribution(name: str) -> None:
    """Kolmogorov and Smirnov's distance of 4000 at each point, at a level of 1e-3."""
    sampled = MEMBERS[name].sample(np.random.default_rng(1), (2, 4000))
    for pit in MEMBERS[name].cdf(sampled.T).T:
        assert stats.kstest(pit, "uniform").pvalue > 1e-3


@exact
def test_sd_is_that_of_the_quantiles(name: str) -> None:
    """Over 1e-5 of each tail the quantiles are nearly constant: 2 % for five degrees of freedom."""
    grid = np.linspace(-12, 12, 601)
    edges = 1 / (1 + np.exp(-grid))
    found = np.stack([MEMBERS[name].quantile(p) for p in (edges[1:] + edges[:-1]) / 2])
    weight = np.diff(edges)[:, np.newaxis]
    mean = (weight * found).sum(axis=0)
    variance = (weight * np.square(found - mean)).sum(axis=0)
    np.testing.assert_allclose(MEMBERS[name].sd(), np.sqrt(variance), rtol=0.02)


@pytest.mark.parametrize("name", LAWS)
def test_sd_of_a_mixture_adds_its_centres(name: str) -> None:
    expected = np.sqrt(CENTRES.var(axis=0) + np.square(law(name).sd()))
    np.testing.assert_allclose(MEMBERS[f"mixture of {name}"].sd(), expected, rtol=1e-12)


@every
def test_each_point_has_its_own(name: str) -> None:
    member: Any = MEMBERS[name]
    value = quantiles(name)
    for rows in (slice(1, 2), np.array([False, True]), np.array([1])):
        alone = member.at(rows)
        np.testing.assert_allclose(alone.cdf(value[:, rows]), member.cdf(value)[:, rows])
        np.testing.assert_allclose(alone.logpdf(value[:, rows]), member.logpdf(value)[:, rows])


@pytest.mark.parametrize("name", LAWS)
def test_table_is_linear_between_its_nodes(name: str) -> None:
    """To 3e-5 of the probability, also where a density jumps."""
    unit = LAWS[name].build(scale=1.0, degrees_of_freedom=DEGREES, tails=TAILS[0])
    residual, [probability] = unit.table()
    middle = (residual[1:] + residual[:-1]) / 2
    between = (probability[1:] + probability[:-1]) / 2
    np.testing.assert_allclose(between, unit.cdf(middle), rtol=0, atol=3e-5)
    assert probability[0] < 1.1e-8


ORACLES = {"gaussian": stats.norm(), "laplace": stats.laplace(), "student_t": stats.t(DEGREES)}


@pytest.mark.parametrize("name", ORACLES)
def test_densities_and_distributions_are_those_of_scipy(name: str) -> None:
    """Far into the tails, too."""
    unit = LAWS[name].build(scale=1.0, degrees_of_freedom=DEGREES)
    value = np.concatenate([-np.geomspace(30, 1e-3, 50), np.geomspace(1e-3, 30, 50)])
    np.testing.assert_allclose(unit.logpdf(value), ORACLES[name].logpdf(value), rtol=1e-12)
    expected = ORACLES[name].cdf(value)
    np.testing.assert_allclose(unit.cdf(value), expected, rtol=1e-9, atol=1e-300)
    assert unit.sd() == pytest.approx(ORACLES[name].std(), rel=1e-12)


@pytest.mark.parametrize("degrees", [2.5, 4.0, 7.0])
def test_student_t_of_any_degrees_is_scipys_far_into_its_tails(degrees: float) -> None:
    value = np.concatenate([-np.geomspace(1e3, 1e-3, 50), np.geomspace(1e-3, 1e3, 50)])
    found = LAWS["student_t"].build(scale=1.0, degrees_of_freedom=degrees).cdf(value)
    np.testing.assert_allclose(found, stats.t.cdf(value, degrees), rtol=1e-8)
