"""Value, gradient, sign and normalisation against a log density written by hand."""

import json
import os
import subprocess
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytensor
import pytest
from scipy.stats import halfnorm, kstest, norm

from nlobayes.model.density import Density
from nlobayes.model.rows import Data, choose_layout, place_rows
from tests.densities import density_of
from tests.members import likelihood
from tests.refusals import refused
from tests.unit.model.by_hand import LIKELIHOODS, PRIORS, Reader, evaluate, read_layers

SIZES = (3, 4, 2, 1)
ROWS, CHUNK = 17, 9
(PRIOR, ARRAY), NOISY = PRIORS["normal"], LIKELIHOODS["learned gaussian"]
LAYOUTS = ("rows", "columns")


def build(chunk: int, layout: str = "columns", noise: Any = NOISY.likelihood) -> Density:
    return density_of(SIZES, PRIOR, noise, layout=layout, chunk=chunk)


def random_rows(seed: int, rows: int = ROWS) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, SIZES[0])), rng.normal(size=rows)


def random_position(size: int, seed: int) -> jax.Array:
    return jnp.asarray(np.random.default_rng(seed).normal(size=size))


def by_hand(position: jax.Array, x: np.ndarray, y: np.ndarray) -> tuple[jax.Array, jax.Array]:
    """Log prior and log likelihood of a position."""
    reader = Reader(position)
    output = evaluate(read_layers(reader, SIZES, ARRAY), x)
    rows = NOISY.rows(reader, output, y, jnp.zeros(()))
    return reader.log_density, jnp.sum(rows)


def log_density_by_hand(
    position: jax.Array, x: np.ndarray, y: np.ndarray
) -> tuple[jax.Array, jax.Array]:
    """Value and gradient of the log density."""
    return jax.value_and_grad(lambda q: sum(by_hand(q, x, y)))(position)


def assert_close(actual: Any, expected: Any, rtol: float) -> None:
    """Compare to the scale of the whole array: components may cancel to zero."""
    largest = float(np.max(np.abs(expected)))
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=rtol * largest)


@pytest.mark.parametrize("chunk", [0, CHUNK])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.by_day(2)
def test_one_compilation_serves_all_data(layout: str, chunk: int) -> None:
    density = build(chunk, layout)
    position = random_position(density.size, seed=5)
    traces, values = [], []

    @jax.jit
    def compiled(position: jax.Array, data: Data) -> tuple[jax.Array, jax.Array]:
        traces.append(data)
        return jax.value_and_grad(density.log_density)(position, data)

    for seed in (6, 7):
        x, y = random_rows(seed)
        value, gradient = compiled(position, density.place(x, y))
        expected = log_density_by_hand(position, x, y)
        assert_close(value, expected[0], 1e-12)
        assert_close(gradient, expected[1], 1e-12)
        assert value.dtype == gradient.dtype == density.dtype == np.float64
        values.append(float(value))
    assert values[0] != values[1]
    assert len(traces) == 1


@pytest.mark.parametrize("chunk", [0, CHUNK])
def test_gradient_of_a_tempered_likelihood(chunk: int) -> None:
    """The chunked gradient is written by hand in the source, so its chain rule is tested."""
    density = build(chunk)
    x, y = random_rows(seed=8)
    data, position = density.place(x, y), random_position(density.size, seed=9)
    ours = jax.grad(lambda q: 0.25 * density.log_likelihood(q, data))(position)
    expected = jax.grad(lambda q: 0.25 * by_hand(q, x, y)[1])(position)
    assert_close(ours, expected, 1e-12)


def test_log_prior_has_the_jacobian_of_log_sigma() -> None:
    density = build(0)
    position = random_position(density.size, seed=10)
    weights, log_sigma = position[:-1], position[-1]
    sigma = np.exp(log_sigma)
    expected = norm.logpdf(weights).sum() + halfnorm.logpdf(sigma, scale=0.6) + log_sigma
    np.testing.assert_allclose(density.log_prior(position), expected, rtol=1e-12)
    np.testing.assert_allclose(density.variables(position)["noise"], sigma, rtol=1e-12)


def test_a_floor_cuts_the_prior_of_sigma_off() -> None:
    """Half-normal above the floor and normalised there; no position and no draw lies below."""
    density = build(0, noise=likelihood("gaussian", sigma=None, scale=0.3, floor=0.2))
    position = random_position(density.size, seed=10)
    weights, log_above = position[:-1], position[-1]
    sigma = 0.2 + np.exp(log_above)
    law = halfnorm(scale=0.3)
    expected = norm.logpdf(weights).sum() + law.logpdf(sigma) - law.logsf(0.2) + log_above
    np.testing.assert_allclose(density.log_prior(position), expected, rtol=1e-9)  # of PyMC's erfc
    np.testing.assert_allclose(density.variables(position)["noise"], sigma, rtol=1e-12)
    drawn = [density.variables(density.draw_prior(seed))["noise"] for seed in range(40)]
    assert min(drawn) > 0.2
    assert kstest(drawn, lambda s: 1 - law.sf(s) / law.sf(0.2)).pvalue > 0.001


IN_SINGLE_PRECISION = """
import json, sys
from nlobayes.runtime import configure
configure("float32")
import jax, jax.numpy as jnp
from nlobayes.model.density import build_density
from nlobayes.likelihoods import LIKELIHOODS
from nlobayes.model.networks import Network
from nlobayes.model.posterior import build_posterior
from nlobayes.priors import PRIORS
sizes, x, y, position = json.load(sys.stdin)
results = []
for layout, chunk in (("columns", 1024), ("rows", 64)):
    posterior = build_posterior(
        Network(tuple(sizes), "tanh"),
        PRIORS["fan_in"](kind="fan_in", scale=1.3, bias_scale=1.3, output_bias_scale=0.4),
        LIKELIHOODS["gaussian"](kind="gaussian", sigma=None, scale=0.6),
        feature_names=[f"x{i}" for i in range(sizes[0])], layout=layout,
    )
    density = build_density(posterior, chunk=chunk)
    data = density.place(jnp.asarray(x), jnp.asarray(y))
    evaluate = jax.jit(jax.value_and_grad(density.log_density))
    value, gradient = evaluate(jnp.asarray(position), data)
    arrays = (value, gradient, data.features, data.target, density.draw_prior(0))
    dtypes = [str(density.dtype), *(str(array.dtype) for array in arrays)]
    results.append((float(value), gradient.tolist(), dtypes))
json.dump(results, sys.stdout)
"""


def test_single_precision() -> None:
    """Precision belongs to a process; in a separate one every array is float32, to 1e-5."""
    x, y = random_rows(seed=11, rows=200)
    position = random_position(build(0).size, seed=12)
    value, gradient = log_density_by_hand(position, x, y)
    inputs = json.dumps([SIZES, x.tolist(), y.tolist(), position.tolist()])
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", IN_SINGLE_PRECISION],
        input=inputs,
        capture_output=True,
        text=True,
        env=dict(os.environ),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)
    assert len(results) == 2
    for single_value, single_gradient, dtypes in results:
        assert set(dtypes) == {"float32"}
        assert_close(single_value, value, 1e-5)
        assert_close(single_gradient, gradient, 1e-5)


def test_refuses_two_precisions_at_once() -> None:
    with (
        pytensor.config.change_flags(floatX="float32"),
        refused("model.two_precisions", where="precision", pytensor="float32", jax="float64"),
    ):
        build(0)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_batch_is_one_full_chunk(layout: str) -> None:
    density = build(CHUNK, layout)
    x, y = random_rows(seed=14)
    batch = jax.jit(density.batch)(jnp.asarray(x), jnp.asarray(y))
    whole = place_rows(x, y, layout=layout, chunk=0)
    assert batch.mask is None
    assert whole.mask is None
    for ours, expected in zip(batch[:2], whole[:2], strict=True):
        np.testing.assert_array_equal(ours, expected)
    position = random_position(density.size, seed=15)
    np.testing.assert_allclose(
        density.log_likelihood(position, batch),
        density.log_likelihood(position, density.place(x, y)),
        rtol=1e-12,
    )


def test_padding_is_worth_nothing() -> None:
    """Neither value nor gradient depends on the content of a padded row."""
    density = build(CHUNK)
    data, position = density.place(*random_rows(seed=16)), random_position(density.size, seed=17)
    assert data.mask is not None
    hidden = jnp.where(data.mask[:, None, :], data.features, 123.0)
    spoiled = Data(hidden, jnp.where(data.mask, data.target, -77.0), data.mask)
    evaluate = jax.jit(jax.value_and_grad(density.log_likelihood))
    for ours, expected in zip(evaluate(position, spoiled), evaluate(position, data), strict=True):
        np.testing.assert_array_equal(ours, expected)


@pytest.mark.parametrize(
    ("rows", "chunks"),
    [(479, (1, 479)), (481, (2, 256)), (1000, (3, 336)), (1100, (3, 368)), (1440, (3, 480))],
)
def test_chunks_are_even_so_that_little_is_padded(rows: int, chunks: tuple[int, int]) -> None:
    """A sum over more than 480 rows would depend on the cache of the processor."""
    data = place_rows(*random_rows(0, rows), layout="columns", chunk=choose_layout(32)[1])
    assert data.target.shape == chunks


@pytest.mark.parametrize(
    ("widest", "expected"),
    [
        (1, ("columns", 480)),
        (512, ("columns", 480)),
        (513, ("rows", 480)),
    ],
)
def test_layout_follows_the_widest_layer(widest: int, expected: tuple[str, int]) -> None:
    assert choose_layout(widest) == expected


@pytest.mark.parametrize("chunk", [0, CHUNK])
@pytest.mark.parametrize("inverse_temperature", [0.0, 0.3, 1.0])
@pytest.mark.by_day(2)
def test_an_inverse_temperature_flattens_value_and_gradient(
    chunk: int, inverse_temperature: float
) -> None:
    """Log prior + b log likelihood, for a b that is traced too."""
    density = build(chunk)
    data, position = density.place(*random_rows(seed=18)), random_position(density.size, seed=19)
    prior, likelihood = (
        jax.value_and_grad(part)(position)
        for part in (density.log_prior, lambda q: density.log_likelihood(q, data))
    )
    evaluate = jax.jit(jax.value_and_grad(lambda q, b: density.log_density(q, data, b)))
    found = evaluate(position, inverse_temperature)
    for ours, first, second in zip(found, prior, likelihood, strict=True):
        assert np.abs(second).max() > 1
        np.testing.assert_allclose(ours, first + inverse_temperature * second, rtol=1e-10)


@pytest.mark.parametrize("chunk", [0, CHUNK])
def test_chains_of_a_block_have_the_density_of_each(chunk: int) -> None:
    density = build(chunk)
    data = density.place(*random_rows(seed=20))
    positions = jnp.stack([random_position(density.size, seed=seed) for seed in (21, 22, 23)])
    evaluate = jax.value_and_grad(lambda q: density.log_density(q, data))
    values, gradients = jax.jit(jax.vmap(evaluate))(positions)
    for row, position in enumerate(positions):
        value, gradient = evaluate(position)
        np.testing.assert_allclose(values[row], value, rtol=1e-12)
        np.testing.assert_allclose(gradients[row], gradient, rtol=1e-9, atol=1e-10)
