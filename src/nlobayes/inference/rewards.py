"""Rewards of candidates of step size and steps: a Gaussian process over their grid.

`adaptations/bayesian_optimisation` describes the search and its source.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

LARGEST_REWARD = 4.0
"""Largest average reward after scaling; this and the next two are those of Wang et al. (2013)."""
COVARIANCE_LENGTH = 0.2
"""Length of the Gaussian covariance, as a share of the range of each logarithm."""
DELTA = 0.1
"""Probability in the upper confidence bound."""
EXPLORING_SHARE = 0.5
"""Share of the evaluations after which exploration is annealed."""
MISFIT_VARIANCE = 0.1**2
"""Variance of the reward around a smooth surface; it also bounds the condition number."""


class Grid(NamedTuple):
    """The candidates (candidate,) and their prior covariance (candidate, candidate)."""

    step_size: np.ndarray
    integration_steps: np.ndarray
    covariance: np.ndarray


class Rewards(NamedTuple):
    """Sums over the draws of each candidate (candidate,), which determine the posterior."""

    draws: jax.Array
    total: jax.Array
    squares: jax.Array


def lay_grid(step_sizes: tuple[float, float, int], integration_steps: tuple[int, int, int]) -> Grid:
    """Build the grid of both; each has its least and largest value and its number of points.

    Points are uniform in the logarithm. Numbers of leapfrog steps that round to the same integer
    are one candidate; step sizes vary slowest.
    """
    lengths = np.unique(np.round(np.geomspace(*integration_steps)).astype(int))
    step_size, steps = (
        each.ravel() for each in np.meshgrid(np.geomspace(*step_sizes), lengths, indexing="ij")
    )
    place = np.stack([_place(step_size), _place(steps)], axis=1)
    squared = np.sum((place[:, None] - place[None]) ** 2, axis=-1)
    return Grid(step_size, steps, np.exp(-0.5 * squared / COVARIANCE_LENGTH**2))


def posterior(rewards: Rewards, covariance: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return mean and standard deviation of the scaled reward of each candidate (candidate,).

    The Gaussian process has a zero prior mean; an average of n rewards has the variance of one,
    pooled over candidates, over n, plus the misfit. B = I + W^1/2 K W^1/2 is Rasmussen &
    Williams (2006), section 3.4.3: candidates without a reward have no weight in it.
    """
    average = rewards.total / jnp.maximum(rewards.draws, 1)
    largest = jnp.max(average)
    scale = jnp.where(largest > 0, LARGEST_REWARD / largest, 0)
    spread = jnp.maximum(rewards.squares - rewards.total * average, 0)
    pooled = jnp.sqrt(jnp.sum(spread) / jnp.maximum(jnp.sum(rewards.draws), 1))
    variance = (scale * pooled) ** 2
    root = jnp.sqrt(rewards.draws / (variance + MISFIT_VARIANCE * jnp.maximum(rewards.draws, 1)))
    cholesky = jnp.linalg.cholesky(
        jnp.eye(len(root), dtype=root.dtype) + root[:, None] * covariance * root
    )
    half = jax.scipy.linalg.solve_triangular(cholesky, root[:, None] * covariance, lower=True)
    whitened = jax.scipy.linalg.solve_triangular(cholesky, root * scale * average, lower=True)
    remaining = jnp.diagonal(covariance) - jnp.sum(half**2, axis=0)
    return half.T @ whitened, jnp.sqrt(jnp.maximum(remaining, 0))


def exploration(evaluated: jax.Array, evaluations: int | jax.Array) -> jax.Array:
    """Return the factor on the standard deviation in the upper confidence bound.

    With two parameters sqrt(2 log((i + 1)^3 pi^2 / (3 delta))) after i evaluations, annealed by
    1 / sqrt(i - k + 1) from the k-th on.
    """
    beta = 2 * jnp.log((evaluated + 1.0) ** 3 * np.pi**2 / (3 * DELTA))
    annealed = jnp.maximum(evaluated - EXPLORING_SHARE * evaluations + 1, 1)
    return jnp.sqrt(beta / annealed)


def add_reward(
    rewards: Rewards, candidate: jax.Array, reward: jax.Array, is_adapting: jax.Array
) -> Rewards:
    """Add the reward of one draw of a candidate."""
    return Rewards(
        rewards.draws.at[candidate].add(is_adapting),
        rewards.total.at[candidate].add(reward),
        rewards.squares.at[candidate].add(reward**2),
    )


def _place(values: np.ndarray) -> np.ndarray:
    """Map values to [0, 1] by their logarithm."""
    logs = np.log(values)
    return (logs - logs.min()) / max(np.ptp(logs), np.finfo(float).tiny)
