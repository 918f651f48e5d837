"""The surface of an energy between several positions: planes, low-loss paths, distances.

An energy is a scalar function of a position (parameter,). Positions are evaluated one after
another, so that the memory is that of one.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from nlobayes.errors import InputError
from nlobayes.types import Columns

Energy = Callable[[jax.Array], jax.Array]

TIMES_PER_STEP = 8
GRID, MARGIN = 41, 0.3
"""Points along an axis of the plane, and the margin around the MAPs, relative to their range."""
PATH_POINTS, BEZIER_STEPS, LEARNING_RATE = 61, 300, 0.1
ON_ONE_LINE = 1e-6
"""Distance from a line, relative to the longest position, below which it is rounding error."""


class Plane(NamedTuple):
    """The plane through three positions, and their coordinates on it."""

    origin: np.ndarray
    """The first position (parameter,)."""
    axes: np.ndarray
    """Orthonormal axes (2, parameter), the first towards the second position."""
    maps: np.ndarray
    """Coordinates of the three positions (3, 2), in units of the parameters."""


def plane_through(positions: np.ndarray) -> Plane:
    """Span a plane by Gram-Schmidt on the differences of three positions (3, parameter).

    Raises InputError if two of the positions are equal or all lie on one line.
    """
    origin, *others = np.asarray(positions, np.float64)
    towards, second = (other - origin for other in others)
    length = np.linalg.norm(towards)
    first_axis = towards / length if length else towards
    across = second - (second @ first_axis) * first_axis
    across -= (across @ first_axis) * first_axis  # again, against the rounding of the first time
    height = np.linalg.norm(across)
    if min(length, height) <= ON_ONE_LINE * np.linalg.norm(positions, axis=1).max():
        raise InputError(
            "inference.no_plane", towards=float(length), second=float(np.linalg.norm(second))
        )
    maps = [(0.0, 0.0), (length, 0.0), (second @ first_axis, height)]
    axes = np.stack([first_axis, across / height])
    return Plane(positions[0], axes.astype(positions.dtype), np.array(maps))


def energies_on(
    energy_fn: Energy, plane: Plane, alphas: np.ndarray, betas: np.ndarray
) -> np.ndarray:
    """Evaluate the energy (alpha, beta) at every pair of coordinates along the two axes."""
    pairs = np.stack(np.meshgrid(alphas, betas, indexing="ij"), axis=-1).reshape(-1, 2)
    origin, axes = jnp.asarray(plane.origin), jnp.asarray(plane.axes)
    points = jnp.asarray(pairs, origin.dtype)
    energies = jax.lax.map(lambda point: energy_fn(origin + point @ axes), points)
    return np.asarray(energies).reshape(len(alphas), len(betas))


def fit_bezier(
    key: jax.Array,
    energy_fn: Energy,
    first: jax.Array,
    last: jax.Array,
    *,
    steps: int,
    learning_rate: float,
) -> jax.Array:
    """Find the control point (parameter,) of a quadratic Bezier path of low energy.

    Adam minimises the mean energy over t uniform on [0, 1], estimated at eight values of t a step.
    It starts from the straight line, and its learning rate decays as a cosine (Garipov et al. 2018,
    arXiv:1802.10026, equation 2).
    """
    optimizer = optax.adam(optax.cosine_decay_schedule(learning_rate, steps))

    def energy_at(control: jax.Array, t: jax.Array) -> jax.Array:
        return energy_fn(bezier(first, control, last, t))

    def one_step(carry: tuple, key: jax.Array) -> tuple[tuple, None]:
        control, state = carry
        times = jax.random.uniform(key, (TIMES_PER_STEP,), control.dtype)
        gradients = jax.lax.map(lambda t: jax.grad(energy_at)(control, t), times)
        updates, state = optimizer.update(gradients.mean(axis=0), state)
        return (optax.apply_updates(control, updates), state), None

    begin = midpoint(first, last)
    keys = jax.random.split(key, steps)
    return jax.lax.scan(one_step, (begin, optimizer.init(begin)), keys)[0][0]


def bezier(
    first: jax.Array, control: jax.Array, last: jax.Array, t: float | jax.Array
) -> jax.Array:
    """Return the position (parameter,) at t in [0, 1] of a quadratic Bezier path."""
    return (1 - t) ** 2 * first + 2 * t * (1 - t) * control + t**2 * last


def midpoint(first: jax.Array, last: jax.Array) -> jax.Array:
    """Return the control point whose Bezier path is the straight line."""
    return (first + last) / 2


def energies_along(
    energy_fn: Energy, first: jax.Array, control: jax.Array, last: jax.Array, t: np.ndarray
) -> np.ndarray:
    """Evaluate the energy (t,) along a quadratic Bezier path."""
    times = jnp.asarray(t, first.dtype)
    return np.asarray(jax.lax.map(lambda t: energy_fn(bezier(first, control, last, t)), times))


def distances(paths: np.ndarray) -> dict[tuple[int, int], np.ndarray]:
    """Measure the distances of paths (chain, snapshot, parameter) for every pair of chains.

    Returns the Euclidean distance (snapshot,) of each pair of places along the axis (chain,).
    """
    pairs = combinations(range(len(paths)), 2)
    return {(i, j): np.linalg.norm(paths[i] - paths[j], axis=1) for i, j in pairs}


def tabulate_plane(energy_fn: Energy, positions: np.ndarray) -> tuple[Columns, Columns]:
    """Tabulate the energy on the plane through three positions (3, parameter), and at these.

    Energies that are not finite are NaN.
    """
    plane = plane_through(positions)
    low, high = plane.maps.min(axis=0), plane.maps.max(axis=0)
    margin = MARGIN * (high - low)
    alphas, betas = np.linspace(low - margin, high + margin, GRID).T
    surface = {
        "alpha": np.repeat(alphas, GRID),
        "beta": np.tile(betas, GRID),
        "energy": _finite(energies_on(energy_fn, plane, alphas, betas).ravel()),
    }
    alpha, beta = plane.maps.T
    energy = _finite(np.array([energy_fn(position) for position in positions]))
    return surface, {"alpha": alpha, "beta": beta, "energy": energy}


def tabulate_path(key: jax.Array, energy_fn: Energy, positions: jax.Array) -> Columns:
    """Tabulate the energy on the line between the first two positions, and on a Bezier path."""
    first, last = positions[0], positions[1]
    control = fit_bezier(
        key, energy_fn, first, last, steps=BEZIER_STEPS, learning_rate=LEARNING_RATE
    )
    t = np.linspace(0, 1, PATH_POINTS)
    straight = energies_along(energy_fn, first, midpoint(first, last), last, t)
    curved = energies_along(energy_fn, first, control, last, t)
    return {"t": t, "straight": _finite(straight), "bezier": _finite(curved)}


def _finite(energies: np.ndarray) -> np.ndarray:
    """Replace energies that are not finite by NaN."""
    return np.where(np.isfinite(energies), energies, np.nan)
