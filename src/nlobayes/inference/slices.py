"""Moves that need no gradient: Crank-Nicolson of standard normal entries, slices along a line.

`kernels/crank_nicolson` states why each leaves the target invariant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from nlobayes.inference.kernel import LogDensity, PointState

MOST_STEPS_OUT = 8
"""Largest width of a slice in initial widths: m of Neal (2003)."""
MOST_SHRINKS = 200
"""Limit of shrinkages of a slice, reached only by rounding; the point then stays."""

Line = Callable[[jax.Array], jax.Array]


class _Bracket(NamedTuple):
    """Ends of a slice, the point tried in it with its log density, and evaluations so far."""

    low: jax.Array
    high: jax.Array
    tried: jax.Array
    logdensity: jax.Array
    evaluations: jax.Array


def refresh(
    key: jax.Array,
    state: PointState,
    logdensity_fn: LogDensity,
    angle: jax.Array,
    moved: np.ndarray,
) -> tuple[PointState, jax.Array]:
    """Make a Crank-Nicolson move of some entries; give the acceptance probability, too.

    Its b is the sine of an angle: its square and that of sqrt(1 - b^2) add up to 1 whatever the
    step size, which grows without bound where draws from the prior are accepted often enough.
    """
    key_noise, key_accept = jax.random.split(key)
    position = state.position
    noise = jax.random.normal(key_noise, position.shape, position.dtype)
    rotated = jnp.cos(angle) * position + jnp.sin(angle) * noise
    proposed = jnp.where(moved, rotated, position)
    proposal = PointState(proposed, logdensity_fn(proposed))
    from_prior = (jnp.sum(proposed**2) - jnp.sum(position**2)) / 2
    gain = proposal.logdensity - state.logdensity + from_prior
    accepted = jnp.log(jax.random.uniform(key_accept, (), position.dtype)) < gain
    new = jax.tree.map(lambda new, old: jnp.where(accepted, new, old), proposal, state)
    return new, jnp.nan_to_num(jnp.exp(jnp.minimum(gain, 0)), nan=0.0)


def slice_along(
    key: jax.Array, state: PointState, logdensity_fn: LogDensity, along: jax.Array
) -> tuple[PointState, jax.Array]:
    """Draw from the slice along a direction; give the number of evaluations, too."""
    dtype = state.position.dtype
    key_level, key_begin, key_below, key_points = jax.random.split(key, 4)
    level = state.logdensity + jnp.log(jax.random.uniform(key_level, (), dtype))
    begin = -jax.random.uniform(key_begin, (), dtype)
    below = jax.random.randint(key_below, (), 0, MOST_STEPS_OUT)

    def at(t: jax.Array) -> jax.Array:
        return logdensity_fn(state.position + t * along)

    low, spent_below = _step_out(at, level, begin, -1, below)
    high, spent_above = _step_out(at, level, begin + 1, 1, MOST_STEPS_OUT - 1 - below)
    found = _shrink(key_points, at, level, low, high)
    inside = found.logdensity > level
    new = PointState(state.position + found.tried * along, found.logdensity)
    kept = jax.tree.map(lambda new, old: jnp.where(inside, new, old), new, state)
    return kept, spent_below + spent_above + found.evaluations


def _step_out(
    at: Line, level: jax.Array, begin: jax.Array, by: int, most: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Move an end out of the slice by at most `most` steps; count the evaluations, too."""

    def goes_on(carry: tuple[jax.Array, jax.Array]) -> jax.Array:
        return (carry[1] < most) & (at(carry[0]) > level)

    end, steps = jax.lax.while_loop(
        goes_on, lambda carry: (carry[0] + by, carry[1] + 1), (begin, jnp.zeros((), int))
    )
    return end, steps + 1


def _shrink(
    key: jax.Array, at: Line, level: jax.Array, low: jax.Array, high: jax.Array
) -> _Bracket:
    """Draw points between the ends, which close in on 0, until one lies in the slice."""

    def outside(bracket: _Bracket) -> jax.Array:
        return ~(bracket.logdensity > level) & (bracket.evaluations < MOST_SHRINKS)

    def draw(bracket: _Bracket) -> _Bracket:
        low = jnp.where(bracket.tried < 0, bracket.tried, bracket.low)
        high = jnp.where(bracket.tried < 0, bracket.high, bracket.tried)
        here = jax.random.fold_in(key, bracket.evaluations)
        tried = low + (high - low) * jax.random.uniform(here, (), low.dtype)
        return _Bracket(low, high, tried, at(tried), bracket.evaluations + 1)

    first = low + (high - low) * jax.random.uniform(jax.random.fold_in(key, 0), (), low.dtype)
    begin = _Bracket(low, high, first, at(first), jnp.ones((), int))
    return jax.lax.while_loop(outside, draw, begin)
