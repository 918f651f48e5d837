"""Gaussians with free parameters, which are learned by the evidence lower bound (ELBO).

The root of the covariance is D (I + B): D is diagonal, and B sets the form. B is strictly lower
triangular for `full`, V V' for `low_rank`, and zero for `diagonal`. With V V' the covariance is any
diagonal matrix plus one of low rank (Ong, Nott and Smith 2018, J. Comput. Graph. Stat. 27, 465).

BlackJAX has mean-field and full-rank steps, but none of low rank, and both start from the same
spread in all directions. One implementation for the three forms is shorter.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.scipy.linalg import cho_factor, cho_solve, solve_triangular

from nlobayes.inference.gaussians import Covariance, Gaussian
from nlobayes.inference.kernel import LogDensity

Parameters = dict[str, jax.Array]
Carried = tuple[Parameters, optax.OptState]
APPRAISING, DRAWS_AT_ONCE = 1000, 50
"""Draws that estimate the ELBO at the end, and draws that are evaluated at once."""
FIRST_SD = 0.1
"""Sd of all entries before the first step: draws begin near the mean."""
FIRST_FACTOR = 0.1
"""Length of the columns of V before the first step: the gradient vanishes at zero."""


class Learning(NamedTuple):
    """Steps of Adam, draws per step, and the step size, which a cosine decreases to zero."""

    steps: int
    draws_per_step: int
    step_size: float


def first_parameters(
    key: jax.Array, entries: int, covariance: Covariance, rank: int, dtype: jnp.dtype
) -> Parameters:
    """Return the parameters before the first step: a narrow Gaussian about zero (entry,)."""
    zero = jnp.zeros(entries, dtype)
    common = {"mean": zero, "log_sd": zero + jnp.log(FIRST_SD)}
    if covariance == "full":
        return {**common, "lower": jnp.zeros((entries, entries), dtype)}
    if covariance == "low_rank":
        return {**common, "factor": FIRST_FACTOR * jax.random.normal(key, (entries, rank), dtype)}
    return common


def gaussian_of(parameters: Parameters) -> Gaussian:
    """Return the Gaussian with these parameters.

    Numbers of B are in units of one over the root of the number of entries: a step of all of
    them moves a draw as far as a step of its sd, and a triangle keeps a stable inverse.
    """
    unit = 1 / jnp.sqrt(parameters["mean"].size)
    sd, log_determinant = jnp.exp(parameters["log_sd"]), 2 * jnp.sum(parameters["log_sd"])
    if "lower" in parameters:
        spread, whiten = _triangular(unit * parameters["lower"])
    elif "factor" in parameters:
        spread, whiten, of_factor = _factored(unit * parameters["factor"])
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
    key: jax.Array, log_density: LogDensity, parameters: Parameters, learning: Learning
) -> Parameters:
    """Raise the ELBO, the mean over draws of the Gaussian of log density minus its own.

    Gradients are taken through the draws only. The gradients of the Gaussian's log density by its
    parameters vanish on average; without them the noise vanishes too if the Gaussian is exact
    (Roeder, Wu and Duvenaud 2017, NeurIPS 30).
    """
    adam = optax.adam(optax.cosine_decay_schedule(learning.step_size, learning.steps))

    def loss(parameters: Parameters, own: jax.Array) -> jax.Array:
        noise = _noise(own, learning.draws_per_step, parameters)
        held = jax.lax.stop_gradient(parameters)
        return -jnp.mean(jax.vmap(partial(_gain, log_density, parameters, held))(noise))

    def step(carried: Carried, own: jax.Array) -> tuple[Carried, None]:
        parameters, state = carried
        change, state = adam.update(jax.grad(loss)(parameters, own), state)
        return (optax.apply_updates(parameters, change), state), None

    @jax.jit
    def run(parameters: Parameters, keys: jax.Array) -> Parameters:
        return jax.lax.scan(step, (parameters, adam.init(parameters)), keys)[0][0]

    return run(parameters, jax.random.split(key, learning.steps))


def appraise(key: jax.Array, log_density: LogDensity, parameters: Parameters) -> dict[str, float]:
    """Estimate the ELBO from new draws, and whether it is at its maximum.

    Returns `elbo`, its standard error `elbo_error`, and `slope_over_error`: the length of its slope
    by means (in sds) and log sds, over that of their standard errors. At the maximum it is about 1,
    also where the Gaussian is exact: the errors are those of the whole gradient.
    """

    def gain(free: Parameters, noise: jax.Array) -> jax.Array:
        moved = parameters | free
        return _gain(log_density, moved, moved, noise)

    @jax.jit
    def each(noise: jax.Array) -> tuple[jax.Array, Parameters]:
        free = {name: parameters[name] for name in ("mean", "log_sd")}
        return jax.lax.map(partial(jax.value_and_grad(gain), free), noise, batch_size=DRAWS_AT_ONCE)

    gains, slopes = each(_noise(key, APPRAISING, parameters))
    by_mean = slopes["mean"] * jnp.exp(parameters["log_sd"])
    slope = np.concatenate([by_mean, slopes["log_sd"]], axis=1)
    error = np.linalg.norm(slope.std(axis=0)) / np.sqrt(APPRAISING)
    ratio = np.linalg.norm(slope.mean(axis=0)) / max(error, np.finfo(slope.dtype).eps)
    return {
        "elbo": float(gains.mean()),
        "elbo_error": float(gains.std() / np.sqrt(APPRAISING)),
        "slope_over_error": float(ratio),
    }


def _noise(key: jax.Array, draws: int, parameters: Parameters) -> jax.Array:
    mean = parameters["mean"]
    return jax.random.normal(key, (draws, mean.size), mean.dtype)


def _gain(
    log_density: LogDensity, drawn: Parameters, scored: Parameters, noise: jax.Array
) -> jax.Array:
    """Estimate the ELBO from one draw, of two copies of the parameters: of draw and density."""
    of_draw = gaussian_of(drawn)
    position = of_draw.mean + of_draw.spread(noise)
    return log_density(position) - gaussian_of(scored).log_density(position[None])[0]


def _same(vector: jax.Array) -> jax.Array:
    return vector


Linear = Callable[[jax.Array], jax.Array]


def _triangular(lower: jax.Array) -> tuple[Linear, Linear]:
    """Return the product with I + B, B the strictly lower triangle, and with its inverse."""
    root = jnp.tril(lower, -1) + jnp.identity(len(lower), lower.dtype)

    def whiten(moved: jax.Array) -> jax.Array:
        return solve_triangular(root, moved, lower=True, unit_diagonal=True)

    return lambda z: root @ z, whiten


def _factored(factor: jax.Array) -> tuple[Linear, Linear, jax.Array]:
    """Return the product with I + V V', with its inverse (Woodbury), and its log determinant."""
    small = jnp.identity(factor.shape[1], factor.dtype) + factor.T @ factor
    solved = cho_factor(small)

    def whiten(moved: jax.Array) -> jax.Array:
        return moved - factor @ cho_solve(solved, factor.T @ moved)

    log_determinant = 2 * jnp.sum(jnp.log(jnp.diag(solved[0])))
    return lambda z: z + factor @ (factor.T @ z), whiten, log_determinant
