"""Every prior and every likelihood against `by_hand`: values, gradients and all Jacobians."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm

from nlobayes.model.density import Density
from nlobayes.model.prior import Parameters
from tests.densities import density_of
from tests.members import likelihood, prior
from tests.unit.model.by_hand import LIKELIHOODS, PRIORS, SLOPES, Reader, evaluate, read_layers

INPUTS, ROWS, CHUNK = 3, 7, 4
IN_COLUMNS = ("normal", "horseshoe", "gamma, network")
"""Priors that are also laid out in columns; likelihoods all are, with errors where they can."""
PRIOR_CASES = [*((name, "rows") for name in PRIORS), *((name, "columns") for name in IN_COLUMNS)]
LIKELIHOOD_CASES = [
    *(pytest.param(name, "rows", False, marks=pytest.mark.slow) for name in LIKELIHOODS),
    *((name, "columns", observed.errors) for name, observed in LIKELIHOODS.items()),
]


def random_rows(seed: int, targets: int = 1, classes: int = 0) -> tuple[np.ndarray, ...]:
    """Features, targets or classes, and errors around the noise."""
    rng = np.random.default_rng(seed)
    shape = (ROWS,) if targets == 1 else (ROWS, targets)
    y = rng.integers(0, classes, shape).astype(float) if classes else rng.normal(size=shape)
    return rng.normal(size=(ROWS, INPUTS)), y, 10.0 ** rng.uniform(-2, 1, shape)


def assert_equal(
    ours: Callable[..., jax.Array],
    by_hand: Callable[[jax.Array], jax.Array],
    q: jax.Array,
    *data: Any,
) -> None:
    """Compare the gradient to 1e-10 of its scale, and the value to 1e-9.

    PyMC computes logarithms of small whole numbers, as log 2, in single precision.
    """
    found = jax.jit(jax.value_and_grad(ours))(q, *data)
    expected = jax.jit(jax.value_and_grad(by_hand))(q)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-9)
    largest = float(np.max(np.abs(expected[1])))
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-10, atol=1e-10 * largest)


def position_of(density: Density, seed: int) -> jax.Array:
    """Off the prior, so that no gradient vanishes; logarithms within a factor of three."""
    return jnp.asarray(0.7 * np.random.default_rng(seed).normal(size=density.size))


@pytest.mark.parametrize(("name", "layout"), PRIOR_CASES)
@pytest.mark.by_day(4)
def test_every_prior_is_the_one_by_hand(name: str, layout: str) -> None:
    """And its weights give the likelihood: twins are scaled, shared scales shared, as stated."""
    sizes = (INPUTS, 4, 2, 1)
    prior, array = PRIORS[name]
    density = density_of(
        sizes, prior, likelihood("gaussian", sigma=0.2), layout=layout, chunk=CHUNK
    )
    position, (x, y, _) = position_of(density, seed=1), random_rows(seed=2)

    def log_prior(q: jax.Array) -> jax.Array:
        reader = Reader(q)
        read_layers(reader, sizes, array)
        assert reader.rest.size == 0
        return reader.log_density

    def log_likelihood(q: jax.Array) -> jax.Array:
        output = evaluate(read_layers(Reader(q), sizes, array), x)
        return jnp.sum(jax.scipy.stats.norm.logpdf(y, output[:, 0], 0.2))

    assert_equal(density.log_prior, log_prior, position)
    assert_equal(density.log_likelihood, log_likelihood, position, density.place(x, y))


@pytest.mark.parametrize(("name", "layout", "errors"), LIKELIHOOD_CASES)
@pytest.mark.by_day(4)
def test_every_likelihood_is_the_one_by_hand(name: str, layout: str, errors: bool) -> None:
    """Its own variables included; the rows one by one sum to it."""
    observed = LIKELIHOODS[name]
    sizes = (INPUTS, 4, observed.outputs)
    settings: dict[str, Any] = {
        "layout": layout,
        "chunk": CHUNK,
        "errors": errors,
        "targets": observed.targets,
    }
    density = density_of(sizes, PRIORS["normal"][0], observed.likelihood, **settings)
    x, y, error = random_rows(3, observed.targets, observed.classes)
    given = (x, y, error) if errors else (x, y)
    position = position_of(density, seed=4)

    def by_hand(q: jax.Array) -> tuple[jax.Array, jax.Array]:
        reader = Reader(q)
        output = evaluate(read_layers(reader, sizes, PRIORS["normal"][1]), x)
        rows = observed.rows(reader, output, y, error if errors else jnp.zeros(()))
        assert reader.rest.size == 0
        return reader.log_density, rows

    data = density.place(*given)
    assert_equal(density.log_likelihood, lambda q: by_hand(q)[1].sum(), position, data)
    assert_equal(density.log_prior, lambda q: by_hand(q)[0], position)

    def of_row(*row: jax.Array) -> jax.Array:
        return density.log_likelihood(position, density.batch(*(value[None] for value in row)))

    rows = jax.jit(jax.vmap(of_row))(*map(jnp.asarray, given))
    np.testing.assert_allclose(rows, by_hand(position)[1], rtol=1e-10)


@pytest.mark.parametrize("name", SLOPES)
@pytest.mark.by_day(2)
def test_every_prior_of_slopes_is_the_one_by_hand(name: str) -> None:
    """One slope for each unit of both hidden layers, whose rectifiers they are."""
    sizes, (slopes, of_slopes) = (INPUTS, 4, 2, 1), SLOPES[name]
    settings: dict[str, Any] = {
        "layout": "columns",
        "chunk": CHUNK,
        "slopes": slopes,
        "activation": "prelu",
    }
    density = density_of(sizes, PRIORS["normal"][0], likelihood("gaussian", sigma=0.2), **settings)
    position, (x, y, _) = position_of(density, seed=5), random_rows(seed=6)

    def log_density(q: jax.Array) -> jax.Array:
        reader = Reader(q)
        output = evaluate(read_layers(reader, sizes, PRIORS["normal"][1], of_slopes), x, name)
        assert reader.rest.size == 0
        log_likelihood = jax.scipy.stats.norm.logpdf(y, output[:, 0], 0.2)
        return reader.log_density + jnp.sum(log_likelihood)

    assert_equal(density.log_density, log_density, position, density.place(x, y))


def test_the_jacobian_that_tensorbnn_forgot() -> None:
    """In h = sqrt(b), which TensorBNN samples, b ~ N(1, 0.1^2) has the density N(h^2) 2h."""
    density = density_of((1, 1), prior("tensorbnn"), likelihood("gaussian", sigma=0.2))
    rest = jnp.zeros(6).at[4].set(0.05)  # mean, log b and weight; the same of the bias

    def log_density_of(log_b: Any) -> jax.Array:
        return density.log_prior(rest.at[1].set(log_b))

    log_b = jnp.linspace(-1, 1, 2001)
    found = jnp.exp(jax.jit(jax.vmap(log_density_of))(log_b) - log_density_of(0.0))
    h = np.exp(log_b / 2)
    stated = norm.pdf(h**2, 1, 0.1) / norm.cdf(10) * 2 * h
    in_h = np.asarray(found) * 2 / h  # of log b = 2 log h
    np.testing.assert_allclose(in_h / in_h[1000], stated / stated[1000], rtol=1e-9)
    np.testing.assert_allclose(np.trapezoid(stated, h), 1, rtol=1e-6)
    means, scales = 2 * norm.logpdf(0, scale=0.1), norm.logpdf([1, np.exp(0.05)], 1, 0.1).sum()
    expected = means + scales + 0.05 + 2 * norm.logpdf(0)
    np.testing.assert_allclose(log_density_of(0.0), expected, rtol=1e-10)


@pytest.mark.parametrize("name", ["bernoulli", "categorical"])
@pytest.mark.parametrize("logit", [-1e4, -800.0, 800.0, 1e4])
def test_classes_far_out_have_finite_slopes(name: str, logit: float) -> None:
    """Where the exponential overflows: the log likelihood is minus the logit, or nothing."""
    likelihood, outputs = LIKELIHOODS[name].likelihood, LIKELIHOODS[name].outputs
    density = density_of((1, outputs), PRIORS["plain"][0], likelihood)
    position = jnp.zeros(density.size).at[-1].set(logit * 0.7)  # the bias of the last output
    compiled = jax.jit(jax.value_and_grad(density.log_likelihood))
    total = np.logaddexp(logit, np.log(max(outputs - 1, 1)))
    for chosen, own in ((0, 0.0), (LIKELIHOODS[name].classes - 1, logit)):
        value, gradient = compiled(position, density.place(np.zeros((1, 1)), np.array([chosen])))
        np.testing.assert_allclose(value, own - total, atol=1e-9)
        assert np.isfinite(gradient).all()
        assert np.abs(gradient).max() <= 1 / 0.7


def test_priors_get_the_role_of_each_array() -> None:
    """The facts that a prior receives about each array of a network."""
    recorded = []

    class Recorded:
        def state(self, parameters: Parameters) -> Any:
            recorded.append(parameters)
            return prior("fan_in", scale=1.0).state(parameters)

    settings: dict[str, Any] = {"targets": 2, "slopes": Recorded(), "activation": "prelu"}
    density_of((3, 4, 2), Recorded(), likelihood("gaussian", sigma=0.1), **settings)
    assert [parameters[:5] for parameters in recorded] == [
        ("weights_1", ("feature", "hidden_1"), "weights", 3, False),
        ("biases_1", ("hidden_1",), "biases", 3, False),
        ("slopes_1", ("hidden_1",), "slopes", 3, False),
        ("weights_2", ("hidden_1", "output"), "weights", 4, True),
        ("biases_2", ("output",), "biases", 4, True),
    ]
