"""HMC of the entries that move, at fixed values of the others, then what the others draw."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nlobayes.inference.kernel import Info, Posterior, State, Tuned
from nlobayes.model.conditionals import Conjugates
from tests.members import build_kernel

SETTINGS: dict[str, Any] = {
    "integration_steps": 6,
    "jitter": 0.5,
    "divergence_threshold": 1000.0,
}
HELD, MOVING = np.array([2, 0]), np.array([1, 3])
START = jnp.array([0.4, -1.0, 1.5, 0.2])
ROOT = np.array([[1.0, 0.3, 0, 0], [0, 1, 0.4, 0], [0, 0, 1, 0.2], [0, 0, 0, 1]])
DENSE = ROOT.T @ ROOT


def log_density(q: jax.Array, inverse_temperature: Any = 1.0) -> jax.Array:
    return -0.5 * inverse_temperature * q @ DENSE @ q - 0.1 * jnp.sum(q**4)


def stay(key: jax.Array, position: jax.Array) -> jax.Array:
    del key
    return position


def jump(key: jax.Array, position: jax.Array) -> jax.Array:
    """Draw what is held, and shift what moves."""
    return position.at[HELD].set(jax.random.normal(key, (2,))).at[MOVING].add(0.1)


def step(
    refresh: Any, inverse_mass: Any, seed: int = 0, start: jax.Array = START
) -> tuple[State, Info]:
    kernel = build_kernel(
        "gibbs_hmc", Posterior(log_density, Conjugates(refresh, HELD)), **SETTINGS
    )
    tuned = Tuned(jnp.asarray(0.3), jnp.asarray(inverse_mass))
    return jax.jit(kernel.step)(jax.random.key(seed), kernel.init(start), tuned)


@pytest.mark.parametrize("inverse_mass", [np.array([0.2, 1.0, 3.0, 0.5]), DENSE], ids=np.ndim)
def test_what_moves_is_hmc_with_its_part_of_the_mass_matrix(inverse_mass: np.ndarray) -> None:
    def part_density(part: jax.Array, inverse_temperature: Any = 1.0) -> jax.Array:
        return log_density(START.at[MOVING].set(part), inverse_temperature)

    kernel = build_kernel("hmc", Posterior(part_density), **SETTINGS)
    both = inverse_mass[MOVING]
    tuned = Tuned(jnp.asarray(0.3), jnp.asarray(both if both.ndim == 1 else both[:, MOVING]))
    for seed in range(5):
        key, _ = jax.random.split(jax.random.key(seed))
        expected, alone = jax.jit(kernel.step)(key, kernel.init(START[MOVING]), tuned)
        found, info = step(stay, inverse_mass, seed)
        np.testing.assert_allclose(found.position[MOVING], expected.position, rtol=1e-12)
        np.testing.assert_array_equal(found.position[HELD], START[HELD])
        np.testing.assert_allclose(info.energy, alone.energy, rtol=1e-12)
        np.testing.assert_allclose(info.acceptance_rate, alone.acceptance_rate, rtol=1e-12)
        assert info.num_integration_steps == alone.num_integration_steps + 1


def test_the_state_is_evaluated_after_the_refresh() -> None:
    """Log density and gradient are those of the new position, the energy keeps the momentum's."""
    for seed in range(5):
        stayed, before = step(stay, np.ones(4), seed)
        new, info = step(jump, np.ones(4), seed)
        np.testing.assert_allclose(new.position[MOVING], stayed.position[MOVING] + 0.1, rtol=1e-12)
        assert (new.position[HELD] != START[HELD]).all()
        value, gradient = jax.value_and_grad(log_density)(new.position)
        np.testing.assert_allclose(new.logdensity, value, rtol=1e-12)
        np.testing.assert_allclose(new.logdensity_grad, gradient, rtol=1e-12)
        kinetic = info.energy + new.logdensity
        np.testing.assert_allclose(kinetic, before.energy + stayed.logdensity, rtol=1e-9)


def test_hyperparameters_are_drawn_anew_after_a_rejection() -> None:
    kernel = build_kernel("gibbs_hmc", Posterior(log_density, Conjugates(jump, HELD)), **SETTINGS)
    absurd = Tuned(jnp.asarray(1e4), jnp.ones(4))
    new, info = jax.jit(kernel.step)(jax.random.key(1), kernel.init(START), absurd)
    assert info.is_divergent
    np.testing.assert_allclose(new.position[MOVING], START[MOVING] + 0.1, rtol=1e-12)
    assert (new.position[HELD] != START[HELD]).all()
    assert np.isfinite(info.energy)
