"""Preconditioned Crank-Nicolson moves of standard normal entries, slice sampling of the others.

Targets pi(q) proportional to exp(logdensity_fn(q)) by two kernels in turn, each of which leaves pi
invariant, whatever the entries they move:

- The entries x that are N(0, I) a priori go to sqrt(1 - b^2) x + b n with n ~ N(0, I), a move that
  is reversible in N(0, I). The Metropolis ratio is pi(x') N(x) / (pi(x) N(x')): the prior cancels,
    and the acceptance does not fall with the number of entries that hardly change the likelihood
  (Cotter, Roberts, Stuart & White 2013, "MCMC methods for functions"). b = 1 draws from the prior.
- All others move along a random direction, in units of their sds, by slice sampling with stepping
    out and shrinkage (Neal 2003, "Slice sampling", section 4), which has no step size to tune.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from nlobayes.inference.kernel import Info, Kernel, LogDensity, Posterior, Tuned

MOST_STEPS_OUT = 8
MOST_SHRINKS = 200
"""Limit of shrinkages of a slice, reached only by rounding; the point then stays."""

Line = Callable[[jax.Array], jax.Array]


class PointState(NamedTuple):
    """Position (parameter,) and its log density; no gradient is needed."""

    position: jax.Array
    logdensity: jax.Array


class _Bracket(NamedTuple):
    """Ends of a slice, the point tried in it with its log density, and evaluations so far."""

    low: jax.Array
    high: jax.Array
    tried: jax.Array
    logdensity: jax.Array
    evaluations: jax.Array


def build(posterior: Posterior, *, moves: int, slices: int) -> Kernel:
    """Build `moves` proposals for the standard normal entries, then `slices` of all others.

    If the standard normal entries are not known, both move every entry.
    """
    logdensity_fn = posterior.logdensity_fn

    def init(position: jax.Array) -> PointState:
        return PointState(position, logdensity_fn(position))

    def step(key: jax.Array, state: PointState, tuned: Tuned) -> tuple[PointState, Info]:
        standard, others = _masks(posterior.standard, state.position.size)
        key_moves, key_slices = jax.random.split(key)
        angle = jnp.arctan(tuned.step_size)
        sds = jnp.sqrt(tuned.inverse_mass_matrix)

        def move(state: PointState, key: jax.Array) -> tuple[PointState, jax.Array]:
            return _refresh(key, state, logdensity_fn, angle, standard)

        def slide(state: PointState, key: jax.Array) -> tuple[PointState, jax.Array]:
            key_along, key_slice = jax.random.split(key)
            noise = jax.random.normal(key_along, state.position.shape, state.position.dtype)
            along = jnp.where(others, noise * sds, 0)
            return _slice(key_slice, state, logdensity_fn, along)

        state, accepted = jax.lax.scan(move, state, jax.random.split(key_moves, moves))
        evaluations = jnp.zeros((), int)
        if others.any():
            state, spent = jax.lax.scan(slide, state, jax.random.split(key_slices, slices))
            evaluations = jnp.sum(spent)
        return state, _describe(state, tuned, jnp.mean(accepted), moves + evaluations)

    return Kernel(init, step, exact=True)


def _masks(standard: np.ndarray | None, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Mark the entries that are standard normal a priori, and those that slices move."""
    if standard is None:
        return np.ones(size, bool), np.ones(size, bool)
    marked = np.isin(np.arange(size), standard)
    return marked, ~marked


def _refresh(
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


def _slice(
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


def _describe(new: PointState, tuned: Tuned, acceptance: jax.Array, evaluations: jax.Array) -> Info:
    return Info(
        acceptance_rate=acceptance,
        energy=jnp.full_like(new.logdensity, jnp.nan),
        is_divergent=jnp.zeros((), bool),
        num_integration_steps=jnp.asarray(evaluations, int),
        tree_depth=jnp.zeros((), int),
        step_size=tuned.step_size,
    )
