"""Adjusted microcanonical dynamics: its trajectories, their lengths, and exact moments."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm

from nlobayes.diagnostics.autocorrelation import integrated_time
from nlobayes.inference.kernel import Kernel, Posterior
from nlobayes.inference.sampling import draw
from nlobayes.kernels.mclmc import MomentumState, TunedMomentum
from tests.members import build_kernel

SETTINGS: dict[str, Any] = {"most_integration_steps": 20, "jitter": 1.0}
SD = np.array([0.5, 1.0, 2.0])
INVERSE_MASS = np.array([0.2, 1.0, 3.0])
START = np.array([0.4, -1.0, 1.5])


def log_gaussian(q: jax.Array) -> jax.Array:
    return -0.5 * jnp.sum((q / SD.astype(q.dtype)) ** 2)


def build(log_density: Any = log_gaussian, **changed: Any) -> Kernel:
    return build_kernel("adjusted_mclmc", Posterior(log_density), **SETTINGS | changed)


def tuned(step_size: float, length: float) -> TunedMomentum:
    return TunedMomentum(jnp.asarray(step_size), jnp.asarray(INVERSE_MASS), jnp.asarray(length))


def test_trajectory_is_that_of_the_unadjusted_kernel_without_noise() -> None:
    """The momentum that a key draws is read off a step so small that the gradient is nothing."""
    tiny, accepted = 1e-7, 0
    log_density: Any = log_gaussian
    adjusted, free = (
        build(jitter=0.0),
        build_kernel("mclmc", Posterior(log_density), integration_steps=3),
    )
    state = adjusted.init(jnp.asarray(START))
    step, flow = jax.jit(adjusted.step), jax.jit(free.step)
    for seed in range(10):
        key = jax.random.key(seed)
        moved = step(key, state, tuned(tiny, tiny))[0].position - START
        momentum = moved / tiny / np.sqrt(INVERSE_MASS)
        np.testing.assert_allclose(jnp.linalg.norm(momentum), 1, rtol=1e-6)
        end, _ = flow(key, MomentumState(state.position, momentum, *state[1:]), tuned(0.5, np.inf))
        new, info = step(key, state, tuned(0.5, 1.5))
        assert info.num_integration_steps == 6
        assert np.isnan(info.energy)
        if not np.array_equal(new.position, START):
            accepted += 1
            np.testing.assert_allclose(new.position, end.position, rtol=1e-5)
    assert accepted >= 5


@pytest.mark.parametrize(
    ("jitter", "length", "expected"),
    [(0.0, 1.0, [10]), (0.25, 0.8, range(6, 11)), (1.0, 3.0, range(1, 21)), (0.5, 0.01, [1])],
)
@pytest.mark.by_day(1)
def test_number_of_steps_is_around_the_decoherence_length(
    jitter: float, length: float, expected: Any
) -> None:
    """Uniform steps of 0.1, two gradients each, at least one and at most 20."""
    kernel = build(jitter=jitter)
    state = kernel.init(jnp.asarray(START))
    keys = jax.random.split(jax.random.key(1), 1000)
    _, info = jax.jit(jax.vmap(lambda key: kernel.step(key, state, tuned(0.1, length))))(keys)
    assert np.unique(info.num_integration_steps).tolist() == [2 * n for n in expected]


@pytest.mark.statistical
@pytest.mark.parametrize(("step_size", "most"), [(0.75, 20), (1.2, 3)])
@pytest.mark.by_day(1)
def test_moments_of_a_correlated_gaussian(step_size: float, most: int) -> None:
    """Means and covariances at correlation 0.95, at a joint significance of 0.001.

    With a step that rejects a third, and with trajectories cut short.
    """
    mean, sd = np.array([1.0, -2.0, 0.5]), np.array([0.5, 1.0, 2.0])
    correlation = np.array([[1, 0.95, 0], [0.95, 1, 0], [0, 0, 1]])
    covariance = correlation * np.outer(sd, sd)
    precision = np.linalg.inv(covariance)
    kernel = build(
        lambda q: -0.5 * (q - mean) @ precision @ (q - mean), most_integration_steps=most
    )
    chains = 4
    learned = TunedMomentum(
        jnp.full(chains, step_size), jnp.tile(sd**2, (chains, 1)), jnp.full(chains, 3.0)
    )
    starts = mean + sd * jax.random.normal(jax.random.key(4), (chains, 3))

    def quantities(q: jax.Array) -> jax.Array:
        return jnp.concatenate([q, jnp.outer(q - mean, q - mean)[jnp.triu_indices(3)]])

    def run(keys: jax.Array) -> Any:
        only: dict[str, Any] = {"first": 0, "kept": 10000, "thin": 1}
        states = jax.jit(jax.vmap(kernel.init))(starts)
        return draw(keys, kernel, states, learned, observe=quantities, **only)

    _, draws = jax.jit(run)(jax.random.split(jax.random.key(5), chains))
    values = np.asarray(draws.observed)
    assert 0.4 < draws.info.acceptance_rate.mean() < 0.9
    effective = values.shape[0] * values.shape[1] / integrated_time(values)
    assert effective.min() > 1000
    expected = np.concatenate([mean, covariance[np.triu_indices(3)]])
    z = (values.mean((0, 1)) - expected) / (values.std((0, 1)) / np.sqrt(effective))
    assert np.abs(z).max() < norm.isf(0.001 / (2 * len(expected))), z
