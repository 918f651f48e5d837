"""Bayesian optimisation of step size and number of leapfrog steps, each chain on its own.

Maximises the expected squared jump over sqrt(L), E |q' - q|^2 / sqrt(L), where a rejected
proposal jumps by 0 (Wang, Mohamed & de Freitas 2013, "Adaptive Hamiltonian and Riemann manifold
Monte Carlo"). Its constants are kept: rewards scaled to a largest of 4, a Gaussian covariance of
length 0.2 of each range, the upper confidence bound with delta 0.1, and exploration annealed as
1 / sqrt(evaluations since it began). The candidates are a grid in log step size and log L.

TensorBNN (arXiv:2009.14393) has the same plan, but its code uses the inner product of two
candidates where the covariance needs their squared distance, so that its matrix is no covariance;
multiplies the bonus by the variance, not its root; and continues to adapt while it samples. Here
the tuned pair is frozen: the tried pair with the best posterior mean.

Two additions of TensorBNN are optional: random first candidates, and a restart with both limits of
the step size halved if a chain does not move before exploration is annealed.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from nlobayes.errors import InputError
from nlobayes.inference.adaptation import Adaptation, Untuned, independent
from nlobayes.inference.kernel import Info, State
from nlobayes.inference.kernels.tensorbnn import TunedSteps

LARGEST_REWARD = 4.0
COVARIANCE_LENGTH = 0.2
DELTA = 0.1
EXPLORING_SHARE = 0.5
OF_CANDIDATE = 2**31
"""Folded into the key of a step for its random candidate; a small number would give a key of the
kernel, because `fold_in(key, 1)` is the second of `split(key)`."""
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


class Carry(NamedTuple):
    """A chain, the candidate it tries, the best so far, and the rewards.

    `still` counts consecutive rejections, without those of random candidates. `halvings` counts
    the restarts; the last one followed `begun` evaluations.
    """

    state: State
    candidate: jax.Array
    best: jax.Array
    rewards: Rewards
    still: jax.Array
    halvings: jax.Array
    begun: jax.Array


def build(
    untuned: Untuned,
    *,
    steps: int,
    adaptation_share: float,
    initial_step_size: float,
    step_size_min: float,
    step_size_max: float,
    step_size_points: int,
    integration_steps_min: int,
    integration_steps_max: int,
    integration_steps_points: int,
    batch: int,
    random_candidates: int = 0,
    reset_after: int | None = None,
) -> Adaptation:
    """Build the warm-up of the kernel `tensorbnn`; each `batch` draws try one candidate.

    The first `random_candidates` after each start are drawn from the grid. After `reset_after`
    consecutive rejections the search restarts at half the step sizes; None disables restarts.
    """
    kernel = untuned.kernel
    evaluations = int(adaptation_share * steps) // batch
    _require_evaluations(evaluations, batch, steps)
    grid = lay_grid(
        (step_size_min, step_size_max, step_size_points),
        (integration_steps_min, integration_steps_max, integration_steps_points),
    )
    step_sizes, integration_steps, covariance = (jnp.asarray(each) for each in grid)
    nearest = int(np.argmin(np.abs(np.log(grid.step_size / initial_step_size))))

    def tuned_of(candidate: jax.Array, halvings: jax.Array, position: jax.Array) -> TunedSteps:
        step_size = (step_sizes[candidate] * 0.5**halvings).astype(position.dtype)
        return TunedSteps(step_size, jnp.ones_like(position), integration_steps[candidate])

    def start(position: jax.Array) -> Carry:
        none = jnp.zeros(len(grid.step_size), position.dtype)
        first, zero = jnp.asarray(nearest), jnp.asarray(0)
        rewards = Rewards(none, none, none)
        return Carry(kernel.init(position), first, first, rewards, zero, zero, zero)

    def step(key: jax.Array, carry: Carry, index: jax.Array) -> tuple[Carry, Info]:
        is_adapting = index < evaluations * batch
        candidate = jnp.where(is_adapting, carry.candidate, carry.best)
        tuned = tuned_of(candidate, carry.halvings, carry.state.position)
        state, info = kernel.step(key, carry.state, tuned)
        reward = jnp.sum((state.position - carry.state.position) ** 2)
        reward = reward / jnp.sqrt(tuned.integration_steps) * is_adapting
        counts = is_adapting & (index // batch - carry.begun >= random_candidates)
        carry = carry._replace(
            state=state,
            rewards=_add(carry.rewards, candidate, reward, is_adapting),
            still=jnp.where((reward > 0) | ~counts, 0, carry.still + 1),
        )
        ends = is_adapting & ((index + 1) % batch == 0)
        evaluated = (index + 1) // batch
        return jax.lax.cond(ends, choose, lambda same, *_: same, carry, evaluated, key), info

    def choose(carry: Carry, evaluated: jax.Array, key: jax.Array) -> Carry:
        if reset_after is not None:
            explores = evaluated < EXPLORING_SHARE * evaluations
            carry = _begun_anew(carry, evaluated, explores & (carry.still >= reset_after))
        mean, sd = posterior(carry.rewards, covariance)
        since = evaluated - carry.begun
        bound = mean + exploration(since, evaluations - carry.begun) * sd
        best = jnp.argmax(jnp.where(carry.rewards.draws > 0, mean, -jnp.inf))
        candidate = jnp.argmax(bound)
        if random_candidates:
            drawn = jax.random.randint(
                jax.random.fold_in(key, OF_CANDIDATE), (), 0, len(grid.step_size)
            )
            candidate = jnp.where(since < random_candidates, drawn, candidate)
        return carry._replace(candidate=candidate, best=best)

    def finish(carry: Carry) -> tuple[State, TunedSteps]:
        return carry.state, tuned_of(carry.best, carry.halvings, carry.state.position)

    return independent(start, step, finish)


def lay_grid(step_sizes: tuple[float, float, int], integration_steps: tuple[int, int, int]) -> Grid:
    """Build the grid of both; each has its least and largest value and its number of points.

    Points are uniform in the logarithm. Numbers of leapfrog steps that round to the same integer
    are one candidate; step sizes vary slowest.
    """
    _require_range("step_size", step_sizes)
    _require_range("integration_steps", integration_steps)
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


def _begun_anew(carry: Carry, evaluated: jax.Array, begins: jax.Array) -> Carry:
    """Discard all rewards and halve the step sizes where a chain restarts (`begins`)."""
    zero = jnp.zeros_like(carry.still)
    anew = carry._replace(
        rewards=jax.tree.map(jnp.zeros_like, carry.rewards),
        still=zero,
        halvings=carry.halvings + 1,
        begun=zero + evaluated.astype(zero.dtype),
    )
    return jax.tree.map(lambda new, old: jnp.where(begins, new, old), anew, carry)


def _add(
    rewards: Rewards, candidate: jax.Array, reward: jax.Array, is_adapting: jax.Array
) -> Rewards:
    return Rewards(
        rewards.draws.at[candidate].add(is_adapting),
        rewards.total.at[candidate].add(reward),
        rewards.squares.at[candidate].add(reward**2),
    )


def _place(values: np.ndarray) -> np.ndarray:
    """Map values to [0, 1] by their logarithm."""
    logs = np.log(values)
    return (logs - logs.min()) / max(np.ptp(logs), np.finfo(float).tiny)


def _require_evaluations(evaluations: int, batch: int, steps: int) -> None:
    if evaluations < 1:
        raise InputError("inference.no_batch", batch=batch, steps=steps)


def _require_range(name: str, points: tuple[float, float, int]) -> None:
    least, largest, count = points
    if not 0 < least <= largest or count < 1:
        raise InputError(
            "inference.search_range", setting=name, least=least, largest=largest, points=count
        )
