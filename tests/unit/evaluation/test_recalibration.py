"""Recalibrated tails: their map and its inverse, the density, the nodes from ranks."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

from nlobayes.errors import InputError
from nlobayes.evaluation.predictive import noise as noises
from nlobayes.evaluation.predictive import recalibration
from nlobayes.evaluation.predictive.noise import PredictiveNoise

NODES = [np.array([0.05, 0.32]), np.array([0.2, 0.5]), np.array([0.001, 0.1])]


def noise_of(nodes: np.ndarray, degrees: float = 5.0, scale: float = 0.03) -> PredictiveNoise:
    return PredictiveNoise("student_t", scale, degrees, "mean", nodes)


@pytest.mark.parametrize("nodes", NODES)
def test_inverse_undoes_the_map(nodes: np.ndarray) -> None:
    end = recalibration.END * nodes[0]
    tails = np.concatenate([np.geomspace(end, 0.01, 30), np.linspace(0.01, 1, 30)])
    raised = recalibration.recalibrate(tails, nodes)
    assert recalibration.recalibrate(np.array([0.0, end / 2]), nodes).tolist() == [0, 0]
    np.testing.assert_allclose(recalibration.invert(raised, nodes), tails, rtol=1e-9)
    np.testing.assert_allclose(recalibration.recalibrate(nodes, nodes), recalibration.TAILS)


@pytest.mark.parametrize("nodes", NODES)
@pytest.mark.parametrize("degrees", [2.1, 5.0, 20.0])
def test_quantiles_invert_the_distribution(nodes: np.ndarray, degrees: float) -> None:
    noise = noise_of(nodes, degrees)
    for probability in (1e-9, 0.001, 0.16, 0.5, 0.6, 0.975, 1 - 1e-6):
        found = noises.cdf(noise, np.asarray(noises.ppf(noise, probability)))
        assert found == pytest.approx(probability, rel=1e-9)


@pytest.mark.parametrize("nodes", NODES)
def test_density_is_the_derivative_and_integrates_to_one(nodes: np.ndarray) -> None:
    noise = noise_of(nodes)
    kinks = [noises.ppf(noise, p) for p in (0.025, 0.16, 0.5, 0.84, 0.975)]
    ends = [noises.ppf(noise, 0.0), *kinks, noises.ppf(noise, 1.0)]

    def density(x: float) -> float:
        return float(np.exp(noises.logpdf(noise, np.array(x))))

    parts = [integrate.quad(density, low, high)[0] for low, high in pairwise(ends)]
    np.testing.assert_allclose(parts, [0.025, 0.135, 0.34, 0.34, 0.135, 0.025], rtol=1e-6)


@pytest.mark.parametrize("nodes", NODES)
@pytest.mark.parametrize("degrees", [2.5, 5.0, 20.0])
def test_sd_is_that_of_the_density(nodes: np.ndarray, degrees: float) -> None:
    """The integral over quantiles, in the variable that makes tails short."""
    noise = noise_of(nodes, degrees, scale=2.0)

    def squared(log_tail: float) -> float:
        tail = np.exp(log_tail)
        return float(noises.ppf(noise, tail / 2) ** 2 * tail)

    points = np.log([0.05, 0.32])
    variance = integrate.quad(squared, -60, 0, points=points, limit=400)[0]
    assert noises.sd(noise) == pytest.approx(np.sqrt(variance), rel=1e-5)


def test_nodes_of_the_noise_itself_change_the_furthest_tail_alone() -> None:
    """Where 0.1 % of residuals would lie, there are none; their share goes to the outer 5 %."""
    plain, noise = PredictiveNoise("student_t", 0.03, 5.0, "mean"), noise_of(NODES[0])
    residual = np.linspace(-0.3, 0.3, 41)
    known = noises.cdf(plain, residual)
    np.testing.assert_allclose(noises.cdf(noise, residual), known, atol=5.1e-4)
    middle = np.abs(known - 0.5) < 0.475
    np.testing.assert_allclose(noises.cdf(noise, residual)[middle], known[middle], rtol=1e-12)
    raised = noises.logpdf(noise, residual) - noises.logpdf(plain, residual)
    np.testing.assert_allclose(raised[middle], 0, atol=1e-12)
    np.testing.assert_allclose(raised[~middle], -np.log(0.98))
    assert noises.ppf(noise, 0.0) == pytest.approx(noises.ppf(plain, 5e-4), rel=1e-9)
    assert 0.95 < noises.sd(noise) / noises.sd(plain) < 1


def test_each_point_has_its_own_nodes() -> None:
    noise = noise_of(np.stack(NODES))._replace(scale=np.array([0.1, 0.2, 0.3]))
    residual = np.array([[0.1, -0.2, 0.05], [0.3, 0.4, -0.9]])
    for name in ("cdf", "logpdf"):
        whole = getattr(noises, name)(noise, residual)
        for point in range(3):
            here = noises.at_rows(noise, np.array([point]))
            np.testing.assert_allclose(
                getattr(noises, name)(here, residual[:, [point]]), whole[:, [point]]
            )
    alone = np.array([noises.sd(noise_of(nodes, scale=1.0)) for nodes in NODES])
    np.testing.assert_allclose(np.array(noises.sd(noise)), np.array([0.1, 0.2, 0.3]) * alone)


def test_table_is_linear_between_its_nodes_in_every_bin() -> None:
    """To where the noise ends; there and at the ends of intervals, where it bends, are nodes."""
    noise = noise_of(np.stack(NODES))
    residual, probability = noises.distribution_table(noise)
    middle = (residual[1:] + residual[:-1]) / 2
    for nodes, table in zip(NODES, probability, strict=True):
        exact = noises.cdf(noise_of(nodes, scale=1.0), middle)
        np.testing.assert_allclose((table[1:] + table[:-1]) / 2, exact, rtol=0, atol=3e-6)
        assert table[0] < 1e-6
        end = noises.ppf(noise_of(nodes, scale=1.0), 0.025)
        assert np.abs(residual - end).min() < 1e-12


@pytest.mark.statistical
def test_samples_follow_the_distribution() -> None:
    noise = noise_of(np.stack(NODES))._replace(scale=np.array([0.1, 0.2, 0.3]))
    sampled = noises.sample(noise, np.random.default_rng(1), (3, 20_000))
    for point, values in enumerate(sampled):
        here = noise_of(NODES[point], scale=0.1 * (point + 1))
        assert stats.kstest(values, lambda x, n=here: noises.cdf(n, x)).pvalue > 1e-3


@pytest.mark.parametrize("rows", [40, 199])
def test_nodes_from_ranks_cover_the_next_residual_exactly(rows: int) -> None:
    """The probability that one more of rows + 1 exchangeable tails is the smaller, on average.

    4000 repetitions: four standard errors of what is averaged, below 0.002.
    """
    rng = np.random.default_rng(2)
    found = [recalibration.conformal_nodes(rng.random(rows)) for _ in range(4000)]
    np.testing.assert_allclose(np.mean(found, axis=0), recalibration.TAILS, atol=0.005)


def test_nodes_of_any_tails_increase() -> None:
    for tails in (np.zeros(50), np.ones(50), np.full(50, 0.3), np.full(50, 1e-9)):
        noises.sd(noise_of(recalibration.conformal_nodes(tails)))


def test_bins_are_of_equal_counts_and_never_empty() -> None:
    values = np.random.default_rng(3).normal(size=1030)
    counts = np.bincount(np.searchsorted(recalibration.edges_of(values), values, side="right"))
    assert len(counts) == 10
    assert np.ptp(counts) <= 1
    assert len(recalibration.edges_of(values[:199])) == 0
    few = np.repeat([0.0, 1.0, 2.0], 400)
    counts = np.bincount(np.searchsorted(recalibration.edges_of(few), few, side="right"))
    np.testing.assert_array_equal(counts, [400, 400, 400])


@pytest.mark.parametrize("nodes", [[0.4, 0.3], [0.0, 0.3], [0.1, 1.0], [np.nan, 0.3]])
def test_refuses_nodes_that_do_not_increase(nodes: list[float]) -> None:
    with pytest.raises(InputError, match="tails that increase between 0 and 1"):
        noises.sd(noise_of(np.array(nodes)))
