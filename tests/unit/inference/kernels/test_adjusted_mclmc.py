"""Adjusted microcanonical dynamics: exact moments, trajectory lengths, and what it never does."""

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

SETTINGS: dict[str, Any] = {
    "most_integration_steps": 20,
    "jitter": 1.0,
    "divergence_threshold": 1000.0,
}
SD = np.array([0.5, 1.0, 2.0])
INVERSE_MASS = np.array([0.2, 1.0, 3.0])
START = np.array([0.4, -1.0, 1.5])


def log_gaussian(q: jax.Array) -> jax.Array:
    return -0.5 * jnp.sum((q / SD.astype(q.dtype)) ** 2)


def build(log_density: Any = log_gaussian, **changed: Any) -> Kernel:
    return build_kernel("adjusted_mclmc", Posterior(log_density), **SETTINGS | changed)


def tuned(step_size: float, length: float, dtype: Any = np.float64) -> TunedMomentum:
    return TunedMomentum(
        jnp.asarray(step_size, dtype), jnp.asarray(INVERSE_MASS, dtype), jnp.asarray(length, dtype)
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_state_keeps_its_types(dtype: Any) -> None:
    with jax.enable_x64(dtype is np.float64):
        kernel = build()
        state = kernel.init(jnp.asarray(START, dtype))
        new, info = jax.jit(kernel.step)(jax.random.key(0), state, tuned(0.3, 1.0, dtype))
    assert {leaf.dtype for leaf in new} == {np.dtype(dtype)}
    assert jax.tree.map(jnp.shape, new) == jax.tree.map(jnp.shape, state)
    assert all(jnp.shape(value) == () for value in jax.tree.leaves(info))
    assert info.is_divergent.dtype == bool
    assert kernel.exact is True


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


def test_every_gradient_is_counted() -> None:
    calls = []

    def counted(q: jax.Array) -> jax.Array:
        calls.append(1)
        return log_gaussian(q)

    kernel = build(counted, jitter=0.0)
    state = kernel.init(jnp.asarray(START))
    calls.clear()
    with jax.disable_jit():
        _, info = kernel.step(jax.random.key(0), state, tuned(0.1, 0.4))
    assert len(calls) == info.num_integration_steps == 8


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
        states = jax.vmap(kernel.init)(starts)
        return draw(keys, kernel, states, learned, observe=quantities, **only)

    _, draws = jax.jit(run)(jax.random.split(jax.random.key(5), chains))
    values = np.asarray(draws.observed)
    assert 0.4 < draws.info.acceptance_rate.mean() < 0.9
    effective = values.shape[0] * values.shape[1] / integrated_time(values)
    assert effective.min() > 1000
    expected = np.concatenate([mean, covariance[np.triu_indices(3)]])
    z = (values.mean((0, 1)) - expected) / (values.std((0, 1)) / np.sqrt(effective))
    assert np.abs(z).max() < norm.isf(0.001 / (2 * len(expected))), z


def test_never_enters_a_region_of_no_density() -> None:
    """A trajectory into it is rejected as divergent and the state kept bit for bit."""
    kernel = build(lambda q: jnp.where(q[0] > 0, log_gaussian(q), jnp.nan))
    state, step, divergent = kernel.init(jnp.asarray(START)), jax.jit(kernel.step), []
    for seed in range(100):
        new, info = step(jax.random.key(seed), state, tuned(0.3, 1.0))
        divergent.append(bool(info.is_divergent))
        if info.is_divergent:
            jax.tree.map(np.testing.assert_array_equal, new, state)
            assert info.acceptance_rate == 0
        assert new.position[0] > 0
        assert all(
            np.isfinite(leaf).all() for leaf in jax.tree.leaves((new, info._replace(energy=0)))
        )
        state = new
    assert any(divergent)
    assert not all(divergent)


def test_divergence_threshold_is_passed_on() -> None:
    for threshold, expected in ((1e-8, True), (1e8, False)):
        kernel = build(divergence_threshold=threshold)
        state, step = kernel.init(jnp.asarray(START)), jax.jit(kernel.step)
        infos = [step(jax.random.key(seed), state, tuned(0.9, 3.0))[1] for seed in range(10)]
        assert any(info.is_divergent for info in infos) == expected
