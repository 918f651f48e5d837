"""NUTS: how long its trees are."""

from collections.abc import Callable
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nlobayes.inference.kernel import Info, Posterior, Tuned
from tests.members import build_kernel


@cache
def compiled(max_depth: int) -> Callable[[jax.Array], Info]:
    """300 independent steps on a standard Gaussian."""
    kernel = build_kernel(
        "nuts",
        Posterior(lambda q, inverse_temperature=1.0: -0.5 * inverse_temperature * jnp.sum(q**2)),
        max_depth=max_depth,
    )
    state, keys = kernel.init(jnp.array([0.5, -1.0])), jax.random.split(jax.random.key(3), 300)

    def run(step_size: jax.Array) -> Info:
        tuned = Tuned(step_size, jnp.ones(2))
        return jax.lax.map(lambda key: kernel.step(key, state, tuned)[1], keys)

    return jax.jit(run)


def infos(max_depth: int, step_size: float) -> Info:
    return compiled(max_depth)(jnp.asarray(step_size))


@pytest.mark.parametrize("max_depth", [1, 4])
def test_tree_never_exceeds_its_depth(max_depth: int) -> None:
    info = infos(max_depth, step_size=0.15)
    assert info.tree_depth.max() <= max_depth
    assert info.tree_depth.min() >= 1
    assert (info.num_integration_steps <= 2**info.tree_depth - 1).all()
    assert (info.num_integration_steps >= 2 ** (info.tree_depth - 1)).all()


@pytest.mark.parametrize("max_depth", [1, 4])
def test_straight_trajectories_use_the_whole_tree(max_depth: int) -> None:
    info = infos(max_depth, step_size=1e-3)
    assert (info.tree_depth == max_depth).all()
    assert (info.num_integration_steps == 2**max_depth - 1).all()


def test_trajectory_ends_where_it_turns() -> None:
    """Half a period of the oscillator is pi: trees cover it, and stop far short of depth 10."""
    info = infos(10, step_size=0.15)
    length = 0.15 * np.asarray(info.num_integration_steps)
    assert np.pi / 2 < np.median(length) < 3 * np.pi
    assert info.tree_depth.max() <= 7
