"""The Gauss-Newton curvature of a model: dense, its diagonal, and its product with a vector."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import solve_triangular

from nlobayes.builder.model import Model, predict_with, rows_of
from nlobayes.inference.curvature import Curvature, GaussNewton, check_dense
from nlobayes.inference.pretrain import Rows
from nlobayes.types import Dataset

LEAST = 0.01
"""Least curvature of the prior of a parameter: heavy tails have a negative curvature."""
ROWS_AT_ONCE = 64


def curvature_with(model: Model, dataset: Dataset) -> Curvature:
    """Build the Gauss-Newton curvature (parameter, parameter) of the negative log density.

    J' F J + K' K + the curvature of the prior. J is the Jacobian of the outputs at the train rows,
    and of the logarithms of a learned scale and of learned degrees of freedom; F is the Fisher
    information of the likelihood there. K is the Jacobian of the misfit of earlier data, in units
    of their noise. The curvature of the prior is its Hessian, whose diagonal is raised to 0.01,
    because heavy tails have a negative curvature. An output layer that is integrated out is at its
    conditional mean, and its entries are eliminated (Schur's complement).
    """
    slopes, rows = _slopes_with(model), rows_of(model, dataset, 0)

    def curvature(position: jax.Array) -> jax.Array:
        root = _information_root(model, position, rows)
        jacobian = jax.vmap(slopes, (None, 0))(position, rows)
        weighed = (root @ jacobian).reshape(-1, position.size)
        roots = jnp.concatenate([weighed, _earlier_slopes(model, position)])
        prior = -jax.hessian(model.density.log_prior_alone)(position)
        return roots.T @ roots + prior + jnp.diag(jnp.maximum(LEAST - jnp.diag(prior), 0))

    at_mean = model.sampled.complete_at_mean
    if at_mean is None:
        return curvature
    return lambda position: _eliminate(curvature(at_mean(position)), model.sampled.left)


def gauss_newton_with(model: Model, dataset: Dataset) -> GaussNewton:
    """Build the forms of the same curvature that need no matrix for many parameters.

    If the output layer is integrated out they are taken from the matrix, whose limit on the number
    of parameters then applies.
    """
    dense = curvature_with(model, dataset)
    if model.sampled.complete_at_mean is not None:
        return _of_matrix(dense, _prior_at_mean(model))
    rows = rows_of(model, dataset, 0)

    def prior(position: jax.Array) -> jax.Array:
        return _prior_curvature(model, position)

    def diagonal(position: jax.Array) -> jax.Array:
        of_earlier = jnp.sum(_earlier_slopes(model, position) ** 2, axis=0)
        return prior(position) + of_earlier + _sum_of_squares(model, position, rows)

    return GaussNewton(dense, prior, diagonal, lambda position: _product(model, position, rows))


def _of_matrix(dense: Curvature, prior: Callable[[jax.Array], jax.Array]) -> GaussNewton:
    def checked(position: jax.Array) -> jax.Array:
        check_dense(position.size, "network.output: marginalised")
        return dense(position)

    def product(position: jax.Array) -> Callable[[jax.Array], jax.Array]:
        matrix = checked(position)
        return lambda vector: matrix @ vector

    return GaussNewton(checked, prior, lambda position: jnp.diag(checked(position)), product)


def _prior_at_mean(model: Model) -> Callable[[jax.Array], jax.Array]:
    left = model.sampled.left
    return lambda position: _prior_curvature(model, model.sampled.whole(position))[left]


def _moved_with(model: Model) -> Callable[[jax.Array, Rows], jax.Array]:
    """Build the parameters of the distribution of each row: outputs and learned noise."""
    predict, likelihood = predict_with(model), model.likelihood

    def moved(position: jax.Array, rows: Rows) -> jax.Array:
        output = predict(position, rows.features)
        entries: jax.Array = likelihood.moved(
            output, model.density.variables(position), rows.error, jnp
        )
        return entries

    return moved


def _slopes_with(model: Model) -> Callable[[jax.Array, Rows], jax.Array]:
    """Build the derivatives (entry, parameter) of the distribution parameters of one row.

    Each row is differentiated separately, so that reverse mode runs on one row and not on all.
    """
    moved = _moved_with(model)

    def slopes(position: jax.Array, row: Rows) -> jax.Array:
        one = jax.tree.map(lambda column: column[None], row)
        return jax.jacrev(moved)(position, one).reshape(-1, position.size)

    return slopes


def _information_root(model: Model, position: jax.Array, rows: Rows) -> jax.Array:
    """Return the root (point, root, entry) of the information of each row."""
    output = predict_with(model)(position, rows.features)
    variables = model.density.variables(position)
    root: jax.Array = model.likelihood.information_root(output, variables, rows.error, jnp)
    return root


def _earlier_slopes(model: Model, position: jax.Array) -> jax.Array:
    """Return the Jacobian (combination, parameter) of the misfit of earlier data."""
    return jax.jacrev(model.density.earlier)(position)


def _prior_curvature(model: Model, position: jax.Array) -> jax.Array:
    """Return the curvature (parameter,) of the prior of each single parameter, at least 0.01."""
    own = _diagonal(_prior_hessian(model, position), position)
    return jnp.maximum(own, LEAST)


def _prior_hessian(model: Model, position: jax.Array) -> Callable[[jax.Array], jax.Array]:
    """Build the product of the Hessian of minus the log prior with a vector (parameter,)."""
    slope = jax.grad(model.density.log_prior_alone)
    return lambda vector: -jax.jvp(slope, (position,), (vector,))[1]


def _diagonal(product: Callable[[jax.Array], jax.Array], position: jax.Array) -> jax.Array:
    def one(place: jax.Array) -> jax.Array:
        return product(jnp.zeros_like(position).at[place].set(1))[place]

    return jax.lax.map(one, jnp.arange(position.size), batch_size=ROWS_AT_ONCE)


def _sum_of_squares(model: Model, position: jax.Array, rows: Rows) -> jax.Array:
    """Sum the squares (parameter,) of the weighted Jacobian over the rows."""
    slopes, roots = _slopes_with(model), _information_root(model, position, rows)

    def one(given: tuple[Rows, jax.Array]) -> jax.Array:
        row, root = given
        return jnp.sum((root @ slopes(position, row)) ** 2, axis=0)

    squares = jax.lax.map(one, (rows, roots), batch_size=ROWS_AT_ONCE)
    return jnp.sum(squares, axis=0)


def _product(model: Model, position: jax.Array, rows: Rows) -> Callable[[jax.Array], jax.Array]:
    """Build the product of the curvature at a position with a vector, both (parameter,)."""
    moved, root = _moved_with(model), _information_root(model, position, rows)
    earlier, hessian = _earlier_slopes(model, position), _prior_hessian(model, position)
    raised = jnp.maximum(LEAST - _diagonal(hessian, position), 0)

    def of_rows(at: jax.Array) -> jax.Array:
        return moved(at, rows)

    def product(vector: jax.Array) -> jax.Array:
        entries, slopes = jax.jvp(of_rows, (position,), (vector,))
        weighed = root @ slopes.reshape(len(root), -1, 1)
        pulled = (root.swapaxes(1, 2) @ weighed).reshape(entries.shape)
        data = jax.vjp(of_rows, position)[1](pulled)[0] + earlier.T @ (earlier @ vector)
        return data + hessian(vector) + raised * vector

    return product


def _eliminate(curvature: jax.Array, kept: np.ndarray) -> jax.Array:
    """Return the curvature of the kept entries when a Gaussian's others are integrated out."""
    out = np.delete(np.arange(len(curvature)), kept)
    across = curvature[np.ix_(out, kept)]
    root = jnp.linalg.cholesky(curvature[np.ix_(out, out)])
    seen = solve_triangular(root, across, lower=True)
    return curvature[np.ix_(kept, kept)] - seen.T @ seen
