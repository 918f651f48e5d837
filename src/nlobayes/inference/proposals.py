"""The Student-t at a mode: how it is fitted to a log density, its draws and its density.

Its tails are heavier than those of a nearly Gaussian posterior, so that no position of the
posterior has a large weight (Geweke 1989, Econometrica 57, 1317).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

NEWTON_STEPS = 3
STEP = 1e-3
"""Step of the differences of gradients, for positions whose entries are of order one."""
LEAST_CURVATURE = 0.05
"""Least curvature along a principal axis, so that no proposal is wider than 4.5."""
DEGREES_OF_FREEDOM = 10.0
"""With these the weights of 13 to 20 parameters vary least; a Gaussian has rare large weights."""


class StudentT(NamedTuple):
    """A Student-t: mode (parameter,) and axes (parameter, axis), each one scale long.

    `step_size` is 1, for the diagnostics.
    """

    mode: jax.Array
    axes: jax.Array
    step_size: jax.Array


def fit_at_mode(logdensity_fn: Callable[[jax.Array], jax.Array], start: jax.Array) -> StudentT:
    """Climb from a start to the mode by Newton's method; the axes are those of its curvature.

    Each step takes two gradients of the log density for each parameter.
    """
    mode = start
    for _ in range(NEWTON_STEPS):
        axes = _axes(logdensity_fn, mode)
        rise = axes @ (axes.T @ jax.grad(logdensity_fn)(mode))
        better = logdensity_fn(mode + rise) > logdensity_fn(mode)
        mode = jnp.where(better, mode + rise, mode)
    return StudentT(mode, _axes(logdensity_fn, mode), jnp.ones((), mode.dtype))


def _axes(logdensity_fn: Callable[[jax.Array], jax.Array], at: jax.Array) -> jax.Array:
    """Return the principal axes (parameter, axis) of the curvature, each one sd long."""
    slope = jax.grad(logdensity_fn)

    def row(step: jax.Array) -> jax.Array:
        return (slope(at - step) - slope(at + step)) / (2 * STEP)

    curvature = jax.lax.map(row, STEP * jnp.eye(at.size, dtype=at.dtype))
    values, vectors = jnp.linalg.eigh((curvature + curvature.T) / 2)
    return vectors / jnp.sqrt(jnp.maximum(jnp.abs(values), LEAST_CURVATURE))


def sample(key: jax.Array, fitted: StudentT) -> jax.Array:
    """Draw a position (parameter,)."""
    key_normal, key_width = jax.random.split(key)
    normal = jax.random.normal(key_normal, fitted.mode.shape, fitted.mode.dtype)
    width = jax.random.chisquare(key_width, DEGREES_OF_FREEDOM, dtype=fitted.mode.dtype)
    return fitted.mode + fitted.axes @ normal / jnp.sqrt(width / DEGREES_OF_FREEDOM)


def log_density(position: jax.Array, fitted: StudentT) -> jax.Array:
    """Return the log density of a position, up to a constant of the fit."""
    along = jnp.linalg.solve(fitted.axes, position - fitted.mode)
    excess = jnp.log1p(along @ along / DEGREES_OF_FREEDOM)
    return -(DEGREES_OF_FREEDOM + position.size) / 2 * excess
