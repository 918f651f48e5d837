"""The Gaussian process against one written by hand, and what it does with many rows."""

from typing import Any

import numpy as np
import pytest

from nlobayes.evaluation.scores import least_squares
from nlobayes.rivals import FittedRival
from nlobayes.rivals import _gaussian_process as gaussian_process
from nlobayes.rivals._quantiles import DRAWS, gaussian_quantiles
from nlobayes.rivals.gaussian_process import GaussianProcessRival

SETTINGS: dict[str, Any] = {"kernel": "matern_5_2", "most_rows": 2000, "most_rows_of_search": 1000}


def points(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Features (point, 2) and a smooth target without noise, of sd about one."""
    features = np.random.default_rng(seed).uniform(-2, 2, (count, 2))
    return features, np.sin(2 * features[:, 0]) + 0.5 * features[:, 1] ** 2


def fitted(count: int = 50, noise: float = 0.0, **changes: Any) -> FittedRival:
    features, target = points(count)
    target = target + noise * np.random.default_rng(1).normal(size=count)
    settings = {"seed": 3, **SETTINGS, **changes}
    return GaussianProcessRival(kind="gaussian_process", **settings).fit(features, target)


def covariance(one: np.ndarray, two: np.ndarray, kernel: str, facts: Any) -> np.ndarray:
    """Covariances (Rasmussen and Williams 2006, equations 4.9 and 4.17) of two sets of points."""
    apart = (one[:, np.newaxis] - two) / facts["length_scales"]
    r2 = np.square(apart).sum(axis=-1)
    if kernel == "rbf":
        shape = np.exp(-r2 / 2)
    else:
        r = np.sqrt(5 * r2)
        shape = (1 + r + r**2 / 3) * np.exp(-r)
    return facts["amplitude"] ** 2 * shape


@pytest.mark.parametrize("kernel", ["matern_5_2", "rbf"])
def test_it_is_the_one_written_by_hand(kernel: str) -> None:
    """Mean, sd and marginal likelihood of 50 points (equations 2.25, 2.26 and 5.8): 1e-6."""
    rival, (features, target) = fitted(noise=0.1, kernel=kernel), points(50)
    target = target + 0.1 * np.random.default_rng(1).normal(size=50)
    facts, new = rival.facts, points(20, seed=5)[0]
    noise = facts["noise"] ** 2
    diagonal = (noise + gaussian_process.JITTER) * np.eye(50)
    inside = covariance(features, features, kernel, facts) + diagonal
    across = covariance(new, features, kernel, facts)
    mean = across @ np.linalg.solve(inside, target)
    explained = np.einsum("ij,ji->i", across, np.linalg.solve(inside, across.T))
    sd = np.sqrt(facts["amplitude"] ** 2 + noise - explained)
    prediction = rival.predict(new)
    assert prediction.sd is not None
    np.testing.assert_allclose(prediction.draws.mean(axis=0), mean, atol=1e-6)
    np.testing.assert_allclose(prediction.sd, sd, atol=1e-6)
    latent = np.sqrt(sd**2 - noise)
    np.testing.assert_allclose(prediction.draws.std(axis=0), latent, atol=1e-6)
    log_determinant = np.linalg.slogdet(inside)[1]
    quadratic = target @ np.linalg.solve(inside, target)
    evidence = -0.5 * (quadratic + log_determinant + 50 * np.log(2 * np.pi))
    assert facts["log_marginal_likelihood"] == pytest.approx(evidence, rel=1e-6)


def test_its_hyperparameters_are_at_a_maximum() -> None:
    """No neighbour, 1 % off in one of them, has a larger marginal likelihood."""
    features, target = points(60)
    target = target + 0.1 * np.random.default_rng(1).normal(size=60)
    rival = GaussianProcessRival(kind="gaussian_process", seed=1, **SETTINGS).fit(features, target)
    process = gaussian_process.search("matern_5_2", features, target)
    best = process.log_marginal_likelihood_value_
    assert rival.facts["log_marginal_likelihood"] == pytest.approx(best, rel=1e-12)
    for place in range(4):
        for factor in (0.99, 1.01):
            theta = process.kernel_.theta.copy()
            theta[place] += np.log(factor)
            assert process.log_marginal_likelihood(theta) < best + 1e-6


def test_a_smooth_function_is_learned_far_better_than_by_least_squares() -> None:
    """It must win: a hundredth of the error of least squares, from 100 rows without noise."""
    (features, target), (new, truth) = points(100), points(500, seed=9)
    rival = fitted(100)
    error = np.std(rival.predict(new).draws.mean(axis=0) - truth)
    plane = least_squares.predict(least_squares.fit(features, target), new)
    assert error < 0.01 * np.std(plane - truth)


def test_of_many_rows_it_takes_some_states_it_and_depends_on_the_seed() -> None:
    first, again, other = (fitted(300, most_rows=80, seed=seed) for seed in (1, 1, 2))
    assert first.facts["rows"] == 80
    new = points(20, seed=5)[0]
    drawn = [rival.predict(new).draws for rival in (first, again, other)]
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert np.abs(drawn[0] - drawn[2]).max() > 1e-6
    assert fitted(80, most_rows=80).facts["rows"] == 80


def test_a_search_with_fewer_rows_still_conditions_on_all() -> None:
    """The length scales of 100 rows, the predictions of 300: closer than by 100 rows alone."""
    new, truth = points(500, seed=9)
    short, whole = fitted(300, most_rows=100), fitted(300, most_rows_of_search=100)
    assert (whole.facts["rows"], whole.facts["rows_of_search"]) == (300, 100)
    assert whole.facts["length_scales"] == short.facts["length_scales"]
    errors = [np.std(one.predict(new).draws.mean(axis=0) - truth) for one in (whole, short)]
    assert errors[0] < errors[1]


def test_a_matrix_that_is_singular_to_rounding_gets_more_jitter_and_is_stated() -> None:
    """Hyperparameters of 100 rows without noise: 300 rows of them are singular."""
    assert fitted(300, most_rows_of_search=100).facts["jitter"] > gaussian_process.JITTER
    assert fitted(50, noise=0.1).facts["jitter"] == gaussian_process.JITTER


def test_rows_that_no_jitter_makes_regular_are_left_out_and_not_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is then the process of the rows of the search."""
    monkeypatch.setattr(gaussian_process, "MOST_JITTER", gaussian_process.JITTER)
    rival, few = fitted(300, most_rows_of_search=100), fitted(300, most_rows=100)
    assert rival.facts == few.facts
    assert rival.facts["rows"] == 100
    new = points(20, seed=5)[0]
    np.testing.assert_array_equal(rival.predict(new).draws, few.predict(new).draws)


def test_it_searches_with_no_more_rows_than_fit_into_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gaussian_process, "MOST_BYTES", 8 * 12 * 40**2)
    assert gaussian_process.rows_in_memory(2) == 40
    assert fitted(300).facts["rows_of_search"] == 40


def test_a_gradient_takes_the_memory_that_is_counted() -> None:
    """Within 5 %, so that `rows_in_memory` is a bound."""
    import tracemalloc

    rows, features = 300, 6
    x = np.random.default_rng(0).normal(size=(rows, features))
    kernel = gaussian_process._kernel("matern_5_2", features)
    process = gaussian_process._regressor(kernel, optimizer=None).fit(x, x[:, 0])
    tracemalloc.start()
    process.log_marginal_likelihood(process.kernel_.theta, eval_gradient=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak == pytest.approx(8 * rows**2 * (3 * features + 6), rel=0.05)


def test_parts_of_the_points_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounding of products of other shapes, times the condition of a noise-free fit: 5e-6."""
    rival, new = fitted(), points(50, seed=5)[0]
    whole = rival.predict(new)
    monkeypatch.setattr(gaussian_process, "POINTS", 7)
    parts = rival.predict(new)
    np.testing.assert_allclose(parts.draws, whole.draws, atol=5e-6)
    assert parts.draws.shape == (DRAWS, 50)


def test_a_learned_noise_is_that_of_the_target() -> None:
    """200 points with noise 0.1: within 20 %, four standard errors of its estimate."""
    assert fitted(200, noise=0.1).facts["noise"] == pytest.approx(0.1, rel=0.2)


def test_quantiles_have_the_moments_of_a_gaussian() -> None:
    """Mean 0, variance 1; the fourth moment 2.63 where it is 3: the far tail is missing."""
    found = gaussian_quantiles(32)
    assert abs(found.mean()) < 1e-12
    assert found.var() == pytest.approx(1)
    assert np.mean(found**4) == pytest.approx(3, abs=0.4)
