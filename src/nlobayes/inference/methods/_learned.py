"""Gaussians with free parameters, and how these are learned by the evidence lower bound (ELBO).

Each is a function of its parameters, with root D (I + B): D is diagonal, and B says the form. For
`full` it is strictly lower triangular, for `low_rank` it is V V', for `diagonal` zero. With
V V' the covariance is any diagonal matrix plus one of low rank (Ong, Nott and Smith 2018, J.
Comput. Graph. Stat. 27, 465).

BlackJAX has mean-field and full-rank steps, but no low rank, and both start at the same spread in
all directions. One step for the three forms is shorter than two of these and a third.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax.scipy.linalg import cho_factor, cho_solve, solve_triangular

from nlobayes.inference.methods._gaussian import Covariance, Gaussian

Parameters = dict[str, jax.Array]
FIRST_SD = 0.1
"""Sd of all entries before the first step: draws begin near the mean."""
FIRST_FACTOR = 0.1
"""Length of the columns of V before the first step: at zero its gradient would vanish."""


class Learning(NamedTuple):
    """Steps of Adam, the draws of each, and the step size that a cosine lets fall to zero."""

    steps: int
    draws_per_step: int
    step_size: float


def first_parameters(
    key: jax.Array, entries: int, covariance: Covariance, rank: int, dtype: jnp.dtype
) -> Parameters:
    """Give the parameters before the first step: a narrow Gaussian about zero (entry,)."""
    zero = jnp.zeros(entries, dtype)
    common = {"mean": zero, "log_sd": zero + jnp.log(FIRST_SD)}
    if covariance == "full":
        return {**common, "lower": jnp.zeros((entries, entries), dtype)}
    if covariance == "low_rank":
        factor = jax.random.normal(key, (entries, rank), dtype) / jnp.sqrt(entries)
        return {**common, "factor": FIRST_FACTOR * factor}
    return common


def gaussian_of(parameters: Parameters) -> Gaussian:
    """Give the Gaussian of such parameters."""
    sd, log_determinant = jnp.exp(parameters["log_sd"]), 2 * jnp.sum(parameters["log_sd"])
    if "lower" in parameters:
        spread, whiten = _triangular(parameters["lower"])
    elif "factor" in parameters:
        spread, whiten, of_factor = _factored(parameters["factor"])
        log_determinant += 2 * of_factor
    else:
        spread = whiten = _same
    return Gaussian(
        parameters["mean"],
        lambda z: sd * spread(z),
        lambda moved: whiten(moved / sd),
        log_determinant,
    )


def learn(
    key: jax.Array,
    log_density: Callable[[jax.Array], jax.Array],
    parameters: Parameters,
    learning: Learning,
) -> tuple[Parameters, jax.Array]:
    """Raise the ELBO, the mean of log density minus that of the Gaussian, over draws of it.

    Gradients pass through the draws alone: those of the Gaussian's own log density by its
    parameters vanish on average, and without them the noise does too where the Gaussian is
    exact (Roeder, Wu and Duvenaud 2017, NeurIPS 30).

    Returns
    -------
    tuple
        The parameters after the last step, and the ELBO estimated at every step (step,).
    """
    schedule = optax.cosine_decay_schedule(learning.step_size, learning.steps)
    adam = optax.adam(schedule)

    def loss(parameters: Parameters, own: jax.Array) -> jax.Array:
        draws = gaussian_of(parameters).draw(own, learning.draws_per_step)
        held = gaussian_of(jax.lax.stop_gradient(parameters))
        return jnp.mean(held.log_density(draws) - jax.vmap(log_density)(draws))

    def step(carried: tuple[Parameters, optax.OptState], own: jax.Array) -> tuple:
        parameters, state = carried
        value, slope = jax.value_and_grad(loss)(parameters, own)
        change, state = adam.update(slope, state)
        return (optax.apply_updates(parameters, change), state), -value

    @jax.jit
    def run(parameters: Parameters, keys: jax.Array) -> tuple[Parameters, jax.Array]:
        (last, _), elbo = jax.lax.scan(step, (parameters, adam.init(parameters)), keys)
        return last, elbo

    return run(parameters, jax.random.split(key, learning.steps))


def moved_by(outer: Gaussian, inner: Gaussian) -> Gaussian:
    """Give the Gaussian of x where the vector that `outer` spreads to x is drawn from `inner`."""
    return Gaussian(
        outer.mean + outer.spread(inner.mean),
        lambda z: outer.spread(inner.spread(z)),
        lambda moved: inner.whiten(outer.whiten(moved)),
        outer.log_determinant + inner.log_determinant,
    )


def _same(vector: jax.Array) -> jax.Array:
    return vector


Linear = Callable[[jax.Array], jax.Array]


def _triangular(lower: jax.Array) -> tuple[Linear, Linear]:
    """Give the product with I + B, B the strictly lower triangle, and with its inverse."""
    root = jnp.tril(lower, -1) + jnp.identity(len(lower), lower.dtype)

    def whiten(moved: jax.Array) -> jax.Array:
        return solve_triangular(root, moved, lower=True, unit_diagonal=True)

    return lambda z: root @ z, whiten


def _factored(factor: jax.Array) -> tuple[Linear, Linear, jax.Array]:
    """Give the product with I + V V', with its inverse (Woodbury), and its log determinant."""
    small = jnp.identity(factor.shape[1], factor.dtype) + factor.T @ factor
    solved = cho_factor(small)

    def whiten(moved: jax.Array) -> jax.Array:
        return moved - factor @ cho_solve(solved, factor.T @ moved)

    log_determinant = 2 * jnp.sum(jnp.log(jnp.diag(solved[0])))
    return lambda z: z + factor @ (factor.T @ z), whiten, log_determinant
