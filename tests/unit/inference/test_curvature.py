"""The Gauss-Newton mass matrix: the mean of curvatures, inverted to what its precision can hold."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nlobayes.inference.adaptation import Untuned
from nlobayes.inference.curvature import MOST_PARAMETERS, gauss_newton, invert
from nlobayes.inference.kernel import Posterior
from nlobayes.inference.warmup import adapt
from tests.members import build_kernel, build_warmup
from tests.refusals import refused

SIZE = 6


def positive_definite(seed: int, condition: float = 100.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    vectors, _ = np.linalg.qr(rng.normal(size=(SIZE, SIZE)))
    return vectors @ np.diag(np.geomspace(1, condition, SIZE)) @ vectors.T


def test_it_is_the_inverse_of_the_mean_over_the_window() -> None:
    """And a new window begins with nothing in it."""
    matrices = jnp.stack([jnp.asarray(positive_definite(seed)) for seed in range(3)])
    core = gauss_newton(lambda position: matrices[position[0].astype(int)])
    state = core.init(SIZE)
    np.testing.assert_array_equal(state.inverse_mass_matrix, np.eye(SIZE))
    for which in (0, 1, 2):
        state = core.update(state, jnp.full(SIZE, which), None)
    state = core.final(state)
    mean = np.mean(matrices, axis=0)
    np.testing.assert_allclose(state.inverse_mass_matrix, np.linalg.inv(mean), rtol=1e-9)
    again = core.final(core.update(state, jnp.full(SIZE, 1.0), None))
    expected = np.linalg.inv(positive_definite(1))
    np.testing.assert_allclose(again.inverse_mass_matrix, expected, rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("condition", [1e2, 1e8])
def test_the_inverse_can_be_factored(dtype: type, condition: float) -> None:
    """Exact where precision allows, else as stiff as it holds; always positive definite."""
    matrix = positive_definite(3, condition)
    with jax.enable_x64(dtype is np.float64):
        inverse = np.asarray(invert(jnp.asarray(matrix, dtype)))
        factor = np.asarray(jnp.linalg.cholesky(jnp.asarray(inverse)))
    assert np.isfinite(factor).all()
    np.testing.assert_array_equal(inverse, inverse.T)
    relative = np.linalg.eigvals(matrix @ inverse.astype(float)).real
    most = np.finfo(dtype).eps ** (-2 / 3)
    if condition < most:
        np.testing.assert_allclose(relative, 1.0, rtol=1e-2 if dtype is np.float32 else 1e-6)
    else:
        lost = max(1.0, condition * float(np.finfo(dtype).eps))  # what is softer cannot be resolved
        assert relative.min() > 0.9 / lost
        assert relative.max() < 1.1 * condition / most


def test_a_warm_up_learns_it_exactly_on_a_gaussian() -> None:
    """One position suffices, where draws would give the covariance to ten per cent."""
    precision = jnp.asarray(positive_definite(4, 1e4))
    kernel = build_kernel(
        "hmc",
        Posterior(lambda q, b=1.0: -0.5 * b * q @ precision @ q),
        integration_steps=4,
        jitter=0.2,
    )
    adaptation = build_warmup(
        "windows",
        Untuned(kernel, curvature=lambda q: precision),
        steps=150,
        adaptation_share=1.0,
        mass_matrix="gauss_newton",
        target_acceptance=0.8,
        initial_step_size=0.001,
    )
    carry = adaptation.start(jnp.ones((1, SIZE)))
    keys = jax.random.key(0)[None]
    carry, _, _ = jax.jit(lambda c: adapt(keys, adaptation, c, first=0, steps=150))(carry)
    _, tuned = adaptation.finish(carry)
    np.testing.assert_allclose(
        tuned.inverse_mass_matrix[0], np.linalg.inv(precision), rtol=1e-6, atol=1e-12
    )
    assert 0.3 < tuned.step_size[0] < 2  # that of a standard Gaussian


def test_too_many_parameters_are_refused() -> None:
    core = gauss_newton(lambda position: jnp.eye(len(position)))
    with refused("inference.dense_curvature", where="warmup.mass_matrix", parameters=4001):
        core.init(MOST_PARAMETERS + 1)
