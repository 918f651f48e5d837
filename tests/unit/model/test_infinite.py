"""The infinitely wide network against finite ones, a dense normal, and numerical slopes."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import erf
from scipy.stats import multivariate_normal

from nlobayes.model.conditioning import differentiable_curve, log_evidence
from nlobayes.model.infinite import (
    EXPONENTS,
    INPUTS,
    Scales,
    covariance,
    scaled_inputs,
    variance,
    warp_of,
)

GATES = {"erf": erf, "relu": lambda x: np.maximum(x, 0)}
SCALES = Scales(bias=0.8, output=1.7)
WITH_COSINES = Scales(bias=0.8, output=1.7, cosines=1.3)


@pytest.fixture(autouse=True)
def _double() -> None:
    jax.config.update("jax_enable_x64", True)


def _inputs(rows: int = 6) -> np.ndarray:
    return np.random.default_rng(3).normal(size=(rows, 2))


@pytest.mark.parametrize("activation", GATES)
@pytest.mark.parametrize("units", [2**10, 2**16])
def test_finite_networks_have_its_covariance(activation: str, units: int) -> None:
    """Within five standard errors of the mean over units, for each pair of rows."""
    inputs, rng = _inputs(), np.random.default_rng(units)
    hidden = GATES[activation](
        inputs @ rng.normal(size=(2, units)) + SCALES.bias * rng.normal(size=units)
    )
    products = hidden[:, None] * hidden[None]
    found = 1 + SCALES.output**2 * products.mean(axis=-1)
    error = SCALES.output**2 * products.std(axis=-1) / np.sqrt(units)
    closed = covariance(activation, inputs, inputs, SCALES, np)
    assert np.all(np.abs(found - closed) < 5 * error)


@pytest.mark.parametrize("units", [2**10, 2**16])
def test_finite_networks_have_its_covariance_of_cosines(units: int) -> None:
    """Of the cosine units alone, within five standard errors, for each pair of rows."""
    inputs, rng = _inputs(), np.random.default_rng(units)
    weights = rng.normal(size=(2, units)) / np.sqrt(WITH_COSINES.bias**2 + 0.5)
    hidden = np.sqrt(2) * np.cos(inputs @ weights + rng.uniform(0, 2 * np.pi, units))
    products = 1.3**2 * hidden[:, None] * hidden[None]
    error = products.std(axis=-1) / np.sqrt(units)
    both, without = (covariance("erf", inputs, inputs, s, np) for s in (WITH_COSINES, SCALES))
    assert np.all(np.abs(products.mean(axis=-1) - (both - without)) < 5 * error)


@pytest.mark.parametrize("activation", GATES)
@pytest.mark.parametrize("scales", [SCALES, WITH_COSINES])
def test_the_variance_is_the_diagonal_of_the_covariance(activation: str, scales: Scales) -> None:
    inputs = _inputs()
    whole = covariance(activation, inputs, inputs, scales, np)
    np.testing.assert_allclose(variance(activation, inputs, scales, np), np.diag(whole), rtol=1e-13)


@pytest.mark.parametrize("activation", GATES)
@pytest.mark.parametrize("noise", [1e-4, 0.3])
@pytest.mark.parametrize("cosines", [(), (0.4,)])
def test_the_evidence_and_its_slopes_are_those_of_a_dense_normal(
    activation: str, noise: float, cosines: tuple[float, ...]
) -> None:
    inputs = _inputs(25)
    target = np.sin(inputs[:, 0]) + noise * np.random.default_rng(1).normal(size=25)
    curve = differentiable_curve(activation)

    def evidence(logs: jax.Array) -> jax.Array:
        scaled = jnp.asarray(inputs) * jnp.exp(logs[:2])
        scales = Scales(*jnp.exp(logs[3:]))
        whole = covariance(activation, scaled, scaled, scales, jnp, curve)
        return log_evidence(whole + jnp.exp(2 * logs[2]) * jnp.eye(25), jnp.asarray(target))

    def dense(logs: np.ndarray) -> float:
        scaled, scales = inputs * np.exp(logs[:2]), Scales(*np.exp(logs[3:]))
        whole = covariance(activation, scaled, scaled, scales, np) + np.exp(2 * logs[2]) * np.eye(
            25
        )
        return float(multivariate_normal(cov=whole).logpdf(target))

    at = np.array([0.1, -0.3, *np.log([noise, 0.8, 1.7, *cosines])])
    value, slopes = jax.jit(jax.value_and_grad(evidence))(jnp.asarray(at))
    assert float(value) == pytest.approx(dense(at), rel=1e-10, abs=1e-8)
    step = 1e-5 * np.eye(len(at))
    numerical = [(dense(at + one) - dense(at - one)) / 2e-5 for one in step]
    np.testing.assert_allclose(slopes, numerical, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("rows", [256, 257, 600])
def test_the_slope_of_many_rows_is_that_of_their_inverse(rows: int) -> None:
    """The inverse is computed by halves; (a a' - C^-1) / 2 with a = C^-1 y, to rounding."""
    inputs = _inputs(rows)
    whole = covariance("erf", inputs, inputs, SCALES, np) + 0.1 * np.eye(rows)
    target = np.sin(inputs[:, 0])
    inverse = np.linalg.inv(whole)
    expected = (np.outer(inverse @ target, inverse @ target) - inverse) / 2
    found = jax.jit(jax.grad(log_evidence))(jnp.asarray(whole), jnp.asarray(target))
    np.testing.assert_allclose(found, expected, atol=1e-10 * np.abs(expected).max())


def test_equal_rows_have_finite_slopes() -> None:
    inputs = np.repeat(_inputs(2), 2, axis=0)
    for activation in GATES:
        curve = differentiable_curve(activation)

        def total(scale: jax.Array, activation: str = activation, curve=curve) -> jax.Array:  # type: ignore[no-untyped-def]
            scaled = jnp.asarray(inputs) * scale
            return covariance(activation, scaled, scaled, SCALES, jnp, curve).sum()

        assert np.isfinite(jax.jit(jax.grad(total))(1.3))


def test_the_arcsine_is_that_of_numpy() -> None:
    x = np.linspace(-1, 1, 20001)
    curve = np.asarray(differentiable_curve("erf")(jnp.asarray(x)))
    np.testing.assert_allclose(curve, 2 / np.pi * np.arcsin(x), atol=3e-16)


def test_a_warp_is_the_transform_of_box_and_cox_with_slope_one_at_the_mean() -> None:
    x = np.array([[0.5, -1.0], [2.0, 0.5], [4.5, 2.0]])
    mean, sd = x.mean(axis=0), x.std(axis=0)
    z = (x - mean) / sd
    warp = warp_of(z, {"mean": mean, "scale": sd})
    np.testing.assert_allclose(warp.ratios, [sd[0] / mean[0], 0])

    def warped(exponent: float) -> np.ndarray:
        parameters = {INPUTS: np.ones(2), EXPONENTS: np.array([exponent, 7.0])}
        return scaled_inputs(parameters, z, warp, np)

    for exponent in (-1.0, 0.5, 1.0, 2.0):
        expected = ((x[:, 0] / mean[0]) ** exponent - 1) / exponent / warp.ratios[0]
        np.testing.assert_allclose(warped(exponent)[:, 0], expected, rtol=1e-12)
        np.testing.assert_array_equal(warped(exponent)[:, 1], z[:, 1])
    logarithm = np.log(x[:, 0] / mean[0]) / warp.ratios[0]
    np.testing.assert_allclose(warped(0.0)[:, 0], logarithm, rtol=1e-12)
    np.testing.assert_allclose(warped(1e-12)[:, 0], logarithm, rtol=1e-9)

    def total(exponents: jax.Array) -> jax.Array:
        parameters = {INPUTS: np.ones(2), EXPONENTS: exponents}
        return scaled_inputs(parameters, z, warp, jnp).sum()

    assert np.all(np.isfinite(jax.jit(jax.grad(total))(jnp.zeros(2))))


def test_principal_components_are_not_warped() -> None:
    constants = {"mean": [1.0, 2.0, 3.0], "scale": [1.0], "components": [[1.0, 0.0, 0.0]]}
    np.testing.assert_array_equal(warp_of(np.zeros((4, 1)), constants).ratios, [0.0])


def test_a_zero_counts_as_a_tenth_of_the_smallest_positive_value() -> None:
    x = np.array([[0.0], [1.0], [5.0]])
    z = (x - 2) / 2
    warp = warp_of(z, {"mean": [2.0], "scale": [2.0]})
    parameters = {INPUTS: np.ones(1), EXPONENTS: np.zeros(1)}
    found = scaled_inputs(parameters, z, warp, np)
    np.testing.assert_allclose(found, np.log([[0.05], [0.5], [2.5]]))
