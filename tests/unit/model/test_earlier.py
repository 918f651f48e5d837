"""Earlier data against closed forms: what prior and old data give is divided and put back."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nlobayes.model.density import Density
from nlobayes.model.earlier_data import (
    Moments,
    Site,
    check_has_variance,
    divide,
    lower_edge,
    moments,
    spread_points,
)
from tests.densities import density_of
from tests.members import likelihood, prior
from tests.refusals import refused

WEIGHTS, ROWS, POINTS, SIGMA = 6, 40, 30, 0.3


class Linear:
    """Bayesian linear regression: f = features @ w, w ~ N(0, 1), old and new rows."""

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        self.features = rng.normal(size=(2 * ROWS, WEIGHTS))
        self.target = self.features @ rng.normal(size=WEIGHTS) + rng.normal(0, SIGMA, 2 * ROWS)
        self.points = self.features[:POINTS]
        self.old, self.new, self.union = slice(ROWS), slice(ROWS, None), slice(None)

    def fit(
        self, rows: slice, earlier: tuple[np.ndarray, np.ndarray] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Give mean and covariance of the weights, in closed form."""
        x, y = self.features[rows] / SIGMA, self.target[rows] / SIGMA
        if earlier is not None:
            x = np.concatenate([x, earlier[0] @ self.points])
            y = np.concatenate([y, earlier[1]])
        covariance = np.linalg.inv(np.eye(WEIGHTS) + x.T @ x)
        return covariance @ x.T @ y, covariance

    def at_points(self, mean: np.ndarray, covariance: np.ndarray) -> Moments:
        """Give the exact moments of f at the points."""
        return Moments(self.points @ mean, self.points @ covariance @ self.points.T)

    def draws_at_points(self, mean: np.ndarray, covariance: np.ndarray, draws: int) -> Moments:
        """Estimate them from draws."""
        rng = np.random.default_rng(draws)
        return moments(rng.multivariate_normal(mean, covariance, draws) @ self.points.T)


@pytest.fixture(scope="module")
def linear() -> Linear:
    return Linear()


NOTHING = np.zeros(WEIGHTS), np.eye(WEIGHTS)


def test_earlier_and_new_rows_are_the_union_exactly(linear: Linear) -> None:
    earlier = divide(linear.at_points(*linear.fit(linear.old)), linear.at_points(*NOTHING))
    assert earlier[0].shape == (WEIGHTS, POINTS)
    mean, covariance = linear.fit(linear.new, earlier)
    expected_mean, expected_covariance = linear.fit(linear.union)
    np.testing.assert_allclose(mean, expected_mean, rtol=1e-9)
    np.testing.assert_allclose(covariance, expected_covariance, rtol=1e-9, atol=1e-14)


def test_the_prior_is_not_counted_twice(linear: Linear) -> None:
    """It would be, and visibly, were the posterior itself taken for the earlier data."""
    old = linear.at_points(*linear.fit(linear.old))
    vague = linear.at_points(NOTHING[0], 1e8 * NOTHING[1])
    twice, _ = linear.fit(linear.new, divide(old, vague))
    exact, covariance = linear.fit(linear.union)
    assert np.abs(twice - exact).max() > 0.01 * np.sqrt(covariance.diagonal().max())


def test_updates_follow_each_other(linear: Linear) -> None:
    """Those of an updated posterior hold all rows so far: only the base prior is divided."""
    base = linear.at_points(*NOTHING)
    old = divide(linear.at_points(*linear.fit(linear.old)), base)
    both = divide(linear.at_points(*linear.fit(linear.new, old)), base)
    mean, covariance = linear.fit(slice(0), both)
    expected_mean, expected_covariance = linear.fit(linear.union)
    np.testing.assert_allclose(mean, expected_mean, rtol=1e-7)
    np.testing.assert_allclose(covariance, expected_covariance, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("draws", [400, 4000])
def test_draws_give_the_union_within_their_noise(linear: Linear, draws: int) -> None:
    """Means carry that of the old mean, 1 / sqrt(draws); sds half of that of a variance."""
    after = linear.draws_at_points(*linear.fit(linear.old), draws)
    earlier = divide(after, linear.draws_at_points(*NOTHING, 10 * draws))
    mean, covariance = linear.fit(linear.new, earlier)
    expected_mean, expected_covariance = linear.fit(linear.union)
    sd, expected_sd = np.sqrt(covariance.diagonal()), np.sqrt(expected_covariance.diagonal())
    assert np.abs((mean - expected_mean) / expected_sd).max() < 5 / np.sqrt(draws)
    assert np.abs(sd / expected_sd - 1).max() < 4 / np.sqrt(2 * draws)


def test_noise_alone_is_not_remembered() -> None:
    """Two sets of draws of one Gaussian differ in all directions, by noise; at most one shows."""
    rng = np.random.default_rng(3)
    found = [
        len(divide(moments(rng.normal(size=(400, 40))), moments(rng.normal(size=(4000, 40))))[0])
        for _ in range(20)
    ]
    assert max(found) <= 1
    assert sum(found) <= 8


def test_the_edge_is_that_of_simulated_covariances() -> None:
    rng = np.random.default_rng(4)
    first, second = (np.cov(rng.normal(size=(draws, 60)).T) for draws in (600, 2400))
    whitening = np.linalg.inv(np.linalg.cholesky(second))
    smallest = np.linalg.eigvalsh(whitening @ first @ whitening.T)[0]
    assert smallest == pytest.approx(lower_edge(60, 600, 2400), rel=0.06)
    assert lower_edge(60, np.inf, np.inf) == 1
    assert lower_edge(60, 600, np.inf) == pytest.approx((1 - np.sqrt(0.1)) ** 2)


def test_directions_that_hardly_vary_are_left_to_the_prior() -> None:
    after, before = (Moments(np.zeros(3), scale * np.diag([1, 0.1, 0.001])) for scale in (0.5, 1))
    for share, kept in ((1e-4, 3), (0.01, 2), (0.5, 1)):
        root, observed = divide(after, before, share)
        assert len(root) == kept
        np.testing.assert_array_equal(observed, 0)
    np.testing.assert_allclose(np.abs(root), [[1, 0, 0]])


def test_a_prior_without_a_variance_is_refused() -> None:
    rng = np.random.default_rng(7)
    check_has_variance(rng.normal(size=(400, 3)))
    check_has_variance(rng.standard_t(5, size=(4000, 3)))
    with refused("model.no_variance"):
        check_has_variance(rng.standard_cauchy(size=(4000, 3)))


def test_points_are_each_the_farthest_from_those_before() -> None:
    features = np.array([[0.0], [1.0], [2.0], [2.0], [10.0]])
    assert spread_points(features, 4).tolist() == [2, 4, 0, 1]
    assert spread_points(features, 1).tolist() == [2]
    assert spread_points(features, 99).tolist() == [2, 4, 0, 1]


def build(earlier: Site | None, layout: str) -> Density:
    settings: dict[str, Any] = {"layout": layout, "earlier": earlier}
    noise = likelihood("gaussian", sigma=0.2)
    return density_of((3, 4, 1), prior("fan_in", scale=1.0), noise, **settings)


@pytest.mark.parametrize("layout", ["rows", "columns"])
@pytest.mark.by_day(1)
def test_the_log_prior_has_the_earlier_and_its_gradient(layout: str) -> None:
    rng = np.random.default_rng(8)
    site = Site(rng.normal(size=(5, 3)), rng.normal(size=(2, 5)), rng.normal(size=2))
    bare, density = build(None, layout), build(site, layout)
    position = jnp.asarray(rng.normal(size=bare.size))

    def by_hand(position: jax.Array) -> jax.Array:
        v = bare.variables(position)
        hidden = jnp.tanh(site.features @ v["weights_1"] + v["biases_1"])
        f = (hidden @ v["weights_2"] + v["biases_2"])[:, 0]
        return bare.log_prior(position) - jnp.sum((site.root @ f - site.observed) ** 2) / 2

    assert abs(by_hand(position) - bare.log_prior(position)) > 0.1
    np.testing.assert_allclose(density.log_prior(position), by_hand(position), rtol=1e-12)
    found, expected = (jax.jit(jax.grad(fn))(position) for fn in (density.log_prior, by_hand))
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    rows = density.batch(jnp.asarray(rng.normal(size=(7, 3))), jnp.asarray(rng.normal(size=7)))
    expected = bare.log_likelihood(position, rows)
    np.testing.assert_array_equal(density.log_likelihood(position, rows), expected)
    flat = density.log_density(position, rows, 0.0)
    np.testing.assert_allclose(flat, by_hand(position), rtol=1e-12)


def test_the_prior_is_drawn_without_the_earlier() -> None:
    site = Site(np.ones((1, 3)), np.ones((1, 1)), np.array([100.0]))
    np.testing.assert_array_equal(
        build(site, "rows").draw_prior(3), build(None, "rows").draw_prior(3)
    )
