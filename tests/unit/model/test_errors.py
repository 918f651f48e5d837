"""Numerical errors of the rows: the likelihood against NumPy and SciPy, however it is laid out."""

import json
import os
import subprocess
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import halfnorm, norm

from nlobayes.model.density import Density
from nlobayes.model.likelihood import Likelihood
from nlobayes.model.rows import Data
from tests.densities import density_of
from tests.members import likelihood, prior

FEATURES, UNITS = 3, 4
SIZES, WEIGHTS = (FEATURES, UNITS, 1), FEATURES * UNITS + 2 * UNITS + 1
ROWS, CHUNK = 17, 9
SD, SCALE = 0.7, 0.3
LIKELIHOODS: tuple[Likelihood, ...] = (
    likelihood("gaussian", sigma=0.2),
    likelihood("gaussian", sigma=None, scale=SCALE),
)
LAYOUTS = ("rows", "columns")
every_likelihood = pytest.mark.parametrize("likelihood", LIKELIHOODS, ids=["fixed", "learned"])


def build(
    likelihood: Likelihood, chunk: int = CHUNK, layout: str = "columns", *, errors: bool = True
) -> Density:
    plain = prior("gaussian", precision=SD ** (-2), non_centered=False)
    return density_of(SIZES, plain, likelihood, chunk=chunk, layout=layout, errors=errors)


def random_rows(seed: int, rows: int = ROWS) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, targets, and errors from far below to far above the noise."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(rows, FEATURES)), rng.normal(size=rows)
    return x, y, 10.0 ** rng.uniform(-2, 1, rows)


def random_position(size: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=size)


def by_hand(
    likelihood: Likelihood, position: np.ndarray, x: np.ndarray, y: np.ndarray, error: np.ndarray
) -> tuple[float, np.ndarray]:
    """Value and gradient of the log likelihood, the gradient by the chain rule."""
    w1, b1, w2, b2, rest = np.split(position, np.cumsum([FEATURES * UNITS, UNITS, UNITS, 1]))
    sigma = np.exp(rest[0]) if len(rest) else 0.2
    hidden = np.tanh(x @ w1.reshape(FEATURES, UNITS) + b1)
    residual, variance = y - hidden @ w2 - b2, sigma**2 + error**2
    pull = residual / variance
    back = np.outer(pull, w2) * (1 - hidden**2)
    by_log_sigma = sigma**2 * (pull**2 - 1 / variance)
    gradient = np.concatenate(
        [(x.T @ back).ravel(), back.sum(0), hidden.T @ pull, [pull.sum()], [by_log_sigma.sum()]]
    )
    value = norm.logpdf(residual, scale=np.sqrt(variance)).sum()
    return float(value), gradient[: position.size]


def prior_by_hand(position: np.ndarray) -> tuple[float, np.ndarray]:
    """Value and gradient of the log prior: weights, and a log sigma where there is one."""
    weights, log_sigma = position[:WEIGHTS], position[WEIGHTS:]
    noise = halfnorm.logpdf(np.exp(log_sigma), scale=SCALE) + log_sigma
    value = norm.logpdf(weights, scale=SD).sum() + noise.sum()
    return float(value), np.append(-weights / SD**2, 1 - np.exp(2 * log_sigma) / SCALE**2)


def assert_close(found: Any, expected: Any, rtol: float = 1e-12) -> None:
    """Compare value and gradient, each to its own scale: components may cancel to zero."""
    for ours, theirs in zip(found, expected, strict=True):
        atol = rtol * float(np.max(np.abs(theirs)))
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=atol)


@pytest.mark.parametrize("chunk", [0, CHUNK])
@pytest.mark.parametrize("layout", LAYOUTS)
@every_likelihood
def test_value_and_gradient_equal_those_by_hand(
    likelihood: Likelihood, layout: str, chunk: int
) -> None:
    """At any temperature, and of other rows without another compilation: errors are arguments."""
    density, traces = build(likelihood, chunk, layout), []
    position = random_position(density.size, seed=1)

    @jax.jit
    def compiled(position: jax.Array, data: Data, b: float) -> Any:
        traces.append(data)
        return jax.value_and_grad(density.log_density)(position, data, b)

    for seed, b in ((2, 1.0), (3, 0.3)):
        rows = random_rows(seed)
        prior, data = prior_by_hand(position), by_hand(likelihood, position, *rows)
        expected = (prior[0] + b * data[0], prior[1] + b * data[1])
        assert_close(compiled(position, density.place(*rows), b), expected)
    assert len(traces) == 1


@every_likelihood
def test_no_error_is_the_plain_likelihood(likelihood: Likelihood) -> None:
    x, y, error = random_rows(seed=6)
    density, plain = build(likelihood), build(likelihood, errors=False)
    position = random_position(density.size, seed=7)
    found = jax.value_and_grad(density.log_density)(position, density.place(x, y, 0 * error))
    expected = jax.value_and_grad(plain.log_density)(position, plain.place(x, y))
    assert_close(found, expected)


@every_likelihood
def test_a_row_of_enormous_error_has_no_influence(likelihood: Likelihood) -> None:
    """Wherever its target is: the gradient is that without the row."""
    x, y, error = random_rows(seed=8)
    error[3], y[3] = 1e9, 50.0
    density, kept = build(likelihood), np.arange(ROWS) != 3
    position = random_position(density.size, seed=9)
    evaluate = jax.value_and_grad(density.log_likelihood)
    value, gradient = evaluate(position, density.place(x, y, error))
    without = evaluate(position, density.place(x[kept], y[kept], error[kept]))
    constant = norm.logpdf(0, scale=1e9)
    assert_close((value - constant, gradient), without)


def test_padding_is_worth_nothing() -> None:
    """The error of a padded row may be any number."""
    density = build(LIKELIHOODS[1])
    data, position = density.place(*random_rows(seed=10)), random_position(density.size, seed=11)
    assert data.mask is not None
    assert data.error is not None
    evaluate = jax.jit(jax.value_and_grad(density.log_likelihood))
    spoiled = data._replace(error=jnp.where(data.mask, data.error, 77.0))
    for ours, theirs in zip(evaluate(position, spoiled), evaluate(position, data), strict=True):
        np.testing.assert_array_equal(ours, theirs)


IN_SHARDS = """
import json, sys
from nlobayes.runtime import configure
precision, shards = sys.argv[1], int(sys.argv[2])
configure(precision, "cpu", shards)
import jax, jax.numpy as jnp, numpy as np
from nlobayes.model.density import build_density
from nlobayes.likelihoods import LIKELIHOODS
from nlobayes.model.networks import Network
from nlobayes.model.posterior import build_posterior
from nlobayes.priors import PRIORS
sizes, sd, scale, position, *rows = json.load(sys.stdin)
posterior = build_posterior(
    Network(tuple(sizes), "tanh"),
    PRIORS["gaussian"](kind="gaussian", precision=sd**-2, non_centered=False),
    LIKELIHOODS["gaussian"](kind="gaussian", sigma=None, scale=scale),
    feature_names=[f"x{i}" for i in range(sizes[0])], layout="columns", errors=True,
)
density = build_density(posterior, chunk=4, shards=shards)
data = density.place(*map(np.asarray, rows))
value, gradient = jax.jit(jax.value_and_grad(density.log_likelihood))(jnp.asarray(position), data)
devices = len(data.error.sharding.device_set)
json.dump((float(value), gradient.tolist(), str(data.error.dtype), devices), sys.stdout)
"""


@pytest.mark.parametrize(
    ("precision", "shards", "rtol"), [("float64", 2, 1e-12), ("float32", 1, 1e-5)]
)
@pytest.mark.by_day(1)
def test_errors_in_shards_and_in_single_precision(precision: str, shards: int, rtol: float) -> None:
    """Each needs a separate process."""
    rows, position = random_rows(seed=14), random_position(WEIGHTS + 1, seed=15)
    inputs = [SIZES, SD, SCALE, position.tolist(), *(column.tolist() for column in rows)]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", IN_SHARDS, precision, str(shards)],
        input=json.dumps(inputs),
        capture_output=True,
        text=True,
        env={name: value for name, value in os.environ.items() if name != "XLA_FLAGS"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    value, gradient, dtype, devices = json.loads(done.stdout)
    assert (dtype, devices) == (precision, shards)
    assert_close((value, gradient), by_hand(LIKELIHOODS[1], position, *rows), rtol)
