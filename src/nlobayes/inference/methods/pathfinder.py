"""Pathfinder: the best Gaussian along a quasi-Newton path that starts near each MAP.

At every point of an L-BFGS path the pairs of its last steps and slopes give an inverse Hessian,
hence a Gaussian; that of the largest evidence lower bound (ELBO) is kept. Candidates of all paths
are weighted to the posterior and resampled (Zhang, Carpenter, Gelman and Vehtari 2022, JMLR 23,
306). The paths start from displaced MAPs, because the curvature is learned from their steps.

`blackjax.vi.pathfinder` of release 1.7 moves the mean against the slope. This module uses its path
and factors, with the mean one Newton step towards the maximum.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from blackjax.optimizers.lbfgs import lbfgs_inverse_hessian_factors, minimize_lbfgs

from nlobayes.inference.kernel import LogDensity
from nlobayes.inference.method import Approached, Drawn
from nlobayes.inference.methods._gaussian import (
    Gaussian,
    diagonal_and_factor,
    diagonal_of,
    moved_by,
    whitened,
)
from nlobayes.inference.methods._mixture import Mixture, check_starts, deal

FLATTEST, LEAST_GAIN, LINE_SEARCH = 1e-8, 1e-12, 50
"""Slope and relative gain at which a path ends, and limit of tried lengths of a step."""


class Pathfinder(NamedTuple):
    """Draws of the Gaussians of paths from several MAPs."""

    modes: int
    draws: int
    candidates: int
    resample: bool
    displacement: float
    iterations: int
    history: int
    draws_per_step: int

    def sample(self, key: jax.Array, posterior: Approached) -> Drawn:
        """Draw positions, equally many of each path; keep its ELBO and the number of its step.

        Raises
        ------
        InputError
            If there are more or fewer MAPs than modes.
        """
        check_starts(posterior.starts, self.modes)
        key_draws, *keys = jax.random.split(key, self.modes + 1)
        found = [
            self._follow(*each, posterior) for each in zip(keys, posterior.starts, strict=True)
        ]
        parts, facts = zip(*found, strict=True)
        of_starts = {name: [fact[name] for fact in facts] for name in facts[0]}
        count = self.candidates if self.resample else self.draws
        mixture = Mixture(parts, deal(count, of_starts["elbo"], "equal"))
        drawn = mixture.drawn(key_draws, posterior, of_starts)
        return drawn._replace(resample=self.draws if self.resample else None)

    def _follow(
        self, key: jax.Array, start: jax.Array, posterior: Approached
    ) -> tuple[Gaussian, dict[str, float]]:
        """Return the best Gaussian of a path, in units of the prior about a MAP."""
        prior = diagonal_of(start, jax.jit(posterior.gauss_newton.prior)(start))
        density = whitened(posterior.logdensity_fn, prior)
        key_start, key_path = jax.random.split(key)
        begin = self.displacement * jax.random.normal(key_start, start.shape, start.dtype)
        path = jax.jit(lambda at: follow(density, at, self.iterations, self.history))(begin)
        elbo = jax.jit(lambda own: elbo_along(own, density, path, self.draws_per_step))(key_path)
        best = int(jnp.argmax(elbo))
        return moved_by(prior, gaussian_at(path, best)), {
            "elbo": float(elbo[best]),
            "step": float(best),
        }


class Path(NamedTuple):
    """Points of a path, and the Hessian estimated from its steps.

    Attributes
    ----------
    position, slope, alpha
        Position, slope of the log density, and diagonal of the inverse Hessian without its last
        pairs (step, entry).
    moved, fallen
        Changes of position and fall of the slope in each step, after `history` zeros
        (history + step, entry). Zero where the slope did not fall.
    reached
        Whether the path reached a point before it ended (step,).
    """

    position: jax.Array
    slope: jax.Array
    alpha: jax.Array
    moved: jax.Array
    fallen: jax.Array
    reached: jax.Array


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


build = Pathfinder
