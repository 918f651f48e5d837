"""HMC with learned step size and number of steps: it uses the tuned values, and is exact."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nlobayes.inference.kernel import Posterior, Tuned
from nlobayes.inference.sampling import draw
from nlobayes.kernels.tensorbnn import TunedSteps
from tests.members import build_kernel
from tests.unit.inference.kernels.correlated import assert_moments, log_gaussian

CHAINS = 8


def tuned(step_size: float, integration_steps: int) -> TunedSteps:
    return TunedSteps(jnp.asarray(step_size), jnp.ones(2), jnp.asarray(integration_steps))


KERNEL = build_kernel("tensorbnn", Posterior(log_gaussian))
step = jax.jit(KERNEL.step)


def test_equals_hmc_of_that_many_steps() -> None:
    fixed = build_kernel("hmc", Posterior(log_gaussian), integration_steps=7, jitter=0.0)
    state, step_fixed = KERNEL.init(jnp.array([0.3, -0.5])), jax.jit(fixed.step)
    for seed in range(5):
        key_steps, key_transition = jax.random.split(jax.random.key(seed))
        del key_steps  # HMC draws its number of steps with it
        new, info = step(key_transition, state, tuned(0.2, 7))
        expected = step_fixed(jax.random.key(seed), state, Tuned(jnp.asarray(0.2), jnp.ones(2)))
        jax.tree.map(np.testing.assert_array_equal, (new, info), expected)


@pytest.mark.statistical
def test_moments_of_a_correlated_gaussian() -> None:
    keys = jax.random.split(jax.random.key(1), CHAINS)
    learned = jax.tree.map(lambda x: jnp.stack([x] * CHAINS), tuned(0.25, 6))
    starts = jax.vmap(KERNEL.init)(jnp.zeros((CHAINS, 2)))
    options: dict[str, Any] = {"first": 0, "kept": 2200, "thin": 1}
    _, draws = jax.jit(
        lambda states: draw(keys, KERNEL, states, learned, observe=lambda q: q[0], **options)
    )(starts)
    assert_moments(np.asarray(draws.kept[:, 200:]))
    assert 0.6 < draws.info.acceptance_rate.mean() < 0.999
