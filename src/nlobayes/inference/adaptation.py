"""The protocol of adaptations: how a group of chains tunes its kernel during warm-up."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from nlobayes.inference.kernel import Info, Kernel
from nlobayes.untyped import Tree

if TYPE_CHECKING:
    import jax

    from nlobayes.inference.curvature import Curvature


class Untuned(NamedTuple):
    """A kernel before warm-up, and the facts that an adaptation uses."""

    kernel: Kernel
    """The kernel itself."""
    settings: Any = None
    """Settings that the kernel was built with."""
    curvature: Curvature | None = None
    """Positive definite curvature (parameter, parameter) of the negative log density at a position,
    where the model has one."""


class Adaptation(NamedTuple):
    """A warm-up of a group of chains as three pure functions.

    `start(positions)` maps positions (chain, parameter) to the carry of the warm-up, a pytree of
    arrays with at least `state`; `step(keys, carry, index)` makes step number `index` with one
    key per chain and returns the carry and the info (chain,); `finish(carry)` gives the states
    and the tuned values, both with leading axis (chain,), and is defined after any step.
    """

    start: Callable[[jax.Array], Tree]
    step: Callable[[jax.Array, Tree, jax.Array], tuple[Tree, Info]]
    finish: Callable[[Tree], tuple[Tree, Tree]]


def independent(
    start: Callable[[jax.Array], Tree],
    step: Callable[[jax.Array, Tree, jax.Array], tuple[Tree, Info]],
    finish: Callable[[Tree], tuple[Tree, Tree]],
) -> Adaptation:
    """Build an adaptation of independent chains from the three functions of one chain."""
    from nlobayes.inference.chain_groups import each_chain

    def step_chain_group(keys: jax.Array, carry: Tree, index: jax.Array) -> tuple[Tree, Info]:
        return each_chain(lambda key, one: step(key, one, index))(keys, carry)

    return Adaptation(each_chain(start), step_chain_group, each_chain(finish))
