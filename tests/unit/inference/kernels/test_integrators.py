"""What integrators conserve, on the posterior of a small network: order, reversibility, volume."""

from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from blackjax.mcmc import metrics
from blackjax.mcmc.integrators import IntegratorState, velocity_verlet

from nlobayes.inference.kernel import Posterior, Tuned
from tests.members import build_kernel

X = np.linspace(-1, 1, 8)
Y = np.sin(2 * X)
HIDDEN = 3
SIZE = 3 * HIDDEN + 1
INVERSE_MASS = np.geomspace(0.5, 2.0, SIZE)


def log_density(q: jax.Array, inverse_temperature: float | jax.Array = 1.0) -> jax.Array:
    w, b, v = q[:HIDDEN], q[HIDDEN : 2 * HIDDEN], q[2 * HIDDEN : -1]
    f = jnp.tanh(X[:, None] * w + b) @ v + q[-1]
    likelihood = -0.5 * jnp.sum((f - Y) ** 2) / 0.3**2
    return inverse_temperature * likelihood - 0.5 * jnp.sum(q**2)


def phase_point() -> tuple[jax.Array, jax.Array]:
    rng = np.random.default_rng(0)
    return jnp.asarray(0.5 * rng.normal(size=SIZE)), jnp.asarray(rng.normal(size=SIZE))


def leapfrog(q: jax.Array, p: jax.Array, step_size: float, steps: int) -> Any:
    """Position, momentum and energy after some steps of the integrator that HMC uses."""
    kinetic = metrics.default_metric(jnp.asarray(INVERSE_MASS)).kinetic_energy
    one_step = velocity_verlet(log_density, kinetic)
    state = IntegratorState(q, p, *jax.value_and_grad(log_density)(q))
    end = jax.lax.fori_loop(0, steps, lambda _, s: one_step(s, step_size), state)
    return end.position, end.momentum, kinetic(end.momentum) - end.logdensity


@cache
def compiled() -> Callable[..., Any]:
    return jax.jit(leapfrog)


def test_the_energy_error_is_of_second_order() -> None:
    """Over one length of trajectory, a step half as long errs a quarter as much."""
    q, p = phase_point()
    begin = compiled()(q, p, 0.0, 0)[2]
    errors = [abs(compiled()(q, p, 0.16 / n, 5 * n)[2] - begin) for n in (8, 16, 32, 64)]
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    np.testing.assert_allclose(orders, 2.0, atol=0.1)


def test_a_trajectory_is_reversible() -> None:
    q, p = phase_point()
    there = compiled()(q, p, 0.05, 40)
    back = compiled()(there[0], -there[1], 0.05, 40)
    assert np.abs(there[0] - q).max() > 0.1
    np.testing.assert_allclose(back[0], q, atol=1e-10)
    np.testing.assert_allclose(-back[1], p, atol=1e-10)


def test_a_trajectory_keeps_volume() -> None:
    """The Jacobian of the map of phase space has determinant 1."""
    q, p = phase_point()

    def flow(z: jax.Array) -> jax.Array:
        return jnp.concatenate(leapfrog(z[:SIZE], z[SIZE:], 0.1, 20)[:2])

    jacobian = jax.jit(jax.jacfwd(flow))(jnp.concatenate([q, p]))
    assert np.abs(jacobian - np.eye(2 * SIZE)).max() > 0.5
    np.testing.assert_allclose(np.linalg.det(jacobian), 1.0, rtol=1e-8)


@pytest.mark.parametrize("step_size", [0.02, 0.04])
@pytest.mark.by_day(1)
def test_a_fixed_length_sets_the_number_of_steps(step_size: float) -> None:
    """Length over step size, within the jitter, and never more than allowed."""
    settings: dict[str, Any] = {"jitter": 0.25, "divergence_threshold": 1000.0}
    state_of = jnp.asarray(phase_point()[0])
    for most, length in ((1000, 2.0), (30, 2.0)):
        kernel = build_kernel(
            "hmc",
            Posterior(log_density),
            integration_steps=most,
            trajectory_length=length,
            **settings,
        )
        tuned = Tuned(jnp.asarray(step_size), jnp.asarray(INVERSE_MASS))
        keys = jax.random.split(jax.random.key(1), 200)
        step = jax.jit(jax.vmap(kernel.step, (0, None, None)))
        counts = np.asarray(step(keys, kernel.init(state_of), tuned)[1].num_integration_steps)
        low, high = (round(length * share / step_size) for share in (0.75, 1.25))
        assert counts.min() >= min(low - 1, most)
        assert counts.max() <= min(high + 1, most)
        assert len(np.unique(counts)) > 5 or most == 30
