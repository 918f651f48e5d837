"""HMC against leapfrog steps written by hand, and the number of steps it takes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nlobayes.inference.kernel import Posterior, Tuned
from tests.members import build_kernel

PRECISION = np.array([4.0, 1.0, 0.25])
INVERSE_MASS = np.array([0.2, 1.0, 3.0])
START = np.array([0.4, -1.0, 1.5])


def log_gaussian(q: jax.Array, inverse_temperature: float | jax.Array = 1.0) -> jax.Array:
    return -0.5 * inverse_temperature * jnp.sum(PRECISION * q**2)


def tuned(step_size: float) -> Tuned:
    return Tuned(jnp.asarray(step_size), jnp.asarray(INVERSE_MASS))


def energy(q: np.ndarray, p: np.ndarray) -> float:
    return float(0.5 * np.sum(PRECISION * q**2) + 0.5 * np.sum(INVERSE_MASS * p**2))


def leapfrog(q: np.ndarray, p: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray]:
    p = p - step / 2 * PRECISION * q
    q = q + step * INVERSE_MASS * p
    return q, p - step / 2 * PRECISION * q


def test_trajectory_is_leapfrog_by_hand() -> None:
    """Three steps: position, energy and Metropolis acceptance of the end.

    The momentum that a key draws is read off a step so small that the density does not matter.
    """
    tiny, step, accepted = 1e-6, 0.6, 0
    one, three = (
        build_kernel("hmc", Posterior(log_gaussian), integration_steps=count, jitter=0.0)
        for count in (1, 3)
    )
    state, one_step, three_steps = (
        one.init(jnp.asarray(START)),
        jax.jit(one.step),
        jax.jit(three.step),
    )
    for seed in range(10):
        key = jax.random.key(seed)
        moved = one_step(key, state, tuned(tiny))[0].position - START
        momentum = np.asarray(moved) / tiny / INVERSE_MASS
        q, p = START, momentum
        for _ in range(3):
            q, p = leapfrog(q, p, step)
        acceptance = min(1.0, np.exp(energy(START, momentum) - energy(q, p)))
        new, info = three_steps(key, state, tuned(step))
        np.testing.assert_allclose(info.acceptance_rate, acceptance, rtol=1e-4)
        if np.array_equal(new.position, START):
            continue
        accepted += 1
        np.testing.assert_allclose(new.position, q, rtol=1e-4)
        np.testing.assert_allclose(info.energy, energy(q, p), rtol=1e-4)
    assert accepted >= 5


@pytest.mark.parametrize(
    ("integration_steps", "jitter", "expected"),
    [(10, 0.2, range(8, 13)), (10, 0.0, [10]), (1, 0.9, [1, 2])],
)
@pytest.mark.by_day(1)
def test_number_of_steps_is_uniform_around_the_middle(
    integration_steps: int, jitter: float, expected: range
) -> None:
    kernel = build_kernel(
        "hmc", Posterior(log_gaussian), integration_steps=integration_steps, jitter=jitter
    )
    state = kernel.init(jnp.asarray(START))
    keys = jax.random.split(jax.random.key(1), 2000)
    steps = jax.jit(jax.vmap(lambda key: kernel.step(key, state, tuned(0.1))[1]))(keys)
    values, counts = np.unique(steps.num_integration_steps, return_counts=True)
    assert values.tolist() == list(expected)
    np.testing.assert_allclose(counts, 2000 / len(values), rtol=0.25)
    assert (steps.tree_depth == 0).all()


def test_number_of_steps_is_independent_of_the_momentum() -> None:
    """Else the trajectory length would depend on the state, and the kernel not be exact."""
    kernel = build_kernel("hmc", Posterior(log_gaussian), integration_steps=4, jitter=0.9)
    state = kernel.init(jnp.asarray(START))
    keys = jax.random.split(jax.random.key(2), 4000)
    new, info = jax.jit(jax.vmap(lambda key: kernel.step(key, state, tuned(1e-4))))(keys)
    moved = np.asarray(new.position) - START
    momentum = moved / np.asarray(info.num_integration_steps)[:, None]
    correlation = np.corrcoef(momentum.T, info.num_integration_steps)[-1, :-1]
    assert np.abs(correlation).max() < 4 / np.sqrt(4000)
