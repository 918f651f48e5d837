"""Sampling in segments: thinned, of bounded memory, and equal however it is cut."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from nlobayes.inference.chain_groups import each_chain
from nlobayes.inference.kernel import Info, Kernel


class Draws(NamedTuple):
    """Draws of a group of chains.

    Attributes
    ----------
    kept
        Positions of every `thin`-th draw (chain, kept, parameter).
    logdensity
        Log density of every draw (chain, draw).
    observed
        What `observe` says of every draw, with leading axes (chain, draw).
    info
        Info of every draw, each field (chain, draw).
    """

    kept: jax.Array
    logdensity: jax.Array
    observed: Any
    info: Info


def draw(
    keys: jax.Array,
    kernel: Kernel,
    states: Any,
    tuned: Any,
    *,
    first: int | jax.Array,
    kept: int,
    thin: int,
    observe: Callable[[jax.Array], Any],
) -> tuple[Any, Draws]:
    """Draw `kept * thin` times from draw number `first` on, keeping every `thin`-th.

    Keys, states and what was tuned have a leading axis (chain,). The key of draw i of a chain is
    `fold_in(key, i)`: segments of any length give the same chain.
    """
    indices = (first + jnp.arange(kept * thin)).reshape(kept, thin)

    def one_chain(key: jax.Array, state: Any, learned: Any) -> tuple[Any, Draws]:
        def one_draw(state: Any, index: jax.Array) -> tuple[Any, Any]:
            state, info = kernel.step(jax.random.fold_in(key, index), state, learned)
            return state, (state.logdensity, observe(state.position), info)

        def one_kept(state: Any, indices: jax.Array) -> tuple[Any, Any]:
            state, every = jax.lax.scan(one_draw, state, indices)
            return state, (state.position, every)

        state, (positions, every) = jax.lax.scan(one_kept, state, indices)
        logdensity, observed, info = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), every)
        return state, Draws(positions, logdensity, observed, info)

    return each_chain(one_chain)(keys, states, tuned)
