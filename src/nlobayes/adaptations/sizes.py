"""Step sizes and scales of jumps for an architecture that varies; then everything is frozen.

Each size has a step size, by dual averaging (Hoffman and Gelman 2014, section 3.2, by BlackJAX). A
step updates the step size of the current size. Sizes that were never visited get the smallest step
size of the others. Jumps try the scales `SCALES` in turn; each keeps the one with the highest
acceptance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from nlobayes.adaptations import WarmupSettings
from nlobayes.inference.adaptation import Adaptation, Untuned, independent
from nlobayes.inference.kernel import Info
from nlobayes.kernels.reversible_jump import TunedSizes
from nlobayes.settings.values import Fraction
from nlobayes.untyped import Tree

if TYPE_CHECKING:
    import jax

SCALES = (0.5, 0.05, 0.1, 0.2, 0.3, 0.7, 1.0)
"""Allowed scales of jumps; a jump that was never tried has the first."""
UNSETTLED = 0.25
"""Share of the adaptation after which tried jumps begin to count."""


class Carry(NamedTuple):
    """State of the warm-up between steps; the search has a leading axis (size,).

    `tried` counts the jumps with each scale and sums their acceptance (scale, jump, 2).
    """

    state: Tree
    tuned: TunedSizes
    search: Tree
    visits: jax.Array
    tried: jax.Array


class SizesWarmup(WarmupSettings):
    """A step size for each size of the architecture, by dual averaging; identity mass matrix."""

    kind: Literal["sizes"] = "sizes"
    target_acceptance: Fraction = 0.7
    """Target of dual averaging for the mean acceptance of moves within an architecture."""

    @property
    def form_of_mass_matrix(self) -> str:
        """Form of the mass matrix that it keeps."""
        return "identity"

    def build(self, untuned: Untuned) -> Adaptation:
        """Build the warm-up of a kernel whose state marks its size (size,)."""
        import jax
        import jax.numpy as jnp
        from blackjax.adaptation.step_size import dual_averaging_adaptation

        from nlobayes.inference.windows import search_from

        kernel, adapting = untuned.kernel, self.adapting
        _, update, final = dual_averaging_adaptation(self.target_acceptance)

        def start(position: jax.Array) -> Carry:
            state = kernel.init(position)
            step_sizes = jnp.full(state.size.shape, self.initial_step_size, position.dtype)
            search = jax.vmap(search_from)(step_sizes)
            tried = jnp.zeros((len(SCALES), *state.tried.shape), position.dtype)
            tuned = TunedSizes(step_sizes, jnp.ones_like(position), _most_accepted(tried))
            return Carry(state, tuned, search, jnp.zeros_like(step_sizes), tried)

        def learn(carry: Carry, index: jax.Array, acceptance: jax.Array) -> Carry:
            size, settled = carry.state.size, index >= UNSETTLED * adapting
            proposed = jax.vmap(update, (0, None))(carry.search, acceptance)
            here = size > 0
            search = jax.tree.map(
                lambda new, old: jnp.where(here, new, old), proposed, carry.search
            )
            dtype = carry.tuned.step_size.dtype
            step_sizes = jnp.exp(search.log_step_size).astype(dtype)
            visits = carry.visits + size
            tried = carry.tried.at[index % len(SCALES)].add(settled * carry.state.tried)
            scales = jnp.full_like(
                carry.tuned.scales, jnp.asarray(SCALES)[(index + 1) % len(SCALES)]
            )
            tuned = TunedSizes(_of_all(step_sizes, visits), carry.tuned.inverse_mass_matrix, scales)
            return Carry(carry.state, tuned, search, visits, tried)

        def freeze(carry: Carry) -> Carry:
            averaged = jax.vmap(final)(carry.search).astype(carry.tuned.step_size.dtype)
            step_sizes, scales = _of_all(averaged, carry.visits), _most_accepted(carry.tried)
            return carry._replace(tuned=carry.tuned._replace(step_size=step_sizes, scales=scales))

        def step(key: jax.Array, carry: Carry, index: jax.Array) -> tuple[Carry, Info]:
            frozen = index >= adapting
            carry = jax.lax.cond(frozen, freeze, lambda same: same, carry)
            state, info = kernel.step(key, carry.state, carry.tuned)
            carry = carry._replace(state=state)
            learned = learn(carry, index, info.acceptance_rate)
            return jax.tree.map(lambda old, new: jnp.where(frozen, old, new), carry, learned), info

        return independent(start, step, lambda carry: (carry.state, freeze(carry).tuned))


def _of_all(step_sizes: jax.Array, visits: jax.Array) -> jax.Array:
    """Give unvisited sizes the smallest learned step size; change nothing if none was learned."""
    import jax.numpy as jnp

    smallest = jnp.min(jnp.where(visits > 0, step_sizes, jnp.inf))
    known = jnp.where(jnp.isfinite(smallest), smallest, step_sizes)
    return jnp.where(visits > 0, step_sizes, known)


def _most_accepted(tried: jax.Array) -> jax.Array:
    """Return the scale (jump,) at which each jump has the highest acceptance."""
    import jax.numpy as jnp

    count, accepted = tried[..., 0], tried[..., 1]
    mean = accepted / jnp.maximum(count, 1)
    return jnp.asarray(SCALES, tried.dtype)[jnp.argmax(mean, axis=0)]
