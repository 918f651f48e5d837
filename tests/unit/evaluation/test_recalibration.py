"""Recalibrated tails: their map and its inverse, the density, the nodes from ranks."""

import numpy as np
import pytest
from scipy import integrate

from nlobayes.distributions.laws import recalibrated_student_t
from nlobayes.distributions.laws.recalibrated_student_t import RecalibratedStudentT
from nlobayes.distributions.laws.student_t import StudentT
from nlobayes.evaluation.predictive.noises import conformal

NODES = [
    np.array([0.05, 0.32, 0.5, 0.75]),
    np.array([0.2, 0.5, 0.6, 0.61]),
    np.array([0.001, 0.1, 0.4, 0.9]),
    np.array([0.2, 0.5]),
]
"""Of 95, 68, 50 and 25 %; and two as files of earlier releases have them."""


def noise_of(nodes: np.ndarray, degrees: float = 5.0, scale: float = 0.03) -> RecalibratedStudentT:
    return RecalibratedStudentT(scale, degrees, nodes)


@pytest.mark.parametrize("nodes", NODES)
def test_inverse_undoes_the_map(nodes: np.ndarray) -> None:
    end = recalibrated_student_t.END * nodes[0]
    tails = np.concatenate([np.geomspace(end, 0.01, 30), np.linspace(0.01, 1, 30)])
    raised = recalibrated_student_t.recalibrate(tails, nodes)
    assert recalibrated_student_t.recalibrate(np.array([0.0, end / 2]), nodes).tolist() == [0, 0]
    np.testing.assert_allclose(recalibrated_student_t.invert(raised, nodes), tails, rtol=1e-9)
    np.testing.assert_allclose(
        recalibrated_student_t.recalibrate(nodes, nodes), recalibrated_student_t.TAILS[: len(nodes)]
    )


@pytest.mark.parametrize("nodes", NODES)
@pytest.mark.parametrize("degrees", [2.1, 5.0, 20.0])
def test_quantiles_invert_the_distribution(nodes: np.ndarray, degrees: float) -> None:
    noise = noise_of(nodes, degrees)
    for probability in (1e-9, 0.001, 0.16, 0.5, 0.6, 0.975, 1 - 1e-6):
        found = noise.cdf(np.asarray(noise.quantile(probability)))
        assert found == pytest.approx(probability, rel=1e-9)


@pytest.mark.parametrize("nodes", NODES)
@pytest.mark.parametrize("degrees", [2.5, 5.0, 20.0])
def test_sd_is_that_of_the_density(nodes: np.ndarray, degrees: float) -> None:
    """The integral over quantiles, in the variable that makes tails short."""
    noise = noise_of(nodes, degrees, scale=2.0)

    def squared(log_tail: float) -> float:
        tail = np.exp(log_tail)
        return float(noise.quantile(tail / 2) ** 2 * tail)

    points = np.log([0.05, 0.32])
    variance = integrate.quad(squared, -60, 0, points=points, limit=400)[0]
    assert noise.sd() == pytest.approx(np.sqrt(variance), rel=1e-5)


def test_nodes_of_the_noise_itself_change_the_furthest_tail_alone() -> None:
    """Where 0.1 % of residuals would lie, there are none; their share goes to the outer 5 %."""
    plain, noise = StudentT(0.03, 5.0), noise_of(NODES[0])
    residual = np.linspace(-0.3, 0.3, 41)
    known = plain.cdf(residual)
    np.testing.assert_allclose(noise.cdf(residual), known, atol=5.1e-4)
    middle = np.abs(known - 0.5) < 0.475
    np.testing.assert_allclose(noise.cdf(residual)[middle], known[middle], rtol=1e-12)
    raised = noise.logpdf(residual) - plain.logpdf(residual)
    np.testing.assert_allclose(raised[middle], 0, atol=1e-12)
    np.testing.assert_allclose(raised[~middle], -np.log(0.98))
    assert noise.quantile(0.0) == pytest.approx(plain.quantile(5e-4), rel=1e-9)
    assert 0.95 < noise.sd() / plain.sd() < 1


@pytest.mark.parametrize("rows", [40, 199])
def test_nodes_from_ranks_cover_the_next_residual_exactly(rows: int) -> None:
    """The probability that one more of rows + 1 exchangeable tails is the smaller, on average.

    4000 repetitions: four standard errors of what is averaged, below 0.002.
    """
    rng = np.random.default_rng(2)
    found = [conformal.conformal_nodes(rng.random(rows)) for _ in range(4000)]
    np.testing.assert_allclose(np.mean(found, axis=0), recalibrated_student_t.TAILS, atol=0.005)


def test_bins_are_of_equal_counts_and_never_empty() -> None:
    values = np.random.default_rng(3).normal(size=1030)
    counts = np.bincount(np.searchsorted(conformal.edges_of(values), values, side="right"))
    assert len(counts) == 10
    assert np.ptp(counts) <= 1
    assert len(conformal.edges_of(values[:199])) == 0
    few = np.repeat([0.0, 1.0, 2.0], 400)
    counts = np.bincount(np.searchsorted(conformal.edges_of(few), few, side="right"))
    np.testing.assert_array_equal(counts, [400, 400, 400])


@pytest.mark.parametrize("counts", [(150, 150, 150), (225, 125, 100), (300, 20, 280)])
def test_bins_of_equal_values_have_enough_rows(counts: tuple[int, int, int]) -> None:
    """Of the second, one quantile lies between two values, and the next one is the larger."""
    values = np.repeat([14.0, 28.0, 90.0], counts)
    edges = conformal.edges_of(values)
    found = np.bincount(np.searchsorted(edges, values, side="right"), minlength=len(edges) + 1)
    assert found.min() >= 40
    assert len(edges) >= 1


def test_a_flat_centre_is_covered_at_every_level_that_is_recalibrated() -> None:
    """Residuals of a smooth bias are seldom near zero: of no Student-t, but of its nodes."""
    rng = np.random.default_rng(8)
    residual = 0.03 * rng.choice([-1, 1], 8000) * rng.beta(4, 2, 8000)
    tails = 2 * StudentT(0.03, 5.0).cdf(-np.abs(residual))
    noise = noise_of(conformal.conformal_nodes(tails[:4000]))
    held = np.abs(2 * noise.cdf(residual[4000:]) - 1)
    for tail in recalibrated_student_t.TAILS:
        assert np.mean(held < 1 - tail) == pytest.approx(1 - tail, abs=0.03)
    two = noise_of(conformal.conformal_nodes(tails[:4000])[:2])
    assert np.mean(np.abs(2 * two.cdf(residual[4000:]) - 1) < 0.25) < 0.15


def test_nodes_of_any_tails_increase() -> None:
    for tails in (np.zeros(50), np.ones(50), np.full(50, 0.3), np.full(50, 1e-9)):
        noise_of(conformal.conformal_nodes(tails)).check()
