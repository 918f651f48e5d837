"""Sampling in segments, with thinning and bounded memory; the cuts do not change the draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from nlobayes.inference.chain_groups import each_chain
from nlobayes.inference.completion import Completion
from nlobayes.inference.kernel import Info, Kernel


class Draws(NamedTuple):
    """Draws of a group of chains.

    Attributes
    ----------
    kept
        Positions of every `thin`-th draw (chain, kept, parameter), completed.
    logdensity
        Log density of every draw (chain, draw).
    observed
        Result of `observe` for every draw, with leading axes (chain, draw).
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
    completion: Completion | None = None,
) -> tuple[Any, Draws]:
    """Draw `kept * thin` times from draw number `first` on, keeping every `thin`-th.

    Keys, states and tuned values have a leading axis (chain,). The key of draw i of a chain is
    `fold_in(key, i)`: segments of any length give the same chain. A `completion` draws the
    parameters that were integrated out, by its own key with the same number folded in: full
    positions are kept and observed.
    """
    indices = (first + jnp.arange(kept * thin)).reshape(kept, thin)

    def one_chain(
        key: jax.Array, state: Any, learned: Any, key_output: jax.Array
    ) -> tuple[Any, Draws]:
        def whole(position: jax.Array, index: jax.Array) -> jax.Array:
            if completion is None:
                return position
            return completion.draw(jax.random.fold_in(key_output, index), position)

        def one_draw(state: Any, index: jax.Array) -> tuple[Any, Any]:
            state, info = kernel.step(jax.random.fold_in(key, index), state, learned)
            return state, (state.logdensity, observe(whole(state.position, index)), info)

        def one_kept(state: Any, indices: jax.Array) -> tuple[Any, Any]:
            state, every = jax.lax.scan(one_draw, state, indices)
            return state, (whole(state.position, indices[-1]), every)

        state, (positions, every) = jax.lax.scan(one_kept, state, indices)
        logdensity, observed, info = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), every)
        return state, Draws(positions, logdensity, observed, info)

    keys_output = keys if completion is None else completion.keys
    return each_chain(one_chain)(keys, states, tuned, keys_output)
