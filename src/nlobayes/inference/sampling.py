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
    observe: Callable[[jax.Array], Tree],
    completion: Completion | None = None,
    only_new: bool = False,
) -> tuple[Tree, Draws]:
    """Draw `kept * thin` times from draw number `first` on, keeping every `thin`-th.

    Keys, states and tuned values have a leading axis (chain,). The key of draw i of a chain is
    `fold_in(key, i)`: segments of any length give the same chain. A `completion` draws the
    parameters that were integrated out, by its own key with the same number folded in: full
    positions are kept and observed. With `only_new`, for an `observe` that takes long, chains
    observe in turn, and a chain that stands still is not observed again.
    """
    indices = (first + jnp.arange(kept * thin)).reshape(kept, thin)
    look = _look_again(observe) if only_new else lambda position, _: (observe(position), None)

    def one_chain(
        key: jax.Array, state: Tree, learned: Tree, key_output: jax.Array
    ) -> tuple[Tree, Draws]:
        def whole(position: jax.Array, index: jax.Array) -> jax.Array:
            if completion is None:
                return position
            return completion.draw(jax.random.fold_in(key_output, index), position)

        def one_draw(now: tuple[Tree, Tree], index: jax.Array) -> tuple[Tree, Tree]:
            state, info = kernel.step(jax.random.fold_in(key, index), now[0], learned)
            observed, last = look(whole(state.position, index), now[1])
            return (state, last), (state.logdensity, observed, info)

        def one_kept(now: tuple[Tree, Tree], indices: jax.Array) -> tuple[Tree, Tree]:
            now, every = jax.lax.scan(one_draw, now, indices)
            return now, (whole(now[0].position, indices[-1]), every)

        last = _nowhere(observe, whole(state.position, indices[0, 0])) if only_new else None
        (state, _), (positions, every) = jax.lax.scan(one_kept, (state, last), indices)
        logdensity, observed, info = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), every)
        return state, Draws(positions, logdensity, observed, info)

    keys_output = keys if completion is None else completion.keys
    return each_chain(one_chain)(keys, states, tuned, keys_output)


class Look(NamedTuple):
    """A position, and what was observed there."""

    position: jax.Array
    observed: Tree


def _nowhere(observe: Callable[[jax.Array], Tree], position: jax.Array) -> Look:
    """Return the look before the first one: at no position."""
    empty = jax.tree.map(
        lambda like: jnp.zeros(like.shape, like.dtype), jax.eval_shape(observe, position)
    )
    return Look(jnp.full_like(position, jnp.nan), empty)


def _look_again(
    observe: Callable[[jax.Array], Tree],
) -> Callable[[jax.Array, Look], tuple[Tree, Look]]:
    """Observe a position where it is not that of the last look."""

    @jax.custom_batching.sequential_vmap
    def look(position: jax.Array, last: Look) -> tuple[Tree, Look]:
        is_new = jnp.any(position != last.position)
        observed = jax.lax.cond(is_new, lambda: observe(position), lambda: last.observed)
        return observed, Look(position, observed)

    return look
