"""Quasi-Newton paths to a maximum, and the Gaussian of each of their points.

`methods/pathfinder` describes the method and its source.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from blackjax.optimizers.lbfgs import lbfgs_inverse_hessian_factors, minimize_lbfgs

from nlobayes.inference.gaussians import Gaussian, diagonal_and_factor
from nlobayes.inference.kernel import LogDensity

FLATTEST, LEAST_GAIN, LINE_SEARCH = 1e-8, 1e-12, 50
"""Slope and relative gain at which a path ends, and limit of tried lengths of a step."""


class Path(NamedTuple):
    """Points of a path, and the Hessian estimated from its steps."""

    position: jax.Array
    """Position (step, entry)."""
    slope: jax.Array
    """Slope of the log density (step, entry)."""
    alpha: jax.Array
    """Diagonal of the inverse Hessian without its last pairs (step, entry)."""
    moved: jax.Array
    """Change of position in each step, after `history` zeros (history + step, entry). Zero where
    the slope did not fall."""
    fallen: jax.Array
    """Fall of the slope in each step, with the same zeros (history + step, entry)."""
    reached: jax.Array
    """Whether the path reached a point before it ended (step,)."""


def follow(log_density: LogDensity, start: jax.Array, iterations: int, history: int) -> Path:
    """Follow L-BFGS from a position (entry,) to a maximum of a log density."""
    (_, status), found = minimize_lbfgs(
        lambda at: -log_density(at), start, iterations, history, FLATTEST, LEAST_GAIN, LINE_SEARCH
    )
    changes = (jnp.where(found.update_mask[1:], jnp.diff(x, axis=0), 0) for x in (found.x, found.g))
    moved, fallen = (jnp.pad(each, ((history, 0), (0, 0))) for each in changes)
    reached = jnp.arange(iterations + 1) <= status.iter_num
    return Path(found.x, -found.g, found.alpha, moved, fallen, reached)


def gaussian_at(path: Path, place: int | jax.Array) -> Gaussian:
    """Return the Gaussian of a point: one Newton step ahead, with the inverse Hessian there."""
    history = len(path.moved) - len(path.position) + 1
    position, slope, alpha = (each[place] for each in (path.position, path.slope, path.alpha))
    pairs = (jax.lax.dynamic_slice_in_dim(x, place, history).T for x in (path.moved, path.fallen))
    beta, gamma = lbfgs_inverse_hessian_factors(*pairs, alpha)
    mean = position + alpha * slope + beta @ (gamma @ (beta.T @ slope))
    return diagonal_and_factor(mean, alpha, beta, gamma)


def elbo_along(key: jax.Array, log_density: LogDensity, path: Path, draws: int) -> jax.Array:
    """Estimate the ELBO of the Gaussian of every point (step,); minus infinity where there is none.

    The draws of all points use the same noise, which reduces the noise of differences.
    """

    def elbo(place: jax.Array) -> jax.Array:
        about = gaussian_at(path, place)
        positions = about.draw(key, draws)
        return jnp.mean(jax.vmap(log_density)(positions) - about.log_density(positions))

    found = jax.lax.map(elbo, jnp.arange(len(path.position)))
    return jnp.where(path.reached & jnp.isfinite(found), found, -jnp.inf)
