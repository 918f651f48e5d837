"""Records of a chain: names that ArviZ knows, and states that survive as plain arrays."""

import jax.numpy as jnp
import numpy as np
import pytest

from nlobayes.inference import records
from nlobayes.inference.kernels.protocol import Info, State, Tuned
from nlobayes.inference.sampling import Draws


def info(draws: int) -> Info:
    return Info(*(jnp.arange(draws) + 10.0 * i for i in range(len(Info._fields))))


def test_every_field_of_info_has_a_name() -> None:
    assert tuple(records.ARVIZ_NAMES) == Info._fields
    assert len(set(records.ARVIZ_NAMES.values())) == len(Info._fields)


def test_sample_stats_keep_their_values() -> None:
    stats = records.sample_stats(info(4), jnp.full(4, -2.5))
    assert stats.keys() == {
        "lp",
        "acceptance_rate",
        "energy",
        "diverging",
        "n_steps",
        "tree_depth",
        "step_size",
    }
    assert all(type(value) is np.ndarray for value in stats.values())
    np.testing.assert_array_equal(stats["lp"], -2.5)
    np.testing.assert_array_equal(stats["energy"], info(4).energy)
    np.testing.assert_array_equal(stats["diverging"], info(4).is_divergent)
    np.testing.assert_array_equal(stats["n_steps"], info(4).num_integration_steps)


def test_pieces_are_joined_in_order() -> None:
    whole = Draws(jnp.arange(6.0).reshape(3, 2), jnp.arange(3.0), {"f": jnp.ones((3, 4))}, info(3))
    pieces = [
        Draws(whole.kept[s], whole.logdensity[s], {"f": whole.observed["f"][s]}, Info(*cut))
        for s in (slice(0, 1), slice(1, 3))
        for cut in [[field[s] for field in whole.info]]
    ]
    joined = records.join(pieces)
    np.testing.assert_array_equal(joined.kept, whole.kept)
    np.testing.assert_array_equal(joined.logdensity, whole.logdensity)
    np.testing.assert_array_equal(joined.observed["f"], whole.observed["f"])
    np.testing.assert_array_equal(joined.info.energy, whole.info.energy)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_chain_state_is_restored_bit_for_bit(dtype: type) -> None:
    rng = np.random.default_rng(1)
    position, gradient, mass = (jnp.asarray(rng.normal(size=5), dtype) for _ in range(3))
    state = State(position, jnp.asarray(rng.normal(), dtype), gradient)
    tuned = Tuned(jnp.asarray(rng.uniform(), dtype), mass)
    record = records.chain_state(3, 128, state, tuned)
    assert (record.chain, record.next_draw) == (3, 128)
    assert all(type(value) is np.ndarray for value in record[2:])
    for restored, original in zip(records.restore(record), (state, tuned), strict=True):
        assert type(restored) is type(original)
        for ours, expected in zip(restored, original, strict=True):
            assert ours.dtype == expected.dtype
            np.testing.assert_array_equal(ours, expected)
