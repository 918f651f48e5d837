"""Fidelity of an approximation: closed forms of two normals, equal posteriors, wrong ones."""

import numpy as np
import pytest
from scipy.stats import norm, t

from nlobayes.distributions.laws.gaussian import Gaussian
from nlobayes.distributions.laws.student_t import StudentT
from nlobayes.distributions.mixture import Mixture
from nlobayes.evaluation.fidelity import (
    STATISTICS,
    chain_errors,
    distances,
    fidelity,
    halves,
    independent_errors,
    pareto_k,
    summarise_total_variation,
    total_variation,
    total_variation_of_classes,
    wasserstein,
)
from tests.chains import ar1
from tests.refusals import refused

POINTS = 100
LEVELS = (np.arange(2000) + 0.5) / 2000


def normal(mean: float, sd: float, points: int = 3) -> np.ndarray:
    """A normal as its quantiles (draw, point): its moments are right to 0.1 %."""
    return np.tile(mean + sd * norm.ppf(LEVELS)[:, np.newaxis], points)


def chains(seed: int, rho: float = 0.0, points: int = POINTS) -> np.ndarray:
    return ar1(rho, (4, 400, points), seed)


def drawn(seed: int, count: int = 300, points: int = POINTS) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((count, points))


def test_the_wasserstein_distance_of_shifted_normals_is_the_shift() -> None:
    np.testing.assert_allclose(wasserstein(normal(0, 2), normal(0.7, 2)), 0.7, rtol=1e-9)


def test_the_wasserstein_distance_of_wider_normals_is_the_mean_size_of_the_difference() -> None:
    """|s1 - s2| sqrt(2 / pi), for centred normals; 2000 quantiles give it to 0.5 %."""
    expected = 0.5 * np.sqrt(2 / np.pi)
    np.testing.assert_allclose(wasserstein(normal(1, 1), normal(1, 1.5)), expected, rtol=5e-3)


def test_distances_of_known_normals_are_in_sds_of_the_first() -> None:
    found = distances(normal(1, 2), normal(2, 1))
    assert found["mean_difference_rms"] == pytest.approx(0.5, rel=2e-3)
    assert found["sd_ratio_median"] == pytest.approx(0.5, rel=1e-9)
    for name, p in (("q5", 0.05), ("q50", 0.5), ("q95", 0.95)):
        shift = abs(1 - norm.ppf(p)) / 2
        assert found[f"{name}_difference_rms"] == pytest.approx(shift, rel=5e-3)


@pytest.mark.parametrize("apart", [0.0, 0.1, 1.0, 3.0, 30.0])
def test_the_total_variation_of_normals_of_equal_sd_is_the_closed_form(apart: float) -> None:
    """2 Phi(|d| / (2 sd)) - 1, for f without spread and with it: its sd adds in quadrature."""
    point = np.zeros((1, 3))
    noise, wide = Gaussian(np.array([0.5])), np.hypot(0.5, 1.0)
    sharp = total_variation(Mixture(point, noise), Mixture(point + apart * 0.5, noise))
    np.testing.assert_allclose(sharp, 2 * norm.cdf(apart / 2) - 1, atol=5e-3)
    spread = total_variation(
        Mixture(normal(0, 1), noise), Mixture(normal(0, 1) + apart * wide, noise)
    )
    np.testing.assert_allclose(spread, 2 * norm.cdf(apart / 2) - 1, atol=5e-3)


def test_the_total_variation_of_other_laws_is_half_the_integral_of_the_difference() -> None:
    """By the trapezoidal rule, of a Student t whose scale each draw has its own."""
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=(20, 1)), rng.normal(1, 2, size=(30, 1))
    scales = rng.uniform(0.5, 1.5, (20, 1)), rng.uniform(0.2, 3, (30, 1))
    y = np.linspace(-100, 100, 50_001)
    p, q = (
        np.mean([t.pdf(y, 4, f, s) for f, s in zip(centres[:, 0], scale[:, 0], strict=True)], 0)
        for centres, scale in zip((first, second), scales, strict=True)
    )
    found = total_variation(
        Mixture(first, StudentT(scales[0], 4.0)), Mixture(second, StudentT(scales[1], 4.0))
    )
    assert found[0] == pytest.approx(np.trapezoid(np.abs(p - q), y) / 2, abs=0.01)


def test_the_total_variation_is_symmetric_and_zero_of_itself() -> None:
    first, second = (Mixture(draws, Gaussian(0.3)) for draws in (drawn(1), drawn(2) * 2))
    there, back = total_variation(first, second), total_variation(second, first)
    np.testing.assert_allclose(there, back, rtol=1e-12)
    assert total_variation(first, first).max() == 0


def test_the_total_variation_of_classes_is_half_the_summed_difference() -> None:
    first = np.array([[[0.5, 0.5, 0.0]], [[0.7, 0.1, 0.2]]])
    second = np.array([[[0.2, 0.2, 0.6]]])
    expected = (0.4 + 0.1 + 0.5) / 2
    np.testing.assert_allclose(total_variation_of_classes(first, second), [expected])


@pytest.mark.statistical
@pytest.mark.parametrize("rho", [0.0, 0.7])
def test_equal_posteriors_differ_by_their_monte_carlo_errors(rho: float) -> None:
    """z of 100 independent points: rms 1 with an error of 0.07; 0.25 is 3.5 of them."""
    found = fidelity(chains(1, rho), drawn(2))
    for name in STATISTICS:
        assert found[f"{name}_z_rms"] == pytest.approx(1, abs=0.25), name
    assert found["sd_ratio_median"] == pytest.approx(1, abs=0.02)
    assert found["mean_difference_rms"] == pytest.approx(np.sqrt(1 / 300), rel=0.5)


@pytest.mark.statistical
def test_errors_of_independent_draws_are_those_of_many_repetitions() -> None:
    """Sds over 4000 repetitions of 300 draws are known to 1.1 %, the mean estimates as well."""
    many = drawn(3, points=4000)
    estimated = independent_errors(many).mean(axis=1)
    quantiles = np.quantile(many, [0.05, 0.5, 0.95], axis=0)
    found = np.stack([many.mean(axis=0), many.std(axis=0), *quantiles]).std(axis=1)
    np.testing.assert_allclose(estimated, found, rtol=0.06)


WRONG = {
    "shifted": (lambda f: f + 0.5, "mean_z_rms", "mean_difference_rms", 0.5),
    "narrow": (lambda f: f / 2, "sd_z_rms", "sd_ratio_median", 0.5),
    "wide": (lambda f: f * 2, "q95_z_rms", "sd_ratio_median", 2.0),
    "skewed": (lambda f: np.exp(f) - np.exp(0.5), "q50_z_rms", "q50_difference_rms", 0.649),
}


@pytest.mark.statistical
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_approximation_is_seen(name: str) -> None:
    change, z, measure, value = WRONG[name]
    found = fidelity(chains(4), change(drawn(5)))
    right = fidelity(chains(4), drawn(5))
    assert (found[z] or 0) > 4
    assert (found["wasserstein_mean"] or 0) > 2 * (right["wasserstein_mean"] or 0)
    assert found[measure] == pytest.approx(value, rel=0.1)


@pytest.mark.statistical
def test_one_point_that_is_off_is_seen_in_the_tail_of_the_points() -> None:
    approximation = drawn(5)
    approximation[:, :10] += 2
    found = fidelity(chains(4), approximation)
    assert found["wasserstein_p95"] == pytest.approx(2, abs=0.2)


def test_errors_of_chains_follow_their_autocorrelation() -> None:
    """AR(1) of 0.7 has (1 + rho) / (1 - rho) = 5.7 draws per independent one: errors 2.4 times."""
    ratio = chain_errors(chains(6, 0.7))[0].mean() / chain_errors(chains(6))[0].mean()
    assert ratio == pytest.approx(np.sqrt(1.7 / 0.3), rel=0.1)


def test_points_at_which_nothing_moves_are_left_out() -> None:
    exact, approximation = chains(1, points=4), drawn(2, points=4)
    exact[..., 2] = 1.0
    some = [0, 1, 3]
    found, without = (
        fidelity(exact, approximation),
        fidelity(exact[..., some], approximation[:, some]),
    )
    assert found == {name: pytest.approx(value) for name, value in without.items()}
    nothing = fidelity(np.ones((2, 9, 3)), np.ones((9, 3)))
    assert {*nothing.values()} == {None}


def test_halves_are_of_chains_and_of_one_chain_its_halves() -> None:
    first, second = halves(chains(1))
    np.testing.assert_array_equal(second, chains(1)[2:].reshape(-1, POINTS))
    assert first.shape == second.shape == (800, POINTS)
    assert [len(half) for half in halves(chains(1)[:1])] == [200, 200]


def test_chains_that_disagree_are_as_far_apart_as_they_are() -> None:
    apart = chains(1)
    apart[2:] += 3
    assert distances(*halves(apart))["mean_difference_rms"] == pytest.approx(3, rel=0.1)


def test_the_total_variation_is_summarised_over_points() -> None:
    found = summarise_total_variation(np.linspace(0, 1, 101))
    assert found == {
        "total_variation_mean": pytest.approx(0.5),
        "total_variation_p95": pytest.approx(0.95),
    }


@pytest.mark.statistical
def test_pareto_k_distinguishes_wide_and_narrow_approximations() -> None:
    """The ratios of a unit normal to one of sd s < 1 have k = 1 - s^2: 0.91 for 0.3."""
    for scale, low, high in ((1.5, -10.0, 0.1), (0.3, 0.7, np.inf)):
        draws = scale * np.random.default_rng(7).normal(size=4000)
        k = pareto_k(norm.logpdf(draws), norm.logpdf(draws, scale=scale))
        assert k is not None
        assert low < k < high
    assert pareto_k(np.zeros(9), np.zeros(9)) is None


@pytest.mark.parametrize(
    ("exact", "approximation"),
    [
        ((4, 9, 3), (9, 4)),
        ((36, 3), (9, 3)),
        ((4, 9, 3), (1, 3)),
        ((1, 1, 3), (9, 3)),
        ((4, 9, 3), (1, 9, 3)),
    ],
)
def test_draws_that_do_not_fit_are_refused(
    exact: tuple[int, ...], approximation: tuple[int, ...]
) -> None:
    with refused("evaluation.fidelity_shapes", exact=exact, approximation=approximation):
        fidelity(np.zeros(exact), np.zeros(approximation))
