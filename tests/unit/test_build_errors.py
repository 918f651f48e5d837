"""Numerical errors of a dataset reach all that a job builds, in the units of the network."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm

from nlobayes import builder
from nlobayes.builder import Model
from nlobayes.inference.pretrain import fit_map
from nlobayes.likelihoods import Likelihood
from nlobayes.likelihoods.gaussian import GaussianLikelihood
from nlobayes.priors import Prior
from nlobayes.priors.independent import FanInPrior, GaussianPrior
from nlobayes.study.jobs import ModelJob
from nlobayes.study.network import Network
from nlobayes.types import Dataset

SIGMA = 0.2
TOLERANCE = GaussianLikelihood(kind="gaussian", sigma=SIGMA)
LEARNED = GaussianLikelihood(kind="gaussian", sigma=None, scale=0.5)
every_likelihood = pytest.mark.parametrize(
    "likelihood", [TOLERANCE, LEARNED], ids=["fixed", "learned"]
)


@pytest.fixture(scope="module")
def noisy(dataset: Dataset) -> Dataset:
    """The dataset with errors from a hundredth of the tolerance to a hundred times it, in dex."""
    rng = np.random.default_rng(1)
    return dataset._replace(error=SIGMA * 10.0 ** rng.uniform(-2, 2, len(dataset.target)))


def make_model(
    dataset: Dataset,
    likelihood: Likelihood = TOLERANCE,
    hidden: tuple[int, ...] = (4,),
    prior: Prior | None = None,
) -> Model:
    job = ModelJob(
        network=Network(hidden=hidden),
        prior=prior or FanInPrior(kind="fan_in"),
        likelihood=likelihood,
        precision="float64",
    )
    return builder.build_model(job, dataset)


def row_noise(dataset: Dataset, sigma: Any) -> np.ndarray:
    """Noise of every row in units of the network, from the errors in dex."""
    assert dataset.error is not None
    sd = np.log10(dataset.observed[dataset.split == 0]).std()
    return np.hypot(sigma, dataset.error / sd)


def noise_of(model: Model, position: jax.Array) -> Any:
    return model.density.variables(position).get("noise", SIGMA)


@every_likelihood
def test_model_weighs_every_train_row_by_its_error(noisy: Dataset, likelihood: Likelihood) -> None:
    model, train = make_model(noisy, likelihood), noisy.split == 0
    position = model.density.draw_prior(1)
    residual = noisy.target - builder.predict_with(model)(position, jnp.asarray(noisy.features))
    scale = row_noise(noisy, noise_of(model, position))
    data = norm.logpdf(residual[train], scale=scale[train]).sum()
    for b in (1.0, 0.3):
        expected = model.density.log_prior(position) + b * data
        np.testing.assert_allclose(model.logdensity_fn(position, b), expected, rtol=1e-12)


@every_likelihood
def test_problem_is_the_posterior(noisy: Dataset, likelihood: Likelihood) -> None:
    model = make_model(noisy, likelihood)
    problem, position = builder.build_problem(model), model.density.draw_prior(2)
    train = builder.rows_of(model, noisy, 0)
    posterior = problem.log_prior(position) + problem.log_likelihood(position, train)
    np.testing.assert_allclose(posterior, model.logdensity_fn(position), rtol=1e-12)


@every_likelihood
@pytest.mark.by_day(1)
def test_curvature_of_a_linear_model_is_its_hessian(noisy: Dataset, likelihood: Likelihood) -> None:
    """In the weights and the bias; Gauss-Newton leaves out what couples a learned noise to them."""
    model = make_model(noisy, likelihood, hidden=())
    position = model.density.draw_prior(3)
    curvature = builder.curvature_with(model, noisy)(position)
    hessian = -jax.hessian(model.logdensity_fn)(position)
    np.testing.assert_allclose(curvature[:6, :6], hessian[:6, :6], rtol=1e-9, atol=1e-9)


def test_pretraining_finds_the_weighted_ridge_solution(noisy: Dataset) -> None:
    """Far from that of equal weights."""
    prior = GaussianPrior(kind="gaussian", precision=3.0)
    model = make_model(noisy, hidden=(), prior=prior)
    train, validation = (builder.rows_of(model, noisy, split) for split in (0, 1))
    fit = jax.jit(
        lambda start: fit_map(
            builder.chain_key(0, "pretrain", 0),
            start,
            builder.build_problem(model),
            train,
            validation,
            epochs=3000,
            batch=len(train.target),
            learning_rate=0.05,
            patience=None,
        )
    )(builder.draw_start(model, "prior", seed=0, chain=0))
    x = np.column_stack([train.features, np.ones(len(train.target))])

    def ridge(noise: np.ndarray) -> np.ndarray:
        weighted = x.T / noise**2
        return np.linalg.solve(weighted @ x + 3.0 * np.eye(6), weighted @ train.target)

    expected, plain = ridge(row_noise(noisy, SIGMA)[noisy.split == 0]), ridge(np.array(SIGMA))
    found = builder.name_variables(model, fit.position).values
    weights = [*found["weights_1"][:, 0], *found["biases_1"]]
    np.testing.assert_allclose(weights, expected, rtol=1e-5)
    assert np.abs(plain - expected).max() > 0.03
