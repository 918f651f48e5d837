"""A chain group: chains that share one job, along the leading axis of all their arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp


def each_chain(function: Callable[..., Any]) -> Callable[..., Any]:
    """Apply a function of one chain to every chain of a chain group, vectorised.

    A chain group of one chain is computed as a single chain, without a batch axis inside.
    """

    def mapped(*arguments: Any) -> Any:
        chains = len(jax.tree.leaves(arguments)[0])
        if chains > 1:
            return jax.vmap(function)(*arguments)
        result = function(*jax.tree.map(lambda leaf: leaf[0], arguments))
        return jax.tree.map(lambda leaf: jnp.asarray(leaf)[None], result)

    return mapped
