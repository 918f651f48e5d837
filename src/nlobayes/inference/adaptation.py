"""What every adaptation is: how a block of chains learns what its kernel needs, step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax

from nlobayes.inference.blocks import each_chain
from nlobayes.inference.kernel import Info


class Adaptation(NamedTuple):
    """A warm-up of a block of chains as three pure functions.

    `start(positions)` takes positions (chain, parameter) to what the warm-up carries, a pytree of
    arrays with at least `state`; `step(keys, carry, index)` makes step number `index` with one
    key per chain and returns the carry and the info (chain,); `finish(carry)` gives the states
    and what was learned, both with leading axis (chain,), and is defined after any step.
    """

    start: Callable[[jax.Array], Any]
    step: Callable[[jax.Array, Any, jax.Array], tuple[Any, Info]]
    finish: Callable[[Any], tuple[Any, Any]]


def independent(
    start: Callable[[jax.Array], Any],
    step: Callable[[jax.Array, Any, jax.Array], tuple[Any, Info]],
    finish: Callable[[Any], tuple[Any, Any]],
) -> Adaptation:
    """Let every chain of a block adapt on its own, given the three functions of one chain."""

    def step_block(keys: jax.Array, carry: Any, index: jax.Array) -> tuple[Any, Info]:
        return each_chain(lambda key, one: step(key, one, index))(keys, carry)

    return Adaptation(each_chain(start), step_block, each_chain(finish))
