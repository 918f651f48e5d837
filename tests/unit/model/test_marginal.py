"""The density without its output layer against a dense multivariate normal, and exact draws of it.

The function is affine in the output layer: by hand, its value and Jacobian at zero give the mean
and the covariance of the rows.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.scipy.stats import multivariate_normal, norm

from nlobayes.model.density import Density, build_density
from nlobayes.model.earlier_data import Site
from nlobayes.model.marginal import Marginal, integrate_output
from nlobayes.model.rows import Data
from tests.densities import posterior_of
from tests.members import likelihood
from tests.refusals import refused
from tests.unit.model.by_hand import PRIORS, Reader, read_layers

INPUTS, ROWS = 3, 11
CHUNK = 4
OTHERS = {"laplace", "cauchy", "student_t", "tensorbnn_cauchy"}
GAUSSIAN = [name for name in PRIORS if not OTHERS & {*name.replace(",", "").split()}]
PLAIN_SDS = (0.7, 0.3)
"""Of weights and biases of the prior `plain`, which is sampled centered."""


class Case(NamedTuple):
    """A model, what is left of it, its rows, and whether sigma is learned and rows have errors."""

    prior: str
    hidden: tuple[int, ...]
    density: Density
    marginal: Marginal
    data: Data
    rows: tuple[np.ndarray, ...]
    sigma: float | None

    def sds(self) -> np.ndarray:
        """Prior sds of the entries of the output layer."""
        width = (self.hidden or (INPUTS,))[-1]
        weight, bias = PLAIN_SDS if self.prior == "plain" else (1.0, 1.0)
        return np.array([weight] * width + [bias])

    def outputs(self) -> np.ndarray:
        """Places of the output layer in a position."""
        return np.delete(np.arange(self.density.size), self.marginal.left)

    def regression(self, q: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Mean (row,) and design (row, entry) of the rows, and the sd of their noise (row,)."""
        x, _, error = self.rows
        sizes = (INPUTS, *self.hidden, 1)

        def f(z: jax.Array) -> jax.Array:
            reader = Reader(jnp.zeros(self.density.size).at[self.marginal.left].set(q))
            reader.rest = reader.rest.at[self.outputs()].set(z)
            layers = read_layers(reader, sizes, PRIORS[self.prior][1])
            hidden: Any = x
            for layer in layers[:-1]:
                hidden = jnp.tanh(hidden @ layer.weights + layer.biases)
            return (hidden @ layers[-1].weights + layers[-1].biases)[:, 0]

        nothing = jnp.zeros(len(self.outputs()))
        sigma = jnp.exp(q[-1]) if self.sigma is None else self.sigma
        design = jax.jit(jax.jacobian(f))(nothing) * self.sds()
        return f(nothing), design, jnp.sqrt(sigma**2 + error**2)

    def by_hand(self, q: jax.Array) -> jax.Array:
        """Log evidence of the rows."""
        mean, design, noise = self.regression(q)
        covariance = design @ design.T + jnp.diag(noise**2)
        return jnp.asarray(multivariate_normal.logpdf(self.rows[1], mean, covariance))


@cache
def make(
    prior: str, hidden: tuple[int, ...], sigma: float | None, errors: bool, chunk: int = CHUNK
) -> Case:
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=(ROWS, INPUTS)), rng.normal(size=ROWS)
    error = 10.0 ** rng.uniform(-2, 0, ROWS) if errors else np.zeros(ROWS)
    noise = likelihood("gaussian", sigma=sigma, scale=0.6)
    posterior = posterior_of((INPUTS, *hidden, 1), PRIORS[prior][0], noise, errors=errors)
    density = build_density(posterior, chunk=chunk)
    marginal = integrate_output(posterior, density)
    data = density.place(x, y, error if errors else None)
    return Case(prior, hidden, density, marginal, data, (x, y, error), sigma)


def position_of(case: Case) -> jax.Array:
    """Off the prior, so that no gradient vanishes."""
    return jnp.asarray(0.7 * np.random.default_rng(1).normal(size=len(case.marginal.left)))


def assert_equal(ours: Callable[..., Any], by_hand: Callable[..., Any], q: jax.Array) -> None:
    """Compare value and gradient to 1e-10 of their scale."""
    found, expected = (jax.jit(jax.value_and_grad(one))(q) for one in (ours, by_hand))
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-10)
    largest = float(np.max(np.abs(expected[1])))
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-10, atol=1e-10 * largest)


@pytest.mark.parametrize("prior", GAUSSIAN)
@pytest.mark.by_day(3)
def test_evidence_is_that_of_a_dense_multivariate_normal(prior: str) -> None:
    """For every prior that is Gaussian given its scales, in several chunks, the last one padded."""
    case = make(prior, (4,), None, errors=True)
    assert_equal(
        lambda q: case.marginal.log_likelihood(q, case.data), case.by_hand, position_of(case)
    )


@pytest.mark.parametrize(
    ("hidden", "chunk"),
    [((), CHUNK), ((3, 5), 0), ((ROWS - 1,), 0), ((ROWS,), CHUNK), ((25,), CHUNK)],
)
@pytest.mark.by_day(2)
def test_evidence_at_any_width_and_depth(hidden: tuple[int, ...], chunk: int) -> None:
    """More units than rows, as many, and fewer; rows in one chunk or in several."""
    case = make("half_normal, layer", hidden, 0.2, errors=False, chunk=chunk)
    assert_equal(
        lambda q: case.marginal.log_likelihood(q, case.data), case.by_hand, position_of(case)
    )


@pytest.mark.parametrize("hidden", [(4,), (25,)])
def test_evidence_is_stable_where_the_noise_is_small(hidden: tuple[int, ...]) -> None:
    """Against the same in eigenvectors, which loses no digits: noise of 1e-6 beside units of 1."""
    case = make("normal", hidden, 1e-6, errors=False)
    q = position_of(case)
    mean, design, noise = (np.asarray(part) for part in jax.jit(case.regression)(q))
    vectors, singular, _ = np.linalg.svd(design / noise[:, None], full_matrices=True)
    variances = 1 + np.pad(singular**2, (0, ROWS - len(singular)))
    along = vectors.T @ ((case.rows[1] - mean) / noise)
    expected = norm.logpdf(along / np.sqrt(variances)) - np.log(variances) / 2 - np.log(noise)
    found = case.marginal.log_likelihood(q, case.data)
    np.testing.assert_allclose(found, np.sum(expected), rtol=1e-9)


def test_prior_of_what_is_left_is_that_of_all_but_the_output() -> None:
    case = make("gamma, network", (4,), None, errors=False)
    q = position_of(case)
    whole = jnp.zeros(case.density.size).at[case.marginal.left].set(q)
    of_output = len(case.outputs()) * norm.logpdf(0.0)
    np.testing.assert_allclose(
        case.marginal.log_prior(q), case.density.log_prior(whole) - of_output, rtol=1e-12
    )


def test_evidence_is_the_integral_over_the_output_layer() -> None:
    """p(y | left) = p(y | all) p(output) / p(output | left, y), at any output."""
    case = make("half_normal, layer", (4,), None, errors=True)
    q = position_of(case)
    _, design, noise = jax.jit(case.regression)(q)
    precision = jnp.eye(5) + (design.T / noise**2) @ design
    at_mean = case.marginal.complete_at_mean(q, case.data)
    complete = jax.jit(case.marginal.complete)
    for seed in range(2):
        whole = complete(jax.random.key(seed), q, case.data)
        apart = (whole - at_mean)[case.outputs()]
        joint = case.density.log_likelihood(whole, case.data) + case.density.log_prior(whole)
        conditional = multivariate_normal.logpdf(apart, jnp.zeros(5), jnp.linalg.inv(precision))
        left = case.marginal.log_prior(q) + case.marginal.log_likelihood(q, case.data)
        np.testing.assert_allclose(joint - conditional, left, rtol=1e-9)


@pytest.mark.parametrize(("hidden", "prior"), [((4,), "plain"), ((25,), "normal")])
def test_output_layer_is_drawn_from_its_conditional(hidden: tuple[int, ...], prior: str) -> None:
    """20 000 draws: no mean, and no entry of the covariance, beyond 5 standard errors."""
    case, draws = make(prior, hidden, 0.4, errors=True), 20_000
    q = position_of(case)
    keys = jax.random.split(jax.random.key(3), draws)
    whole = np.asarray(jax.jit(jax.vmap(lambda k: case.marginal.complete(k, q, case.data)))(keys))
    np.testing.assert_array_equal(whole[:, case.marginal.left], np.tile(q, (draws, 1)))
    mean, design, noise = (np.asarray(part) for part in jax.jit(case.regression)(q))
    covariance = np.linalg.inv(np.eye(design.shape[1]) + (design.T / noise**2) @ design)
    expected = covariance @ (design.T / noise**2) @ (case.rows[1] - mean)
    at_mean = case.marginal.complete_at_mean(q, case.data)[case.outputs()]
    np.testing.assert_allclose(at_mean, expected * case.sds(), rtol=1e-8, atol=1e-12)
    drawn = whole[:, case.outputs()] / case.sds() - expected
    sds = np.sqrt(np.diag(covariance))
    assert np.max(np.abs(drawn.mean(axis=0)) / sds) < 5 / np.sqrt(draws)
    correlations = (drawn / sds).T @ (drawn / sds) / draws - covariance / np.outer(sds, sds)
    assert np.max(np.abs(correlations)) < 5 * np.sqrt(2 / draws)


@pytest.mark.parametrize(
    ("prior", "likelihood", "code"),
    [
        ("laplace", likelihood("gaussian", sigma=0.2), "model.output_not_gaussian"),
        ("student_t", likelihood("gaussian", sigma=0.2), "model.output_not_gaussian"),
        ("normal", likelihood("laplace", sigma=0.2), "model.noise_not_gaussian"),
        ("normal", likelihood("heteroscedastic", scale=0.2), "model.several_outputs"),
    ],
)
def test_refuses_what_it_cannot_integrate(prior: str, likelihood: Any, code: str) -> None:
    with refused(code):
        integrate(prior, likelihood, (4,))


def integrate(
    prior: str, likelihood: Any, hidden: tuple[int, ...], dtype: str = "float64", **settings: Any
) -> Marginal:
    sizes = (INPUTS, *hidden, likelihood.outputs(1))
    posterior = posterior_of(sizes, PRIORS[prior][0], likelihood, **settings)
    density = build_density(posterior, chunk=CHUNK)._replace(dtype=np.dtype(dtype))
    return integrate_output(posterior, density)


def test_refuses_earlier_data() -> None:
    site = Site(np.zeros((2, INPUTS)), np.eye(2), np.zeros(2))
    with refused("model.marginal_with_earlier"):
        integrate("normal", likelihood("gaussian", sigma=0.2), (4,), earlier=site)


def test_refuses_single_precision() -> None:
    with refused("model.needs_double"):
        integrate("normal", likelihood("gaussian", sigma=0.2), (4,), dtype="float32")


def test_refuses_a_model_of_which_nothing_is_left() -> None:
    with refused("model.nothing_is_left"):
        integrate("normal", likelihood("gaussian", sigma=0.2), ())
