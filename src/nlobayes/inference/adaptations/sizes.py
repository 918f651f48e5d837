"""A step size for each size of an architecture, by dual averaging; then everything is frozen.

Dual averaging is Hoffman and Gelman (2014), section 3.2, by BlackJAX. A step teaches the size that
it is at. Sizes that were never visited get the smallest step size that any other has learned.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from blackjax.adaptation.step_size import dual_averaging_adaptation

from nlobayes.inference.adaptation import Adaptation, Untuned, independent
from nlobayes.inference.adaptations.windows import search_from
from nlobayes.inference.kernel import Info, Tuned


class Carry(NamedTuple):
    """What warm-up carries from step to step; the search has a leading axis (size,)."""

    state: Any
    tuned: Tuned
    search: Any
    visits: jax.Array


def build(
    untuned: Untuned,
    *,
    steps: int,
    adaptation_share: float,
    target_acceptance: float,
    initial_step_size: float,
) -> Adaptation:
    """Build the warm-up of a kernel whose state marks its size (size,)."""
    kernel, adapting = untuned.kernel, max(1, int(adaptation_share * steps))
    _, update, final = dual_averaging_adaptation(target_acceptance)

    def start(position: jax.Array) -> Carry:
        state = kernel.init(position)
        step_sizes = jnp.full(state.size.shape, initial_step_size, position.dtype)
        search = jax.vmap(search_from)(step_sizes)
        tuned = Tuned(step_sizes, jnp.ones_like(position))
        return Carry(state, tuned, search, jnp.zeros_like(step_sizes))

    def learn(carry: Carry, size: jax.Array, acceptance: jax.Array) -> Carry:
        proposed = jax.vmap(update, (0, None))(carry.search, acceptance)
        here = size > 0
        search = jax.tree.map(lambda new, old: jnp.where(here, new, old), proposed, carry.search)
        dtype = carry.tuned.step_size.dtype
        step_sizes = jnp.exp(search.log_step_size).astype(dtype)
        visits = carry.visits + size
        tuned = carry.tuned._replace(step_size=_of_all(step_sizes, visits))
        return carry._replace(search=search, visits=visits, tuned=tuned)

    def freeze(carry: Carry) -> Carry:
        averaged = jax.vmap(final)(carry.search).astype(carry.tuned.step_size.dtype)
        return carry._replace(tuned=carry.tuned._replace(step_size=_of_all(averaged, carry.visits)))

    def step(key: jax.Array, carry: Carry, index: jax.Array) -> tuple[Carry, Info]:
        frozen = index >= adapting
        carry = jax.lax.cond(frozen, freeze, lambda same: same, carry)
        state, info = kernel.step(key, carry.state, carry.tuned)
        carry = carry._replace(state=state)
        learned = learn(carry, state.size, info.acceptance_rate)
        return jax.tree.map(lambda old, new: jnp.where(frozen, old, new), carry, learned), info

    return independent(start, step, lambda carry: (carry.state, freeze(carry).tuned))


def _of_all(step_sizes: jax.Array, visits: jax.Array) -> jax.Array:
    """Take the smallest learned step size where none was learned; as they are before any was."""
    smallest = jnp.min(jnp.where(visits > 0, step_sizes, jnp.inf))
    known = jnp.where(jnp.isfinite(smallest), smallest, step_sizes)
    return jnp.where(visits > 0, step_sizes, known)
