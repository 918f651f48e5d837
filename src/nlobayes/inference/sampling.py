"""Sampling in segments: thinned, of bounded memory, and equal however it is cut."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from nlobayes.inference.kernels.protocol import Info, Kernel, State, Tuned


class Draws(NamedTuple):
    """Draws of one chain.

    Attributes
    ----------
    kept
        Positions of every `keep_every`-th draw (kept, parameter).
    logdensity
        Log density of every draw (draw,).
    observed
        What `observe` says of every draw, with leading axis (draw,).
    info
        Info of every draw, each field (draw,).
    """

    kept: jax.Array
    logdensity: jax.Array
    observed: Any
    info: Info


def draw(
    key: jax.Array,
    kernel: Kernel,
    state: State,
    tuned: Tuned,
    *,
    first: int | jax.Array,
    kept: int,
    keep_every: int,
    observe: Callable[[jax.Array], Any],
) -> tuple[State, Draws]:
    """Draw `kept * keep_every` times from draw number `first` on, keeping every `keep_every`-th.

    The key of draw i is `fold_in(key, i)`: segments of any length give the same chain.
    """

    def one_draw(state: State, index: jax.Array) -> tuple[State, Any]:
        state, info = kernel.step(jax.random.fold_in(key, index), state, tuned)
        return state, (state.logdensity, observe(state.position), info)

    def one_kept(state: State, indices: jax.Array) -> tuple[State, Any]:
        state, every = jax.lax.scan(one_draw, state, indices)
        return state, (state.position, every)

    indices = (first + jnp.arange(kept * keep_every)).reshape(kept, keep_every)
    state, (positions, every) = jax.lax.scan(one_kept, state, indices)
    logdensity, observed, info = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), every)
    return state, Draws(positions, logdensity, observed, info)
