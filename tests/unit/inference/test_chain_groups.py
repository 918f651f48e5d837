"""A chain group of one chain is that chain; a chain group of several is each of them."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nlobayes.inference.chain_groups import each_chain
from nlobayes.inference.kernel import Posterior, Tuned
from tests.members import build_kernel

SETTINGS: dict[str, dict[str, Any]] = {
    "random_walk": {},
    "hmc": {"integration_steps": 5, "jitter": 0.4, "divergence_threshold": 1000.0},
    "nuts": {"max_depth": 4, "divergence_threshold": 1000.0},
}


def logdensity_fn(position: jax.Array, inverse_temperature: float | jax.Array = 1.0) -> jax.Array:
    """A coupled density, whose sums round differently when they are batched."""
    mixed = jnp.tanh(jnp.outer(position, position)).sum()
    return inverse_temperature * (-0.5 * jnp.sum(position**2) + 0.01 * mixed)


def chain_group(name: str, chains: int) -> tuple[Any, Any]:
    """The step of a kernel, and keys, states and tuned records of a chain group."""
    kernel = build_kernel(name, Posterior(logdensity_fn), **SETTINGS[name])
    rng = np.random.default_rng(2)
    states = jax.vmap(kernel.init)(jnp.asarray(rng.normal(size=(chains, 7))))
    tuned = Tuned(jnp.asarray(rng.uniform(0.1, 0.4, chains)), jnp.ones((chains, 7)))
    return kernel.step, (jax.random.split(jax.random.key(3), chains), states, tuned)


def take(tree: Any, row: int) -> Any:
    return jax.tree.map(lambda leaf: leaf[row], tree)


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.by_day(1)
def test_a_chain_group_of_one_chain_is_the_chain_alone_bit_for_bit(name: str) -> None:
    step, arguments = chain_group(name, 1)
    found = jax.jit(each_chain(step))(*arguments)
    alone = jax.jit(step)(*take(arguments, 0))
    assert str(jax.tree.structure(found)) == str(jax.tree.structure(alone))
    for ours, expected in zip(jax.tree.leaves(found), jax.tree.leaves(alone), strict=True):
        assert ours.shape == (1, *expected.shape)
        assert ours.dtype == expected.dtype
        assert np.asarray(ours).tobytes() == np.asarray(expected).tobytes()


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.by_day(1)
def test_each_of_several_chains_is_the_chain_alone_within_rounding(name: str) -> None:
    step, arguments = chain_group(name, 3)
    found = jax.jit(each_chain(step))(*arguments)
    for row in range(3):
        alone = jax.jit(step)(*take(arguments, row))
        for ours, expected in zip(
            jax.tree.leaves(take(found, row)), jax.tree.leaves(alone), strict=True
        ):
            assert ours.dtype == expected.dtype
            np.testing.assert_allclose(ours, expected, rtol=1e-10, atol=1e-12)
    positions = found[0].position
    assert len(np.unique(positions[:, 0])) == 3


def test_one_chain_is_computed_without_a_batch_axis() -> None:
    """So that it branches where a batch would compute both sides."""
    shapes = []

    def one_chain(position: jax.Array) -> tuple[jax.Array, float]:
        shapes.append(position.shape)
        return position.sum(), 2.5

    for chains in (1, 4):
        total, constant = each_chain(one_chain)(jnp.ones((chains, 3)))
        np.testing.assert_array_equal(total, np.full(chains, 3.0))
        np.testing.assert_array_equal(constant, np.full(chains, 2.5))
    assert shapes == [(3,), (3,)]
    branching = each_chain(lambda x: jax.lax.cond(x[0] > 0, jnp.sin, jnp.cos, x))
    for chains, primitive in ((1, "cond"), (4, "select_n")):
        assert primitive in str(jax.make_jaxpr(branching)(jnp.ones((chains, 3))))
