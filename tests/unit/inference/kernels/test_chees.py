"""HMC of a tuned trajectory length: its steps, the trajectory in its state, exactness."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import qmc

from nlobayes.inference.kernel import Info, Posterior
from nlobayes.inference.sampling import Draws, draw
from nlobayes.kernels.chees import TrajectoryState, TunedTrajectory
from tests.members import build_kernel
from tests.unit.inference.kernels.correlated import PRECISION, assert_moments, log_gaussian

MOST, CHAINS = 30, 8
START = jnp.array([0.3, -0.5])


KERNEL = build_kernel("chees", Posterior(log_gaussian), most_integration_steps=MOST)


def tuned(step_size: float, trajectory_length: float) -> TunedTrajectory:
    return TunedTrajectory(jnp.asarray(step_size), jnp.ones(2), jnp.asarray(trajectory_length))


@partial(jax.jit, static_argnames="draws")
def sample(learned: TunedTrajectory, draws: int) -> tuple[TrajectoryState, Draws]:
    keys = jax.random.split(jax.random.key(1), CHAINS)
    states = jax.vmap(KERNEL.init)(jnp.zeros((CHAINS, 2)))
    each = jax.tree.map(lambda x: jnp.stack([x] * CHAINS), learned)
    options: dict[str, Any] = {"first": 0, "kept": draws, "thin": 1}
    return draw(keys, KERNEL, states, each, observe=lambda q: q[0], **options)


def test_steps_follow_the_halton_sequence() -> None:
    """Twice the sequence times the mean length, in whole steps, the same for every chain."""
    states, draws = sample(tuned(0.1, 1.0), 64)
    halton = qmc.Halton(d=1, scramble=False).random(65)[1:, 0]
    expected = np.maximum(np.round(2 * halton * 10), 1)
    steps = np.asarray(draws.info.num_integration_steps)
    assert (np.abs(steps - expected) <= (np.abs(20 * halton % 1 - 0.5) < 1e-6)).all()
    np.testing.assert_array_equal(steps, np.broadcast_to(steps[0], steps.shape))
    np.testing.assert_array_equal(states.steps_made, 64)


@jax.jit
def one_step(state: TrajectoryState, learned: TunedTrajectory) -> tuple[TrajectoryState, Info]:
    return KERNEL.step(jax.random.key(3), state, learned)


def test_state_holds_the_end_of_the_trajectory() -> None:
    """Back from the end with the momentum negated, leapfrog steps by hand reach the start."""
    new, info = one_step(KERNEL.init(START), tuned(0.2, 1.0))
    assert info.num_integration_steps == 5
    q, p = np.asarray(new.proposal), -np.asarray(new.proposal_momentum)
    for _ in range(5):
        p = p - 0.1 * PRECISION @ q
        q = q + 0.2 * p
        p = p - 0.1 * PRECISION @ q
    np.testing.assert_allclose(q, START, rtol=1e-10)
    if not np.array_equal(new.position, START):
        np.testing.assert_array_equal(new.position, new.proposal)


def test_divergence_keeps_the_state() -> None:
    """All but the place in the sequence; the proposal falls back to the start, and is finite."""
    state = KERNEL.init(START)
    new, info = one_step(state, tuned(50.0, 1000.0))
    assert info.is_divergent
    jax.tree.map(np.testing.assert_array_equal, new._replace(steps_made=state.steps_made), state)
    assert new.steps_made == state.steps_made + 1


@pytest.mark.statistical
def test_moments_of_a_correlated_gaussian() -> None:
    _, draws = sample(tuned(0.25, 1.5), 2200)
    assert_moments(np.asarray(draws.kept[:, 200:]))
    assert 0.6 < draws.info.acceptance_rate.mean() < 0.999
