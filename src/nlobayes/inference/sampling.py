"""Sampling in segments, with thinning and bounded memory; the cuts do not change the draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from nlobayes.inference.chain_groups import Completion, each_chain
from nlobayes.inference.kernel import Info, Kernel
from nlobayes.untyped import Tree


class Draws(NamedTuple):
    """Draws of a group of chains."""

    kept: jax.Array
    """Positions of every `thin`-th draw (chain, kept, parameter), completed."""
    logdensity: jax.Array
    """Log density of every draw (chain, draw)."""
    observed: Tree
    """Result of `observe` for every draw, with leading axes (chain, draw)."""
    info: Info
    """Info of every draw, each field (chain, draw)."""


def draw(
    keys: jax.Array,
    kernel: Kernel,
    states: Tree,
    tuned: Tree,
    *,
    first: int | jax.Array,
    kept: int,
    thin: int,
    observe: Callable[..., Tree],
    completion: Completion | None = None,
) -> tuple[Tree, Draws]:
    """Draw `kept * thin` times from draw number `first` on, keeping every `thin`-th.

    Keys, states and tuned values have a leading axis (chain,). The key of draw i of a chain is
    `fold_in(key, i)`: segments of any length give the same chain. A `completion` draws the
    parameters that were integrated out, by its own key with the same number folded in: full
    positions are kept and observed. `observe` takes a position, and the by-product of its log
    density where the state of the kernel has one.
    """
    indices = (first + jnp.arange(kept * thin)).reshape(kept, thin)

    def one_chain(
        key: jax.Array, state: Tree, learned: Tree, key_output: jax.Array
    ) -> tuple[Tree, Draws]:
        def whole(position: jax.Array, index: jax.Array) -> jax.Array:
            if completion is None:
                return position
            return completion.draw(jax.random.fold_in(key_output, index), position)

        def one_draw(state: Tree, index: jax.Array) -> tuple[Tree, Tree]:
            state, info = kernel.step(jax.random.fold_in(key, index), state, learned)
            made = jax.tree.leaves(getattr(state, "by_product", ()))
            observed = observe(whole(state.position, index), *made)
            return state, (state.logdensity, observed, info)

        def one_kept(state: Tree, indices: jax.Array) -> tuple[Tree, Tree]:
            state, every = jax.lax.scan(one_draw, state, indices)
            return state, (whole(state.position, indices[-1]), every)

        state, (positions, every) = jax.lax.scan(one_kept, state, indices)
        logdensity, observed, info = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), every)
        return state, Draws(positions, logdensity, observed, info)

    keys_output = keys if completion is None else completion.keys
    return each_chain(one_chain)(keys, states, tuned, keys_output)
