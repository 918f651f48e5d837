"""A Gaussian process that emulates a log density about its mode, from its values and gradients.

Positions are in units of the principal axes of the curvature at the mode: z (axis,). The log
density less its value at the mode is -z'z / 2 plus a remainder, the process, whose covariance is
exp(-|z - z'|^2 / (2 l^2)). A value and its d slopes at a point are d + 1 numbers, whose joint
covariances are derivatives of this one (Rasmussen and Williams 2006, section 9.4). Far from all
points the emulator is the Gaussian at the mode.
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
LENGTH = 1.5
"""Square of the length l for each dimension; |z|^2 of a Gaussian is one for each."""
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
    points, weights
        Points z (point, axis), and the weights (point, 1 + axis) of the covariances with the value
        and the slopes there; zero where nothing is learned yet.
    step_size
        Leapfrog step in units of the axes.
    every
        Number of draws from one move on the log density itself to the next; 0 for none.
    """

    mode: jax.Array
    axes: jax.Array
    points: jax.Array
    weights: jax.Array
    step_size: jax.Array
    every: jax.Array


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
    step = jnp.full((), step_size, room.dtype)
    return Emulator(mode, axes, room[:, 1:], room, step, jnp.array(0))


def to_axes(position: jax.Array, emulator: Emulator) -> jax.Array:
    """Return z of a position (parameter,)."""
    return jnp.linalg.solve(emulator.axes, position - emulator.mode)


def log_density(z: jax.Array, emulator: Emulator) -> jax.Array:
    """Return the emulated log density at z, less its value at the mode.

    Distances are computed by products, whose slopes take a quarter of the time of differences.
    """
    unit = (LENGTH * z.size) ** 0.5
    at, points = z / unit, emulator.points / unit
    near = jnp.exp(points @ at - (at @ at + jnp.sum(points * points, axis=1)) / 2)
    value, slopes = emulator.weights[:, 0], emulator.weights[:, 1:]
    remainder = near @ (value + slopes @ at - jnp.sum(slopes * points, axis=1))
    return -z @ z / 2 + jnp.minimum(remainder, (0.5 - LEAST_FALL) * (z @ z))


def learn(emulator: Emulator, values: jax.Array, slopes: jax.Array, count: int) -> Emulator:
    """Learn values (point,) and slopes in z (point, axis) at the first `count` of the points.

    Values are less the one at the mode. Those that are not finite are taken to be the Gaussian's.
    """
    points = emulator.points[:count]
    axes = points.shape[1]
    remainder = values[:count] + jnp.sum(points * points, axis=1) / 2
    scaled = (slopes[:count] + points) * (LENGTH * axes) ** 0.5
    observed = jnp.column_stack([remainder, scaled])
    is_finite = jnp.isfinite(observed).all(axis=1, keepdims=True)
    observed = jnp.where(is_finite, observed, 0.0)
    apart = (points[:, None] - points) / (LENGTH * axes) ** 0.5
    near = jnp.exp(-jnp.sum(apart * apart, axis=-1) / 2)
    one = jnp.ones((*near.shape, 1), near.dtype)
    left, right = jnp.concatenate([one, -apart], -1), jnp.concatenate([one, apart], -1)
    own = jnp.diag(jnp.ones(1 + axes, near.dtype).at[0].set(0.0))
    blocks = near[..., None, None] * (left[..., :, None] * right[..., None, :] + own)
    covariance = blocks.transpose(0, 2, 1, 3).reshape(observed.size, observed.size)
    root = jnp.linalg.cholesky(covariance + NUGGET * jnp.eye(observed.size), symmetrize_input=False)
    weights = cho_solve((root, True), observed.ravel()).reshape(observed.shape)
    return emulator._replace(weights=emulator.weights.at[:count].set(weights))
