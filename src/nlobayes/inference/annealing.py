"""Annealed jumps: moves along tempered densities between a proposal and its acceptance.

Karagiannis and Andrieu (2013, J. Comput. Graph. Stat. 22, 623), algorithm 1, with kernels that are
reversible at every temperature. The whole path is in the coordinates of the larger architecture, so
that the reverse jump follows the same path backwards.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp

from nlobayes.inference.jumps import Mapped
from nlobayes.inference.kernel import LogDensity
from nlobayes.untyped import Tree

Move = Callable[[jax.Array, jax.Array, Callable[..., jax.Array]], jax.Array]
"""A move of a key, a position and a log density; it is reversible in that density."""


def anneal(
    key: jax.Array,
    grown: jax.Array,
    grow: jax.Array,
    shrink: Callable[[jax.Array], Mapped],
    logdensity_fn: LogDensity,
    move: Move,
    steps: int,
) -> tuple[jax.Array, jax.Array]:
    """Move a position of the larger architecture (parameter,) from one density to the other.

    The log density at b is (1 - b) log pi(shrink(z)) + b log pi(z), with the Jacobian of `shrink`
    in the first term; b rises from 0 to 1 if the jump grows and falls otherwise, by `steps` + 1
    equal steps.

    Returns
    -------
    The last position, and the log weight of the path (scalar): the factors target and Jacobian of
    the ratio.
    """

    def smaller(position: jax.Array) -> jax.Array:
        shrunk, jacobian = shrink(position)
        return logdensity_fn(shrunk) + jacobian

    def inverse_temperature(step: jax.Array) -> jax.Array:
        share = step / (steps + 1)
        return jnp.where(grow, share, 1 - share)

    def gain(position: jax.Array, step: jax.Array) -> jax.Array:
        change = inverse_temperature(step + 1) - inverse_temperature(step)
        return change * (logdensity_fn(position) - smaller(position))

    def one_step(carry: tuple[jax.Array, jax.Array], step: jax.Array) -> tuple[Tree, None]:
        position, weight = carry
        b = inverse_temperature(step)

        def tempered(z: jax.Array, _: Tree = 1.0, /) -> jax.Array:
            return (1 - b) * smaller(z) + b * logdensity_fn(z)

        position = move(jax.random.fold_in(key, step), position, tempered)
        return (position, weight + gain(position, step)), None

    begin = (grown, gain(grown, jnp.zeros((), int)))
    return jax.lax.scan(one_step, begin, 1 + jnp.arange(steps))[0]
