"""The Gauss-Newton mass matrix: the mean curvature of the density along the chain.

The inverse mass matrix is the inverse of the mean, over the positions of a window, of the
positive definite part of the negative Hessian of the log density (for a network J' J / sigma^2
plus the curvature of the prior and the information of learned noise, J the Jacobian of its
outputs). Unlike a covariance of draws it resolves the stiff directions of a posterior from few
positions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from blackjax.adaptation.metric_recipes import MetricCore

from nlobayes.errors import InputError
from nlobayes.untyped import Tree

MOST_PARAMETERS = 4000
"""Number of parameters above which the dense matrix costs more time than it saves."""

Curvature = Callable[[jax.Array], jax.Array]


class GaussNewton(NamedTuple):
    """The same curvature at a position (parameter,), in forms for few and for many parameters."""

    dense: Curvature
    """The matrix (parameter, parameter)."""
    prior: Callable[[jax.Array], jax.Array]
    """The diagonal of the contribution of the prior (parameter,), without earlier data."""
    diagonal: Callable[[jax.Array], jax.Array]
    """The diagonal (parameter,)."""
    product: Callable[[jax.Array], Callable[[jax.Array], jax.Array]]
    """Gives for a position the function that multiplies the matrix by a vector (parameter,)."""


class CurvatureState(NamedTuple):
    """The inverse mass matrix in use, and sum and number of the curvatures in this window."""

    inverse_mass_matrix: jax.Array
    total: jax.Array
    positions: jax.Array


def gauss_newton(curvature: Curvature) -> MetricCore:
    """Build the estimator from `curvature(position)` (parameter, parameter)."""

    def init(size: int) -> CurvatureState:
        check_dense(size, "warmup.mass_matrix")
        nothing = jnp.zeros((size, size))
        return CurvatureState(jnp.identity(size), nothing, jnp.zeros(()))

    def update(state: CurvatureState, position: jax.Array, grad: Tree) -> CurvatureState:
        del grad
        total = state.total + curvature(position)
        return state._replace(total=total, positions=state.positions + 1)

    def final(state: CurvatureState) -> CurvatureState:
        inverse = invert(state.total / jnp.maximum(state.positions, 1))
        return init(len(inverse))._replace(inverse_mass_matrix=inverse)

    return MetricCore(init, update, final)


def check_dense(size: int, where: str) -> None:
    """Refuse a dense matrix of too many parameters.

    Raises InputError if there are more parameters than can be factorised in reasonable time.
    """
    if size > MOST_PARAMETERS:
        raise InputError(
            "inference.dense_curvature", where=where, parameters=size, most=MOST_PARAMETERS
        )


def invert(curvature: jax.Array) -> jax.Array:
    """Invert a positive definite matrix with a condition number that its precision allows.

    Eigenvalues above eps^(-2/3) times the smallest are set to that limit. Those directions stay
    somewhat stiff, but the inverse keeps three digits in all of them.
    """
    values, vectors = jnp.linalg.eigh(curvature)
    eps = jnp.finfo(values.dtype).eps
    smallest = jnp.maximum(values[0], values[-1] * eps)
    held = jnp.clip(values, smallest, smallest * eps ** (-2 / 3))
    inverse = (vectors / held) @ vectors.T
    return (inverse + inverse.T) / 2
