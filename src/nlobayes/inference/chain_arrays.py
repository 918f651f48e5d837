"""Stored records of a chain group: sample stats under ArviZ's names, and plain arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from nlobayes.errors import InputError
from nlobayes.inference.kernel import Info
from nlobayes.untyped import Tree

ARVIZ_NAMES = {
    "acceptance_rate": "acceptance_rate",
    "energy": "energy",
    "is_divergent": "diverging",
    "num_integration_steps": "n_steps",
    "tree_depth": "tree_depth",
    "step_size": "step_size",
}

Segments = TypeVar("Segments")
Arrays = dict[str, np.ndarray]


def sample_stats(info: Info, logdensity: jax.Array) -> Arrays:
    """Name the info of every step (chain, draw) by ArviZ's names, with the log density as `lp`."""
    fields = info._asdict()
    extra = fields.pop("extra")
    renamed = {ARVIZ_NAMES[name]: value for name, value in fields.items()}
    return {"lp": np.asarray(logdensity), **to_arrays({**renamed, **extra})}


def join(segments: Sequence[Segments]) -> Segments:
    """Join segments of a chain group along their second axis, that of the draws."""
    return jax.tree.map(lambda *parts: np.concatenate(parts, axis=1), *segments)


def to_arrays(tree: Tree) -> Arrays:
    """Name every array of a tree by the path to it, as in `inverse_mass_matrix.sigma`."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {_name(path): np.asarray(leaf) for path, leaf in leaves}


def from_arrays(template: Tree, arrays: Mapping[str, np.ndarray], where: str) -> Tree:
    """Restore a tree from its arrays, bit for bit.

    Raises InputError if names, shapes or dtypes are not those of the template.

    Parameters
    ----------
    template
        A tree of the same form; its leaves need only a shape and a dtype.
    arrays
        The result of `to_arrays` for the tree.
    where
        Where the arrays were found, for the message.
    """
    leaves, structure = jax.tree_util.tree_flatten_with_path(template)
    expected = {_name(path): (leaf.shape, np.dtype(leaf.dtype)) for path, leaf in leaves}
    found = {name: (array.shape, array.dtype) for name, array in arrays.items()}
    if expected != found:
        unlike = sorted(
            n for n in expected.keys() | found.keys() if expected.get(n) != found.get(n)
        )
        raise _unlike(unlike[0], found.get(unlike[0]), expected.get(unlike[0])).within(where)
    return jax.tree.unflatten(structure, [jnp.asarray(arrays[name]) for name in expected])


def _unlike(
    name: str, found: tuple[Any, ...] | None, expected: tuple[Any, ...] | None
) -> InputError:
    """Describe found and expected shape and dtype; None means that there is no such array."""
    if found is None:
        return InputError("inference.array_missing", name=name, expected=expected)
    if expected is None:
        return InputError("inference.array_too_many", name=name, found=found)
    return InputError("inference.array_unlike", name=name, found=found, expected=expected)


def _name(path: Sequence[Any]) -> str:
    parts = (getattr(key, "name", getattr(key, "key", getattr(key, "idx", key))) for key in path)
    return ".".join(map(str, parts))
