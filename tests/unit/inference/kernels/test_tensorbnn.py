"""HMC with learned step size and number of steps: it uses the tuned values, and is exact."""

from typing import Any

import arviz
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm

from nlobayes.inference.kernel import Posterior, Tuned
from nlobayes.inference.sampling import draw
from nlobayes.kernels.tensorbnn import TunedSteps
from tests.members import build_kernel

COVARIANCE = np.array([[1.0, 0.95 * 2.0], [0.95 * 2.0, 4.0]])
PRECISION = np.linalg.inv(COVARIANCE)
CHAINS = 8


def log_gaussian(position: jax.Array, inverse_temperature: float | jax.Array = 1.0) -> jax.Array:
    return -0.5 * inverse_temperature * position @ PRECISION @ position


def tuned(step_size: float, integration_steps: int) -> TunedSteps:
    return TunedSteps(jnp.asarray(step_size), jnp.ones(2), jnp.asarray(integration_steps))


KERNEL = build_kernel("tensorbnn", Posterior(log_gaussian), divergence_threshold=1000.0)


step = jax.jit(KERNEL.step)


def test_equals_hmc_of_that_many_steps() -> None:
    fixed = build_kernel(
        "hmc", Posterior(log_gaussian), integration_steps=7, jitter=0.0, divergence_threshold=1000.0
    )
    state, step_fixed = KERNEL.init(jnp.array([0.3, -0.5])), jax.jit(fixed.step)
    for seed in range(5):
        key_steps, key_transition = jax.random.split(jax.random.key(seed))
        del key_steps  # HMC draws its number of steps with it
        new, info = step(key_transition, state, tuned(0.2, 7))
        expected = step_fixed(jax.random.key(seed), state, Tuned(jnp.asarray(0.2), jnp.ones(2)))
        jax.tree.map(np.testing.assert_array_equal, (new, info), expected)


def test_divergence_keeps_the_state() -> None:
    state = KERNEL.init(jnp.array([0.3, -0.5]))
    new, info = step(jax.random.key(0), state, tuned(50.0, 30))
    assert info.is_divergent
    jax.tree.map(np.testing.assert_array_equal, new, state)


@pytest.mark.statistical
def test_moments_of_a_correlated_gaussian() -> None:
    """Means, variances and covariance: z of each below the 0.1 % quantile for five."""
    keys = jax.random.split(jax.random.key(1), CHAINS)
    learned = jax.tree.map(lambda x: jnp.stack([x] * CHAINS), tuned(0.25, 6))
    starts = jax.vmap(KERNEL.init)(jnp.zeros((CHAINS, 2)))
    options: dict[str, Any] = {"first": 0, "kept": 2200, "thin": 1}
    _, draws = jax.jit(
        lambda states: draw(keys, KERNEL, states, learned, observe=lambda q: q[0], **options)
    )(starts)
    assert_moments(np.asarray(draws.kept[:, 200:]))
    assert 0.6 < draws.info.acceptance_rate.mean() < 0.999


def assert_moments(kept: np.ndarray) -> None:
    x, y = kept[..., 0], kept[..., 1]
    moments = {"mean x": (x, 0.0), "mean y": (y, 0.0)}
    moments |= {"var x": (x**2, 1.0), "var y": (y**2, 4.0), "cov": (x * y, COVARIANCE[0, 1])}
    for name, (values, truth) in moments.items():
        assert arviz.ess(values, method="mean") > 1000, name
        z = abs(values.mean() - truth) / arviz.mcse(values, method="mean")
        assert z < norm.isf(0.001 / (2 * len(moments))), f"{name}: z={z:.1f}"
