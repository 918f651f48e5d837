"""Bayesian linear regression in units of its prior: the evidence, its gradient and exact draws.

Rows r = A z + noise with z ~ N(0, I) and noise N(0, I) have the evidence N(r; 0, I + A A'). With
n rows and k columns the cost is n k min(n, k): the smaller of I + A'A and I + A A' is factorised
(Woodbury's identity). The quadratic form is computed from the residuals, r'(I + A A')^-1 r =
|r - A m|^2 + |m|^2 with m = E[z | r]. This sum of squares has no cancellation for small noise
(Rasmussen and Williams 2006, *Gaussian Processes for Machine Learning*, sections 2.1, A.3).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.scipy.linalg import cho_solve, solve_triangular

from nlobayes.model.rows import Data
from nlobayes.untyped import Array

HALF_LOG_TWO_PI = 0.9189385332046727


class WhitenedRows(NamedTuple):
    """Rows in units of their noise, columns in units of their prior.

    `design` is A (row, column), `residual` is r (row,); `log_noise` (row,) is the logarithm of
    the noise that each row was divided by. A masked row is zero in all three.
    """

    design: jax.Array
    residual: jax.Array
    log_noise: jax.Array


Whiten = Callable[[jax.Array, Data], WhitenedRows]
"""The rows of one chunk of data at a position."""


class Factor(NamedTuple):
    """The Cholesky factor of the smaller of I + A'A and I + A A', and the mean of z given r."""

    root: jax.Array
    mean: jax.Array

    @property
    def log_determinant(self) -> jax.Array:
        """Return the logarithm of the determinant of I + A A'."""
        return 2 * jnp.sum(jnp.log(jnp.diag(self.root)))


class Evidence(NamedTuple):
    """Functions of a position and the data: the log evidence, the mean of z, and draws of it.

    The rows are whitened chunk by chunk, twice, so that the memory never holds the design of all
    rows. One chunk, or fewer rows than columns, are whitened at once.
    """

    log_evidence: Callable[[jax.Array, Data], jax.Array]
    mean: Callable[[jax.Array, Data], jax.Array]
    draw: Callable[[jax.Array, jax.Array, Data], jax.Array]


def factorise(rows: WhitenedRows) -> Factor:
    """Factorise the regression of all rows at once."""
    design, count = rows.design, len(rows.residual)
    if count <= design.shape[1]:
        root = _root(design @ design.T)
        return Factor(root, design.T @ cho_solve((root, True), rows.residual))
    return _of_moments(design.T @ design, design.T @ rows.residual)


def build_evidence(whiten: Whiten, columns: int) -> Evidence:
    """Build the evidence of rows with this many columns; its gradient stores one chunk at a time.

    The gradient is taken at a fixed mean m, which minimises the quadratic form, and at a fixed
    A (I + A'A)^-1 in the logarithm of the determinant: no factor is differentiated.
    """

    def has_few(data: Data) -> bool:
        return data.target.size <= columns

    def is_whole(data: Data) -> bool:
        return len(data.target) == 1 or has_few(data)

    def factor_of(position: jax.Array, data: Data) -> Factor:
        if is_whole(data):
            return factorise(_whole(whiten, position, data))
        return _of_moments(*_moments(whiten, position, data))

    @jax.custom_vjp
    def log_evidence(position: jax.Array, data: Data) -> jax.Array:
        if is_whole(data):
            rows = _whole(whiten, position, data)
            return _value(factorise(rows), rows)
        factor = factor_of(position, data)
        return _sum_chunks(lambda chunk: _fit(factor, whiten(position, chunk)), data) + _rest(
            factor
        )

    def forward_pass(position: jax.Array, data: Data) -> tuple[jax.Array, jax.Array]:
        if is_whole(data):
            rows, pull_back = jax.vjp(lambda q: _whole(whiten, q, data), position)
            factor = factorise(rows)
            return _value(factor, rows), pull_back(_slopes(factor, rows, by_rows=has_few(data)))[0]
        factor = factor_of(position, data)

        def both(chunk: Data) -> tuple[jax.Array, jax.Array]:
            rows, pull_back = jax.vjp(lambda q: whiten(q, chunk), position)
            return _fit(factor, rows), pull_back(_slopes(factor, rows, by_rows=False))[0]

        fit, gradient = _sum_chunks(both, data)
        return fit + _rest(factor), gradient

    def backward_pass(gradient: jax.Array, cotangent: jax.Array) -> tuple[jax.Array, None]:
        return cotangent * gradient, None

    log_evidence.defvjp(forward_pass, backward_pass)

    def draw(key: jax.Array, position: jax.Array, data: Data) -> jax.Array:
        if has_few(data):
            return _draw_by_rows(key, _whole(whiten, position, data))
        factor = factor_of(position, data)
        noise = jax.random.normal(key, factor.mean.shape, factor.mean.dtype)
        return factor.mean + solve_triangular(factor.root, noise, trans=1, lower=True)

    return Evidence(log_evidence, lambda q, data: factor_of(q, data).mean, draw)


def _draw_by_rows(key: jax.Array, rows: WhitenedRows) -> jax.Array:
    """Draw z given r for fewer rows than columns: correct a prior draw (Matheron's rule)."""
    key_z, key_noise = jax.random.split(key)
    z = jax.random.normal(key_z, rows.design.shape[1:], rows.design.dtype)
    noise = jax.random.normal(key_noise, rows.residual.shape, rows.design.dtype)
    missed = rows.residual - rows.design @ z - noise
    return z + rows.design.T @ cho_solve((_root(rows.design @ rows.design.T), True), missed)


def _root(gram: jax.Array) -> jax.Array:
    return jnp.linalg.cholesky(gram + jnp.eye(len(gram), dtype=gram.dtype))


def _of_moments(gram: jax.Array, along: jax.Array) -> Factor:
    root = _root(gram)
    return Factor(root, cho_solve((root, True), along))


def _fit(factor: Factor, rows: WhitenedRows) -> jax.Array:
    """Sum the contributions of the rows to the log evidence at the mean."""
    missed = rows.residual - rows.design @ factor.mean
    return -jnp.sum(rows.log_noise) - missed @ missed / 2


def _rest(factor: Factor) -> jax.Array:
    return -(factor.mean @ factor.mean + factor.log_determinant) / 2


def _value(factor: Factor, rows: WhitenedRows) -> jax.Array:
    return _fit(factor, rows) + _rest(factor)


def _slopes(factor: Factor, rows: WhitenedRows, *, by_rows: bool) -> WhitenedRows:
    """Differentiate the log evidence by the rows: the determinant's part is -A (I + A'A)^-1.

    The factor is that of I + A A' if `by_rows` is true.
    """
    missed = rows.residual - rows.design @ factor.mean
    # Two products with L^-1 take half the time of solving for all rows, at the same precision.
    identity = jnp.eye(len(factor.root), dtype=factor.root.dtype)
    inverse, design = solve_triangular(factor.root, identity, lower=True), rows.design
    own = inverse.T @ (inverse @ design) if by_rows else (design @ inverse.T) @ inverse
    return WhitenedRows(jnp.outer(missed, factor.mean) - own, -missed, -jnp.ones_like(missed))


def _moments(whiten: Whiten, position: jax.Array, data: Data) -> tuple[jax.Array, jax.Array]:
    def of_chunk(chunk: Data) -> tuple[jax.Array, jax.Array]:
        rows = whiten(position, chunk)
        return rows.design.T @ rows.design, rows.design.T @ rows.residual

    gram, along = _sum_chunks(of_chunk, data)
    return gram, along


def _whole(whiten: Whiten, position: jax.Array, data: Data) -> WhitenedRows:
    rows = jax.vmap(whiten, (None, 0))(position, data)
    return jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), rows)


def _sum_chunks(function: Callable[[Data], Array], data: Data) -> Array:
    first = jax.tree.map(lambda x: x[0], data)
    zeros = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), jax.eval_shape(function, first))

    def add(sums: Array, chunk: Data) -> tuple[Array, None]:
        return jax.tree.map(jnp.add, sums, function(chunk)), None

    return jax.lax.scan(add, zeros, data)[0]
