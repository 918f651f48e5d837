"""Unadjusted microcanonical dynamics: by hand, its noise, its bias, and what it never does."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nlobayes.inference.kernel import Info, Kernel, Posterior
from nlobayes.inference.sampling import draw
from nlobayes.kernels.mclmc import MomentumState, TunedMomentum
from tests.members import build_kernel
from tests.refusals import refused

PRECISION = np.array([4.0, 1.0, 0.25, 2.0])
INVERSE_MASS = np.array([0.2, 1.0, 3.0, 0.5])
START = np.array([0.4, -1.0, 1.5, 0.2])
MCLACHLAN = 0.1931833275037836  # McLachlan (1995), the minimal norm integrator


def log_gaussian(q: jax.Array) -> jax.Array:
    return -0.5 * jnp.sum(PRECISION.astype(q.dtype) * q**2)


def build(log_density: Any = log_gaussian, *, integration_steps: int = 4) -> Kernel:
    return build_kernel("mclmc", Posterior(log_density), integration_steps=integration_steps)


def tuned(step_size: float, length: float = np.inf, dtype: Any = np.float64) -> TunedMomentum:
    return TunedMomentum(
        jnp.asarray(step_size, dtype), jnp.asarray(INVERSE_MASS, dtype), jnp.asarray(length, dtype)
    )


def turn(u: np.ndarray, q: np.ndarray, time: float) -> tuple[np.ndarray, float]:
    """Solve the momentum's motion in a constant gradient by hyperbolic functions."""
    gradient = -PRECISION * q * np.sqrt(INVERSE_MASS)
    size = np.linalg.norm(gradient)
    along, angle = gradient / size, time * size / (len(q) - 1)
    cosine = along @ u
    scale = np.cosh(angle) + cosine * np.sinh(angle)
    turned = u + along * (np.sinh(angle) + cosine * (np.cosh(angle) - 1))
    return turned / scale, (len(q) - 1) * np.log(scale)


def step_by_hand(q: np.ndarray, u: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Position, momentum and energy error of one McLachlan step."""
    end, kinetic = q, 0.0
    for share in (MCLACHLAN, 1 - 2 * MCLACHLAN, MCLACHLAN):
        u, change = turn(u, end, share * step)
        kinetic += change
        if share != MCLACHLAN or end is q:
            end = end + step / 2 * np.sqrt(INVERSE_MASS) * u
    return end, u, kinetic + 0.5 * np.sum(PRECISION * (end**2 - q**2))


def test_steps_are_isokinetic_mclachlan_by_hand() -> None:
    """Without noise: position, momentum, and the mean square of the energy errors."""
    kernel = build(integration_steps=3)
    state = kernel.init(jnp.asarray(START))
    new, info = jax.jit(kernel.step)(jax.random.key(0), state, tuned(0.9))
    q, u, errors = START, np.asarray(state.momentum), []
    for _ in range(3):
        q, u, error = step_by_hand(q, u, 0.9)
        errors.append(error)
    np.testing.assert_allclose(new.position, q, rtol=1e-9)
    np.testing.assert_allclose(new.momentum, u, rtol=1e-9)
    np.testing.assert_allclose(new.logdensity, log_gaussian(new.position), rtol=1e-12)
    np.testing.assert_allclose(new.logdensity_grad, -PRECISION * q, rtol=1e-9)
    assert np.isnan(info.energy)
    np.testing.assert_allclose(info.extra["energy_variance"], np.mean(np.square(errors)) / 4)
    assert np.abs(errors).min() > 1e-5


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-6), (np.float64, 1e-14)])
def test_momentum_keeps_its_length(dtype: Any, tolerance: float) -> None:
    with jax.enable_x64(dtype is np.float64):
        kernel = build(integration_steps=50)
        state, step = kernel.init(jnp.asarray(START, dtype)), jax.jit(kernel.step)
        for seed in range(20):
            state, _ = step(jax.random.key(seed), state, tuned(0.5, 2.0, dtype))
            np.testing.assert_allclose(np.linalg.norm(state.momentum), 1, atol=tolerance)


@pytest.mark.statistical
def test_momentum_forgets_its_direction_over_the_decoherence_length() -> None:
    """On a flat density its mean cosine after a path s is exp(-s / L), to 4 standard errors."""
    kernel = build(lambda q: jnp.sum(0 * q), integration_steps=20)
    state = kernel.init(jnp.zeros(50))
    learned = TunedMomentum(jnp.asarray(0.1), jnp.ones(50), jnp.asarray(2.0))
    keys = jax.random.split(jax.random.key(1), 400)
    new, _ = jax.jit(jax.vmap(lambda key: kernel.step(key, state, learned)))(keys)
    cosine = np.asarray(new.momentum @ state.momentum)
    error = cosine.std() / np.sqrt(400)
    assert error < 0.01
    np.testing.assert_allclose(cosine.mean(), np.exp(-1), atol=4 * error)


def test_undoes_steps_that_leave_the_finite_numbers() -> None:
    """Half the space has log density NaN: the chain never enters it and marks divergences."""
    kernel = build(lambda q: jnp.where(q[0] > 0, log_gaussian(q), jnp.nan), integration_steps=4)
    state, step, divergent = kernel.init(jnp.asarray(START)), jax.jit(kernel.step), []
    for seed in range(100):
        state, info = step(jax.random.key(seed), state, tuned(0.2, 2.0))
        divergent.append(bool(info.is_divergent))
        assert state.position[0] > 0
        assert all(
            np.isfinite(leaf).all() for leaf in jax.tree.leaves((state, info._replace(energy=0)))
        )
    assert any(divergent)
    assert not all(divergent)


def test_stays_where_no_step_is_finite() -> None:
    """The energy variance is then infinite, not that of steps that were not made."""
    kernel = build(
        lambda q: jnp.where((q == START).all(), log_gaussian(q), jnp.nan), integration_steps=4
    )
    state = kernel.init(jnp.asarray(START))
    new, info = jax.jit(kernel.step)(jax.random.key(0), state, tuned(0.2, 2.0))
    np.testing.assert_array_equal(new.position, state.position)
    np.testing.assert_array_equal(new.logdensity, state.logdensity)
    assert info.is_divergent
    assert info.extra["energy_variance"] == np.inf
    assert info.num_integration_steps == 8


@pytest.mark.statistical
@pytest.mark.slow
def test_is_biased_by_its_step_and_less_by_a_shorter_one() -> None:
    """Mean square per dimension, 1 for the target; 10000 draws of 10 give it to 0.01."""
    kernel = build(lambda q: -0.5 * jnp.sum(q**2), integration_steps=8)
    states: MomentumState = jax.jit(jax.vmap(kernel.init))(
        jax.random.normal(jax.random.key(2), (4, 10))
    )
    keys = jax.random.split(jax.random.key(3), 4)

    @jax.jit
    def sample(step_size: jax.Array) -> tuple[jax.Array, Info]:
        learned = TunedMomentum(
            jnp.full(4, step_size), jnp.ones((4, 10)), jnp.full(4, float(np.sqrt(10)))
        )
        only: dict[str, Any] = {"first": 0, "kept": 2500, "thin": 1}
        _, draws = draw(keys, kernel, states, learned, observe=lambda q: jnp.mean(q**2), **only)
        return draws.observed, draws.info

    bias, variance = [], []
    for step_size in (7.0, 3.5, 1.0):
        squares, info = sample(jnp.asarray(step_size))
        bias.append(abs(squares.mean() - 1))
        variance.append(info.extra["energy_variance"].mean())
    assert bias[0] > 0.08
    assert bias[0] > 2 * bias[1]
    assert bias[1] < 0.06
    assert bias[2] < 0.02
    assert variance[0] > 10 * variance[1] > 100 * variance[2]


def test_one_parameter_is_refused() -> None:
    kernel = build(lambda q: -jnp.sum(q**2), integration_steps=4)
    with refused("inference.one_parameter", parameters=1):
        kernel.init(jnp.zeros(1))
