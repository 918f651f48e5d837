"""SWAG: its moments against their definition, and its paths where the posterior is known."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import Covariance, multivariate_normal

from nlobayes import builder
from nlobayes.inference.method import MethodInput
from nlobayes.inference.snapshots import Moments, descent, moments_of
from nlobayes.methods.swag import Swag
from nlobayes.study.jobs import ApproximateJob
from nlobayes.types import Dataset
from tests.refusals import invalid, refused
from tests.unit.commands.linear import MODEL, posterior

SETTINGS: dict[str, Any] = {
    "modes": 2,
    "draws": 8,
    "epochs": 12,
    "batch": 8,
    "learning_rate": 1e-3,
    "snapshot_epochs": 2,
    "rank": 4,
    "scale": 1.0,
}
RANK = 5


@pytest.fixture(scope="module")
def begin(model: builder.Model, dataset: Dataset) -> MethodInput:
    """From zero, twice."""
    return builder.approach(model, dataset, [np.zeros(model.density.size)] * 2)


@pytest.fixture(scope="module")
def snapshots() -> np.ndarray:
    """A path far from zero, whose steps differ in size from entry to entry."""
    steps = np.random.default_rng(3).normal(size=(30, 4)) * [1e-5, 0.1, 1, 3]
    return np.asarray(1000 + np.cumsum(steps, axis=0))


def by_definition(snapshots: np.ndarray, rank: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of SWAG, step by step as in algorithm 1 of Maddox et al. (2019)."""
    mean, deviations = np.zeros(snapshots.shape[1]), []
    for count, snapshot in enumerate(snapshots):
        mean = (count * mean + snapshot) / (count + 1)
        deviations.append(snapshot - mean)
    last = np.array(deviations[-rank:])
    own = np.mean((snapshots - snapshots.mean(axis=0)) ** 2, axis=0)
    return mean, np.diag(own) / 2 + last.T @ last / (2 * (rank - 1))


def covariance(moments: Moments) -> np.ndarray:
    rank = len(moments.deviations)
    shared = np.asarray(moments.deviations.T @ moments.deviations) / (2 * (rank - 1))
    return np.asarray(np.diag(moments.variance / 2)) + shared


def log_normal(positions: Any, mean: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    held = Covariance.from_cholesky(np.linalg.cholesky(covariance))
    return np.asarray(multivariate_normal(mean, held).logpdf(positions))


def test_moments_are_those_of_the_definition(snapshots: np.ndarray) -> None:
    mean, expected = by_definition(snapshots, RANK)
    found = moments_of(jnp.asarray(snapshots), RANK)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-14)
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    np.testing.assert_allclose(covariance(found) / scale, expected / scale, atol=1e-7)
    near = moments_of(jnp.asarray(snapshots - 1000), RANK)
    mean, expected = by_definition(snapshots - 1000, RANK)
    np.testing.assert_allclose(near.mean, mean, rtol=1e-10)
    np.testing.assert_allclose(covariance(near), expected, rtol=1e-10)


@pytest.mark.statistical
@pytest.mark.parametrize("scale", [1.0, 0.25])
def test_draws_have_the_covariance_of_the_definition(snapshots: np.ndarray, scale: float) -> None:
    """Within five standard errors of 20 000 draws: 0.035 sd of a mean, 5 % of a variance."""
    mean, expected = by_definition(snapshots, RANK)
    about = moments_of(jnp.asarray(snapshots), RANK).gaussian(scale)
    drawn = about.draw(jax.random.key(1), 20_000)
    root = np.linalg.cholesky(scale * expected)
    whitened = np.linalg.solve(root, (np.asarray(drawn) - mean).T)
    np.testing.assert_allclose(whitened.mean(axis=1), 0, atol=0.036)
    np.testing.assert_allclose(np.cov(whitened), np.eye(len(mean)), atol=0.05)


@pytest.mark.parametrize("scale", [1.0, 0.25])
def test_the_log_density_is_that_of_the_covariance_of_the_definition(
    snapshots: np.ndarray, scale: float
) -> None:
    """Of less entries than deviations, and of more: the part of low rank does not fill them."""
    for rank in (RANK, 3):
        mean, expected = by_definition(snapshots - 1000, rank)
        about = moments_of(jnp.asarray(snapshots - 1000), rank).gaussian(scale)
        drawn = about.draw(jax.random.key(1), 6)
        exact = log_normal(drawn, mean, scale * expected)
        np.testing.assert_allclose(about.log_density(drawn), exact, rtol=1e-6)


def test_an_entry_that_no_snapshot_moves_stays_and_leaves_a_density(snapshots: np.ndarray) -> None:
    still = np.column_stack([snapshots, np.full(len(snapshots), 0.3)])
    about = moments_of(jnp.asarray(still), RANK).gaussian(1.0)
    drawn = about.draw(jax.random.key(1), 6)
    np.testing.assert_allclose(drawn[:, -1], 0.3, rtol=1e-12)
    assert np.isfinite(about.log_density(drawn)).all()


def test_snapshots_are_those_of_steps_by_hand(begin: MethodInput) -> None:
    """The loss per row of a batch, its likelihood scaled up, against gradients of the densities."""
    assert begin.train is not None
    key, start, rate = jax.random.key(4), begin.starts[0] + 0.1, 1e-3
    descend = descent(
        begin.problem, begin.train, batch=8, learning_rate=rate, snapshots=2, epochs_between=2
    )
    rows, position, expected = len(begin.train.target), start, []
    for of_snapshot in jax.random.split(key, (2, 2)):
        for of_epoch in of_snapshot:
            order = jax.random.permutation(of_epoch, rows)[: rows // 8 * 8].reshape(-1, 8)
            for batch in order:
                part = jax.tree.map(lambda column, taken=batch: column[taken], begin.train)
                pull = jax.grad(begin.problem.log_likelihood)(position, part) / 8
                pull += jax.grad(begin.problem.log_prior)(position) / rows
                position = position + rate * pull
        expected.append(position)
    np.testing.assert_allclose(descend(key, start), jnp.stack(expected), rtol=1e-10)


@pytest.mark.statistical
def test_the_mean_of_a_slow_path_is_the_posterior_mean(
    model: builder.Model, begin: MethodInput, dataset: Dataset
) -> None:
    """The network is linear: the stationary mean of the path is the MAP, at any learning rate."""
    assert begin.train is not None
    descend = descent(
        begin.problem, begin.train, batch=8, learning_rate=0.01, snapshots=500, epochs_between=4
    )
    path = descend(jax.random.key(0), begin.starts[0])[200:]
    named = builder.name_variables(model, moments_of(path, RANK).mean[np.newaxis]).values
    exact = posterior(dataset)
    found = np.append(named["weights_1"][0, :, 0], named["biases_1"][0])
    sd = np.sqrt(np.diag(exact.covariance))
    np.testing.assert_allclose((found - exact.mean) / sd, 0, atol=0.05)


def test_the_density_of_draws_is_that_of_the_mixture(begin: MethodInput) -> None:
    """Of the Gaussians of both paths by their definition, in equal shares."""
    method, key = Swag(kind="swag", **SETTINGS), jax.random.key(1)
    drawn = method.sample(key, begin)
    _, *keys = jax.random.split(key, 3)
    each = []
    for own, start in zip(keys, begin.starts, strict=True):
        path = np.asarray(method._descent(begin)(own, start))
        each.append(log_normal(drawn.positions, *by_definition(path, SETTINGS["rank"])))
    assert drawn.log_density is not None
    np.testing.assert_allclose(drawn.log_density, np.logaddexp(*each) - np.log(2), rtol=1e-6)


def test_what_cannot_be_made_is_refused_with_a_remedy(begin: MethodInput) -> None:
    key, method = jax.random.key(0), Swag(kind="swag", **SETTINGS)
    with refused("inference.maps_for_modes", maps=2, modes=1):
        method.model_copy(update={"modes": 1}).sample(key, begin)
    with refused("inference.no_sum_over_rows"):
        method.sample(key, begin._replace(train=None))
    assert begin.train is not None
    rows = len(begin.train.target)
    with refused("inference.batch_of_rows", batch=rows + 1, rows=rows):
        method.model_copy(update={"batch": rows + 1}).sample(key, begin)
    with invalid("study.few_snapshots", snapshots=4, rank=5):
        settings = {"kind": "swag", "epochs": 9, "snapshot_epochs": 2, "rank": 5}
        ApproximateJob.model_validate({"model": MODEL, "method": settings, "seed": 1})


@pytest.mark.parametrize("rate", [3.0, 1e6], ids=["grows", "not finite"])
def test_a_path_that_diverges_is_refused(begin: MethodInput, rate: float) -> None:
    with refused("inference.diverged", mode=0, learning_rate=rate) as caught:
        Swag(kind="swag", **{**SETTINGS, "learning_rate": rate}).sample(jax.random.key(0), begin)
    assert "use a learning_rate below" in str(caught.value)
