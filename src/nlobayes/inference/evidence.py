"""The hyperparameters of highest evidence: scales of the noise and of the prior.

The evidence of hyperparameters h integrates the parameters of the network out by Laplace's method
with the Gauss-Newton curvature H there, log p(D, z*, h) - log |H| / 2, where z* is the MAP given h
(MacKay 1992, Neural Computation 4, 448; Immer et al. 2021, ICML, arXiv:2104.04975). It includes the
priors of h, as densities of the entries of a position: for scales, of their logarithms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import cho_factor, cho_solve
from jax.scipy.sparse.linalg import cg
from scipy.optimize import minimize

from nlobayes.errors import InputError
from nlobayes.inference.curvature import check_dense
from nlobayes.inference.method import MethodInput

FARTHEST = 10.0
"""Largest distance of an entry from its MAP in the search: a factor of 22 000 for scales."""
MOST_STEPS = 200
"""Limit of steps to the MAP given the hyperparameters, and of conjugate gradients there."""
TOLERANCE = 1e-6
"""Relative residual of conjugate gradients."""
MOST_STARTS, GAIN = 10, 0.01
"""Limit of successive quasi-Newton searches, and least gain in log evidence to start another one:
a search ends where the MAP given the hyperparameters jumps to another mode."""


class _Climb(NamedTuple):
    """State of a climb: position, log density, damping, number of steps, and whether it ended."""

    position: jax.Array
    density: jax.Array
    damping: jax.Array
    steps: jax.Array
    done: jax.Array


class EvidenceMaximum(NamedTuple):
    """The position of highest evidence, and the largest slope there, near 0 at a maximum.

    The slope is not near 0 where the followed mode ends: the MAP then jumps to another mode.
    """

    position: jax.Array
    slope: float


def maximise_evidence(posterior: MethodInput, start: jax.Array) -> EvidenceMaximum:
    """Move a start (entry,) to the highest evidence of its hyperparameters.

    Raises InputError if there are no hyperparameters, or too many parameters for the dense
    curvature.
    """
    held = posterior.hyperparameters
    if not len(held):
        raise InputError("inference.no_hyperparameters")
    check_dense(start.size, "method.hyperparameters: evidence")
    evaluate = jax.jit(_evidence_with(posterior))
    best: list[Any] = [np.inf, start, np.inf]

    def minus(hyperparameters: np.ndarray) -> tuple[float, np.ndarray]:
        placed = best[1].at[held].set(jnp.asarray(hyperparameters, start.dtype))
        evidence, slope, position = evaluate(placed)
        value = -float(evidence) if jnp.isfinite(evidence) else np.inf
        slopes = np.nan_to_num(np.asarray(slope, np.float64))
        if value < best[0]:
            best[:] = value, position, float(np.abs(slopes).max())
        return value, -slopes

    bounds = [(each - FARTHEST, each + FARTHEST) for each in np.asarray(start[held], np.float64)]
    for _ in range(MOST_STARTS):
        before, begin = best[0], np.asarray(best[1][held], np.float64)
        minimize(minus, begin, jac=True, method="L-BFGS-B", bounds=bounds)
        if not best[0] < before - GAIN:
            break
    return EvidenceMaximum(*best[1:])


def _evidence_with(
    posterior: MethodInput,
) -> Callable[[jax.Array], tuple[jax.Array, jax.Array, jax.Array]]:
    """Build the evidence of the hyperparameters of a position, its slope, and the MAP there.

    The slope includes the change of the MAP with the hyperparameters: the slope of a(z*(h), h) is
    da/dh + (dz*/dh)' da/dz, with dz*/dh minus the inverse Hessian of log p in z times its mixed
    derivatives. The inverse is by conjugate gradients, preconditioned by the Gauss-Newton
    curvature.
    """
    held, density = posterior.hyperparameters, posterior.logdensity_fn
    rest = np.delete(np.arange(posterior.starts.shape[1]), held)
    climb = _climb_with(posterior, rest)

    def log_determinant(position: jax.Array) -> jax.Array:
        factor, _ = cho_factor(_part(posterior, position, rest), lower=True)
        return 2 * jnp.sum(jnp.log(jnp.diag(factor)))

    def evidence(position: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
        top = climb(position)
        value, slope = jax.value_and_grad(density)(top)
        volume, of_volume = jax.value_and_grad(log_determinant)(top)
        factor = cho_factor(_part(posterior, top, rest), lower=True)

        def slope_along(move: jax.Array) -> jax.Array:
            whole = jnp.zeros_like(top).at[rest].set(move)
            return jax.jvp(jax.grad(density), (top,), (whole,))[1]

        move, _ = cg(
            lambda z: -slope_along(z)[rest],
            of_volume[rest],
            M=lambda z: cho_solve(factor, z),
            tol=TOLERANCE,
            maxiter=MOST_STEPS,
        )
        mixed = slope_along(move)
        return value - volume / 2, (slope - (of_volume + mixed) / 2)[held], top

    return evidence


def _climb_with(posterior: MethodInput, rest: np.ndarray) -> Callable[[jax.Array], jax.Array]:
    """Build the climb to the MAP of some entries given the others (Levenberg and Marquardt)."""
    density = posterior.logdensity_fn
    eps = jnp.finfo(posterior.starts.dtype).eps

    def step(now: _Climb) -> _Climb:
        slope = jax.grad(density)(now.position)[rest]
        curvature = _part(posterior, now.position, rest)
        damped = curvature + now.damping * jnp.diag(jnp.diag(curvature))
        move = cho_solve(cho_factor(damped, lower=True), slope)
        position = now.position.at[rest].add(move)
        value = density(position)
        rises = value >= now.density
        gain = slope @ move / 2
        return _Climb(
            jnp.where(rises, position, now.position),
            jnp.where(rises, value, now.density),
            jnp.where(rises, now.damping / 10, jnp.maximum(10 * now.damping, 1e-4)),
            now.steps + 1,
            gain < 10 * eps * jnp.maximum(1, jnp.abs(now.density)),
        )

    def climb(position: jax.Array) -> jax.Array:
        begin = _Climb(
            position, density(position), jnp.zeros(()), jnp.zeros((), int), jnp.array(False)
        )
        ended: _Climb = jax.lax.while_loop(
            lambda now: ~now.done & (now.steps < MOST_STEPS), step, begin
        )
        return ended.position

    return climb


def _part(posterior: MethodInput, position: jax.Array, rest: np.ndarray) -> jax.Array:
    return posterior.gauss_newton.dense(position)[np.ix_(rest, rest)]
