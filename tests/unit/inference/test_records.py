"""Records of a chain group: the names of ArviZ, and trees stored as plain arrays."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nlobayes.inference import chain_arrays
from nlobayes.inference.kernel import Info, State, Tuned
from nlobayes.inference.sampling import Draws
from tests.refusals import refused

SHAPE = (2, 4)


class Inner(NamedTuple):
    """A part of a carry."""

    steps: jax.Array
    moved: jax.Array


class Carry(NamedTuple):
    """A tree with a named tuple, a dictionary, a sequence and nothing inside."""

    state: State
    inner: Inner
    by_name: dict[str, jax.Array]
    several: tuple[jax.Array, ...]
    nothing: None


def info(extra: dict[str, jax.Array] | None = None) -> Info:
    values = jnp.arange(8.0).reshape(SHAPE)
    fields: dict[str, Any] = {
        name: values + 10.0 * i for i, name in enumerate(chain_arrays.ARVIZ_NAMES)
    }
    return Info(**fields, extra=extra or {})


def carry(dtype: Any) -> Carry:
    rng = np.random.default_rng(1)
    position, gradient = jnp.asarray(rng.normal(size=(2, 3, 5)), dtype)[:, :, :2]
    return Carry(
        State(position, jnp.asarray(rng.normal(size=3), dtype), gradient),
        Inner(jnp.arange(3, dtype=jnp.int32), jnp.array([True, False, True])),
        {"low": jnp.zeros((3, 0), dtype), "high": jnp.asarray(rng.normal(size=(3, 2, 2)), dtype)},
        (jnp.asarray(rng.normal(size=()), dtype), jnp.array([2**32 - 1], jnp.uint32)),
        None,
    )


def test_every_field_of_info_has_a_name() -> None:
    assert (*chain_arrays.ARVIZ_NAMES, "extra") == Info._fields
    assert len(set(chain_arrays.ARVIZ_NAMES.values())) == len(chain_arrays.ARVIZ_NAMES)


def test_sample_stats_keep_their_values() -> None:
    stats = chain_arrays.sample_stats(info(), jnp.full(SHAPE, -2.5))
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
    np.testing.assert_array_equal(stats["lp"], np.full(SHAPE, -2.5))
    for name, called in chain_arrays.ARVIZ_NAMES.items():
        np.testing.assert_array_equal(stats[called], getattr(info(), name))


def test_pieces_are_joined_in_order() -> None:
    """Along the draws of every chain, the second axis."""
    extra = {"swaps": jnp.arange(24.0).reshape(*SHAPE, 3)}
    kept = jnp.arange(24.0).reshape(2, 4, 3)
    whole = Draws(kept, kept[..., 0], {"f": kept + 1}, info(extra))
    pieces = [jax.tree.map(lambda x, s=s: x[:, s], whole) for s in (slice(0, 1), slice(1, 4))]
    joined = chain_arrays.join(pieces)
    assert str(jax.tree.structure(joined)) == str(jax.tree.structure(whole))
    jax.tree.map(np.testing.assert_array_equal, joined, whole)


def test_arrays_are_named_by_the_path_to_them() -> None:
    arrays = chain_arrays.to_arrays(carry(np.float32))
    assert set(arrays) == {
        "state.position",
        "state.logdensity",
        "state.logdensity_grad",
        "inner.steps",
        "inner.moved",
        "by_name.low",
        "by_name.high",
        "several.0",
        "several.1",
    }
    assert all(type(array) is np.ndarray for array in arrays.values())
    np.testing.assert_array_equal(arrays["inner.steps"], [0, 1, 2])
    assert chain_arrays.to_arrays(Tuned(jnp.ones(2), jnp.zeros((2, 5)))).keys() == {
        "step_size",
        "inverse_mass_matrix",
    }


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", ["values", "shapes"])
def test_a_tree_is_restored_bit_for_bit(dtype: Any, form: str) -> None:
    """From a template of values, or of shapes alone; the order of names does not matter."""
    tree = carry(dtype)
    template = tree if form == "values" else jax.eval_shape(lambda: tree)
    arrays = dict(reversed(chain_arrays.to_arrays(tree).items()))
    again = chain_arrays.from_arrays(template, arrays, "warmup.nc")
    assert str(jax.tree.structure(again)) == str(jax.tree.structure(tree))
    for ours, expected in zip(jax.tree.leaves(again), jax.tree.leaves(tree), strict=True):
        assert isinstance(ours, jax.Array)
        assert (ours.dtype, ours.shape) == (expected.dtype, expected.shape)
        assert np.asarray(ours).tobytes() == np.asarray(expected).tobytes()


@pytest.mark.parametrize(
    ("change", "fault", "fields"),
    [
        ({"inner.steps": None}, "missing", {"name": "inner.steps", "expected": ((3,), np.int32)}),
        ({"more": np.zeros(3)}, "too_many", {"name": "more", "found": ((3,), np.float64)}),
        (
            {"state.position": np.zeros((3, 4), np.float32)},
            "unlike",
            {"found": ((3, 4), np.float32), "expected": ((3, 2), np.float32)},
        ),
        (
            {"state.logdensity": np.zeros(3)},
            "unlike",
            {"found": ((3,), np.float64), "expected": ((3,), np.float32)},
        ),
    ],
    ids=["missing", "too many", "shape", "precision"],
)
def test_arrays_of_another_tree_are_refused(
    change: dict[str, Any], fault: str, fields: dict[str, Any]
) -> None:
    tree = carry(np.float32)
    changed = chain_arrays.to_arrays(tree) | change
    arrays = {name: array for name, array in changed.items() if array is not None}
    with refused(f"inference.array_{fault}", where="a/warmup.nc", **fields):
        chain_arrays.from_arrays(tree, arrays, "a/warmup.nc")
