"""A chain group: chains that share one job, along the leading axis of all their arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from nlobayes.untyped import Tree


def each_chain(function: Callable[..., Tree]) -> Callable[..., Tree]:
    """Apply a function of one chain to every chain of a chain group, vectorised.

    A chain group of one chain is computed as a single chain, without a batch axis inside.
    """

    def mapped(*arguments: Tree) -> Tree:
        chains = len(jax.tree.leaves(arguments)[0])
        if chains > 1:
            return jax.vmap(function)(*arguments)
        result = function(*jax.tree.map(lambda leaf: leaf[0], arguments))
        return jax.tree.map(lambda leaf: jnp.asarray(leaf)[None], result)

    return mapped


class Completion(NamedTuple):
    """Completion of the draws of a chain group by the parameters that were integrated out.

    `draw(key, position)` gives the full position; each chain has its own key (chain,).
    """

    keys: jax.Array
    draw: Callable[[jax.Array, jax.Array], jax.Array]
