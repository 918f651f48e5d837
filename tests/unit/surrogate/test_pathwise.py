"""Functions of an infinitely wide network against the dense Gaussian of their values."""

from __future__ import annotations

import numpy as np
import pytest

from nlobayes.model.infinite import BIASES, COSINES, INPUTS, OUTPUT, Scales, covariance
from nlobayes.model.likelihood import NOISE
from nlobayes.surrogate import pathwise
from nlobayes.surrogate.cross_section import DRAWS, sum_of_draws
from nlobayes.surrogate.nodes import NODES
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.types import SurrogateContent
from tests.unit.surrogate.conftest import make_exported

ROWS, POINTS, MANY = 60, 8, 500
NOISE_SD = 0.1
SCALES = Scales(0.8, 1.6)


def content(inputs: int = 2, draws: int = 8, seed: int = 1) -> SurrogateContent:
    """Make a surrogate whose draws have the same scales, so that f is Gaussian."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(ROWS, inputs))
    drawn = {
        INPUTS: np.full((draws, inputs), 0.7),
        BIASES: np.full(draws, SCALES.bias),
        OUTPUT: np.full(draws, SCALES.output),
        NOISE: np.full(draws, NOISE_SD),
    }
    made = make_exported()
    warp = {"ratios": [0.0] * inputs, "floors": [1.0] * inputs}
    facts = {**made.facts, "activation": "erf", "warp": warp}
    target = np.sin(2 * features[:, 0]) + NOISE_SD * rng.normal(size=ROWS)
    rows = {"features": features, "target": target}
    return made._replace(variables=drawn, facts=facts, rows=rows)


def dense(
    exported: SurrogateContent, points: np.ndarray, activation: str = "erf", scales: Scales = SCALES
) -> tuple[np.ndarray, np.ndarray]:
    """Compute mean (point,) and covariance (point, point) of f given the train rows."""
    inputs, points = 0.7 * exported.rows["features"], 0.7 * points
    noise = NOISE_SD**2 + np.square(exported.rows.get("error", np.zeros(ROWS)))
    of_rows = covariance(activation, inputs, inputs, scales, np) + np.diag(noise)
    across = covariance(activation, points, inputs, scales, np)
    own = covariance(activation, points, points, scales, np)
    gain = np.linalg.solve(of_rows, across.T).T
    return gain @ exported.rows["target"], own - gain @ across.T


@pytest.mark.by_day(2)
@pytest.mark.parametrize(
    ("activation", "error", "cosines"),
    [("erf", 0.3, 1.2), ("erf", None, None), ("relu", None, 1.2), ("relu", 0.3, None)],
)
def test_functions_have_mean_and_covariance_of_the_process(
    activation: str, error: float | None, cosines: float | None
) -> None:
    """In units of the root of the covariance: within five standard errors."""
    exported = content(draws=MANY)
    if error is not None:
        errors = np.linspace(0, error, ROWS)
        exported = exported._replace(rows={**exported.rows, "error": errors})
    exported = exported._replace(facts={**exported.facts, "activation": activation})
    if cosines is not None:
        more = {COSINES: np.full(MANY, cosines)}
        exported = exported._replace(variables=exported.variables | more)
    points = np.random.default_rng(3).normal(size=(POINTS, 2))
    mean, expected = dense(exported, points, activation, SCALES._replace(cosines=cosines))
    functions = pathwise.evaluator(exported)(points)
    whitened = np.linalg.solve(np.linalg.cholesky(expected), (functions - mean).T)
    count = MANY * NODES
    assert whitened.shape == (POINTS, count)
    np.testing.assert_allclose(whitened.mean(axis=1), 0, atol=5 / count**0.5)
    np.testing.assert_allclose(np.cov(whitened), np.eye(POINTS), atol=5 * (3 / count) ** 0.5)


def test_a_function_is_the_same_whatever_the_other_points_are() -> None:
    exported, points = content(), np.random.default_rng(3).normal(size=(300, 2))
    whole = pathwise.evaluator(exported)(points)
    alone = pathwise.evaluator(exported)(points[270:271])
    np.testing.assert_allclose(alone[:, 0], whole[:, 270], rtol=1e-8)


def test_functions_of_two_surrogates_are_independent() -> None:
    one, other = content(draws=MANY), content(draws=MANY, seed=2)
    points = np.full((1, 2), 3.0)
    found = [pathwise.evaluator(each)(points)[:, 0] for each in (one, other)]
    assert abs(np.corrcoef(found)[0, 1]) < 5 / (MANY * NODES) ** 0.5


@pytest.fixture(scope="module")
def pair() -> list[Surrogate]:
    return [Surrogate(content(inputs=5, seed=seed)) for seed in (1, 2)]


def test_draws_of_two_points_are_correlated_unless_taken_alone() -> None:
    """The sd of a difference of near points is small, that of values of points alone is not."""
    surrogate = Surrogate(content(inputs=5, draws=100))
    point = np.array([surrogate.typical[name] for name in surrogate.inputs])
    points = np.array([point, point * (1 + 1e-6)])
    functions = surrogate.sample(points, noise=False, on="model")
    assert functions.shape == (surrogate.draws, 2)
    sd = surrogate.predict(points, on="model").posterior_sd[0]
    assert np.diff(functions, axis=1).std() < 1e-3 * sd
    np.testing.assert_array_equal(surrogate.sample(points, noise=False, on="model"), functions)
    alone = surrogate.sample(points, noise=False, on="model", jointly=False)
    assert alone.std(axis=0) == pytest.approx([sd, sd], rel=1e-3)


def test_noise_comes_about_the_functions() -> None:
    surrogate = Surrogate(content(inputs=5, draws=100))
    points = [[*surrogate.typical.values()]]
    residual = surrogate.sample(points, on="model") - surrogate.sample(
        points, noise=False, on="model"
    )
    assert residual.std() == pytest.approx(0.02, rel=0.15)


def test_a_sum_of_two_processes_is_that_of_their_dense_gaussians(pair: list[Surrogate]) -> None:
    """Quantiles of 10^(f + noise), summed over independent normals of closed mean and sd."""
    spectrum = {**pair[0].typical}
    points = np.array([[spectrum[name] for name in pair[0].inputs]])
    rng, expected = np.random.default_rng(7), np.zeros(400_000)
    for surrogate, seed in zip(pair, (1, 2), strict=True):
        mean, variance = dense(content(inputs=5, seed=seed), surrogate.seen(points).features)
        sd = float(np.hypot(1.2 * np.sqrt(variance[0, 0]), 0.02))
        expected += 10 ** (-2.0 + 1.2 * mean[0] + sd * rng.standard_normal(len(expected)))
    found = sum_of_draws([(one, spectrum) for one in pair])
    assert len(found) == DRAWS
    low, median, high = np.log10(np.quantile(expected, (0.16, 0.5, 0.84)))
    drawn = np.log10(np.quantile(found, (0.16, 0.5, 0.84)))
    np.testing.assert_allclose(drawn, [low, median, high], atol=0.06 * (high - low) / 2)
