"""A Gaussian process that emulates a log density about its mode, from its values and gradients.

Positions are in units of the principal axes of the curvature at the mode: z (axis,). The log
density less its value at the mode is that of a base plus a remainder, the process, whose covariance
is exp(-|u - u'|^2 / 2) with u = R'z. A value and its d slopes at a point are d + 1 numbers, whose
joint covariances are derivatives of this one (Rasmussen and Williams 2006, section 9.4). Far from
all points the emulator is the base.

The base is the Gaussian at the mode, or, once the emulator is wide, a hyperbolic distribution
(Barndorff-Nielsen 1977, Proceedings of the Royal Society A 353, 401): a Gaussian near the mode
whose tails fall as an exponential. Chains stand still where an emulated tail is too low, and nobody
learns there what chains do not propose. Where it is too high they propose, are rejected, and learn.

RR' is the mean outer product of the directions of the remainder's slopes, scaled to a trace of one,
or of a half if it is wide (Constantine, Dow and Wang 2014, SIAM Journal on Scientific Computing 36,
A1500, section 2, with the directions weighted instead of cut off). How steep they are is left out,
so that a few steep ones far away do not decide. Lengths are short along the few directions in which
it bends, and long along the others. With one length for all, errors at draws were five and seven
times as large on posteriors of 13 and 19 parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.scipy.linalg import cho_solve

STEP = 0.03
"""Step of the differences of gradients, in units of the axes so far; of 1, for the first."""
PARTS = (0.0, 0.25, 0.5, 1.0)
"""Parts of a Newton step that are tried; the best is taken."""
LEAST_GAIN, MOST_STEPS = 0.01, 20
"""Gain of the log density below which the mode is reached, and most Newton steps to it."""
LEAST_CURVATURE = 0.2
"""Least curvature along a principal axis, so that no axis is longer than 2.2."""
ALIKE = 1
"""Number of points, beside those that are learned, whose slopes are alike in all directions."""
FLATNESS = 1 / 3
"""Flatness of a wide base, for one axis."""
TRACE, WIDE_TRACE = 1.0, 0.5
"""Trace of RR', and that of a wide emulator, which remembers further from its points."""
LEAST_FALL = 0.02
"""Least fall of the emulated log density in units of |z|^2, of which the Gaussian's is a half. Few
points in many dimensions can promise a high density far away, where chains would learn nothing."""
NUGGET = 1e-6
"""Variance added to each observation, relative to that of the process."""
MOST_NUMBERS = 5000
"""Most values and slopes that are learned: their covariance takes 200 MB."""


class Emulator(NamedTuple):
    """What is learned of a log density.

    Attributes
    ----------
    mode, axes
        Mode (parameter,) and principal axes (parameter, axis), each one sd of the Gaussian long.
    stretch
        Matrix R (axis, axis) of the inverse lengths.
    points, weights
        Points u (point, axis), and the weights (point, 1 + axis) of the covariances with the value
        and the slopes in u there; zero where nothing is learned yet.
    step_size
        Leapfrog step in units of the axes.
    every
        Number of draws from one move on the log density itself to the next; 0 for none.
    flatness
        Inverse square of the distance from the mode at which the tails of its base become
        exponential; 0 for a Gaussian.
    """

    mode: jax.Array
    axes: jax.Array
    stretch: jax.Array
    points: jax.Array
    weights: jax.Array
    step_size: jax.Array
    every: jax.Array
    flatness: jax.Array


class Climb(NamedTuple):
    """Where a climb to the mode is, the axes there, its last gain, and its steps so far."""

    position: jax.Array
    axes: jax.Array
    gain: jax.Array
    steps: jax.Array


def begin_at_mode(
    logdensity_fn: Callable[[jax.Array], jax.Array], near: jax.Array, points: int, step_size: float
) -> Emulator:
    """Climb to the mode by Newton steps; the emulator is the Gaussian there, with room for points.

    Each step takes two gradients of the log density for each parameter. They are apart in units of
    the axes so far: between points at one small distance the rounding of gradients is more than
    what they differ by along a wide axis.
    """
    slope, eye = jax.grad(logdensity_fn), jnp.eye(near.size, dtype=near.dtype)

    def climb(now: Climb) -> Climb:
        def row(step: jax.Array) -> jax.Array:
            below, above = (slope(now.position + sign * now.axes @ step) for sign in (-1, 1))
            return (below - above) @ now.axes / (2 * STEP)

        curvature = jax.lax.map(row, STEP * eye)
        values, vectors = jnp.linalg.eigh((curvature + curvature.T) / 2)
        axes = now.axes @ (vectors / jnp.sqrt(jnp.maximum(jnp.abs(values), LEAST_CURVATURE)))
        newton = axes @ (axes.T @ slope(now.position))
        ends = now.position + jnp.array(PARTS)[:, None] * newton
        heights = jax.lax.map(logdensity_fn, ends)
        best = jnp.nanargmax(heights)
        return Climb(ends[best], axes, heights[best] - heights[0], now.steps + 1)

    def is_below(now: Climb) -> jax.Array:
        return (now.steps < 2) | ((now.gain > LEAST_GAIN) & (now.steps < MOST_STEPS))

    start = Climb(near, eye, jnp.zeros((), near.dtype), jnp.array(0))
    mode, axes, *_ = jax.lax.while_loop(is_below, climb, start)
    room = jnp.zeros((points, 1 + near.size), near.dtype)
    step, flatness = (jnp.full((), value, room.dtype) for value in (step_size, 0.0))
    return Emulator(mode, axes, eye, room[:, 1:], room, step, jnp.array(0), flatness)


def to_axes(position: jax.Array, emulator: Emulator) -> jax.Array:
    """Return z of a position (parameter,)."""
    return jnp.linalg.solve(emulator.axes, position - emulator.mode)


def base(z: jax.Array, flatness: float | jax.Array) -> jax.Array:
    """Return the log density of the base at z, less its value at the mode."""
    square = z @ z
    return -square / (1 + jnp.sqrt(1 + flatness * square))


def log_density(z: jax.Array, emulator: Emulator) -> jax.Array:
    """Return the emulated log density at z, less its value at the mode.

    Distances are computed by products, whose slopes take a quarter of the time of differences.
    """
    at, points = z @ emulator.stretch, emulator.points
    near = jnp.exp(points @ at - (at @ at + jnp.sum(points * points, axis=1)) / 2)
    value, slopes = emulator.weights[:, 0], emulator.weights[:, 1:]
    remainder = near @ (value + slopes @ at - jnp.sum(slopes * points, axis=1))
    return jnp.minimum(base(z, emulator.flatness) + remainder, -LEAST_FALL * (z @ z))


def learn(
    emulator: Emulator,
    places: jax.Array,
    values: jax.Array,
    slopes: jax.Array,
    *,
    count: int,
    is_wide: bool,
) -> Emulator:
    """Learn values (point,) and slopes in z (point, axis) at the first `count` places z.

    Values are less the one at the mode. Those that are not finite are taken to be the base's.
    """
    z, axes = places[:count], places.shape[1]
    flatness = FLATNESS / axes if is_wide else 0.0
    level, fall = jax.vmap(jax.value_and_grad(base), (0, None))(z, flatness)
    remainder, bend = values[:count] - level, slopes[:count] - fall
    is_finite = jnp.isfinite(remainder) & jnp.isfinite(bend).all(axis=1)
    remainder = jnp.where(is_finite, remainder, 0.0)
    bend = jnp.where(is_finite[:, None], bend, 0.0)
    steepness = jnp.linalg.norm(bend, axis=1, keepdims=True)
    direction = bend / jnp.maximum(steepness, jnp.finfo(bend.dtype).tiny)
    product = direction.T @ direction / count
    alike = jnp.eye(axes, dtype=z.dtype) / axes
    trace = WIDE_TRACE if is_wide else TRACE
    stretch = jnp.linalg.cholesky(trace * (count * product + ALIKE * alike) / (count + ALIKE))
    u = z @ stretch
    observed = jnp.column_stack([remainder, jnp.linalg.solve(stretch, bend.T).T])
    apart = u[:, None] - u
    near = jnp.exp(-jnp.sum(apart * apart, axis=-1) / 2)
    one = jnp.ones((*near.shape, 1), near.dtype)
    left, right = jnp.concatenate([one, -apart], -1), jnp.concatenate([one, apart], -1)
    own = jnp.diag(jnp.ones(1 + axes, near.dtype).at[0].set(0.0))
    blocks = near[..., None, None] * (left[..., :, None] * right[..., None, :] + own)
    covariance = blocks.transpose(0, 2, 1, 3).reshape(observed.size, observed.size)
    root = jnp.linalg.cholesky(covariance + NUGGET * jnp.eye(observed.size), symmetrize_input=False)
    weights = cho_solve((root, True), observed.ravel()).reshape(observed.shape)
    return emulator._replace(
        stretch=stretch,
        flatness=jnp.full((), flatness, z.dtype),
        points=emulator.points.at[:count].set(u),
        weights=emulator.weights.at[:count].set(weights),
    )
