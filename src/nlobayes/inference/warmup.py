"""Warm-up in segments, with the info of every step; the cuts do not change the result."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from nlobayes.inference.adaptation import Adaptation
from nlobayes.inference.kernel import Info
from nlobayes.untyped import Tree


def adapt(
    keys: jax.Array, adaptation: Adaptation, carry: Tree, *, first: int | jax.Array, steps: int
) -> tuple[Tree, Info, jax.Array]:
    """Make `steps` steps of a warm-up, the first of which is number `first`.

    The key of step i of a chain is `fold_in(key, i)`, so that segments equal one long warm-up.

    Returns the carry after the last step; the info, and the log density, of each step (chain,
    step).
    """

    def one_step(carry: Tree, index: jax.Array) -> tuple[Tree, Tree]:
        at_step = jax.vmap(jax.random.fold_in, (0, None))(keys, index)
        carry, info = adaptation.step(at_step, carry, index)
        return carry, (info, carry.state.logdensity)

    carry, every = jax.lax.scan(one_step, carry, first + jnp.arange(steps))
    info, logdensity = jax.tree.map(lambda x: jnp.swapaxes(x, 0, 1), every)
    return carry, info, logdensity
