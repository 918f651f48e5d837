"""Gaussians about a MAP from its Gauss-Newton curvature, and in whitened coordinates."""

from __future__ import annotations

from collections.abc import Callable
from math import log, pi
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import solve_triangular
from scipy.sparse.linalg import LinearOperator, eigsh

from nlobayes.errors import InputError
from nlobayes.inference.curvature import GaussNewton, check_dense
from nlobayes.inference.kernel import LogDensity

Covariance = Literal["full", "diagonal", "low_rank"]


class Gaussian(NamedTuple):
    """A Gaussian of positions (entry,)."""

    mean: jax.Array
    """Its mean."""
    spread: Callable[[jax.Array], jax.Array]
    """Gives R z for a vector z (entry,), where R R' is the covariance."""
    whiten: Callable[[jax.Array], jax.Array]
    """Gives the vector z for R z."""
    log_determinant: jax.Array
    """The logarithm of the determinant of the covariance."""

    def draw(self, key: jax.Array, draws: int) -> jax.Array:
        """Draw positions (draw, entry)."""
        noise = jax.random.normal(key, (draws, self.mean.size), self.mean.dtype)
        return self.mean + jax.vmap(self.spread)(noise)

    def log_density(self, positions: jax.Array) -> jax.Array:
        """Return the log density (draw,) at positions (draw, entry)."""
        noise = jax.vmap(self.whiten)(positions - self.mean)
        squares = jnp.sum(noise**2, axis=1)
        return -(squares + self.log_determinant + self.mean.size * log(2 * pi)) / 2

    def log_evidence(self, log_density: jax.Array) -> jax.Array:
        """Integrate exp(log density) by Laplace's method, given its value at the mean.

        MacKay (1992, Neural Computation 4, 448).
        """
        return log_density + (self.mean.size * log(2 * pi) + self.log_determinant) / 2


def gaussian_about(
    curvature: GaussNewton, position: jax.Array, covariance: Covariance, rank: int
) -> Gaussian:
    """Build the Gaussian with the covariance of this form.

    Raises InputError if the covariance is full and there are too many parameters, or the rank of
    `low_rank` is not below their number, or the curvature of either is negative along a direction.
    """
    if covariance == "full":
        return full(curvature, position, "method.covariance")
    if covariance == "diagonal":
        return diagonal(curvature, position)
    return low_rank(curvature, position, rank)


def full(curvature: GaussNewton, position: jax.Array, where: str) -> Gaussian:
    """Take the inverse of the curvature; eigenvalues below rounding are raised to it.

    Raises InputError if there are too many entries, or an eigenvalue is negative beyond rounding.
    """
    check_dense(position.size, where)
    values, vectors = jax.jit(lambda q: jnp.linalg.eigh(curvature.dense(q)))(position)
    _check_positive(values, -values[-1] * values.size * jnp.finfo(values.dtype).eps)
    held = jnp.maximum(values, values[-1] * jnp.finfo(values.dtype).eps)
    root = jnp.sqrt(held)
    return Gaussian(
        position,
        lambda z: vectors @ (z / root),
        lambda moved: root * (vectors.T @ moved),
        -jnp.sum(jnp.log(held)),
    )


def diagonal(curvature: GaussNewton, position: jax.Array) -> Gaussian:
    """Invert the diagonal of the curvature: the variance of each entry given all others."""
    return diagonal_of(position, jax.jit(curvature.diagonal)(position))


def diagonal_of(mean: jax.Array, precision: jax.Array) -> Gaussian:
    """Return the Gaussian of independent entries with a mean and a precision (entry,)."""
    root = jnp.sqrt(precision)
    log_determinant = -jnp.sum(jnp.log(precision))
    return Gaussian(mean, lambda z: z / root, lambda moved: moved * root, log_determinant)


def diagonal_and_factor(
    mean: jax.Array, diagonal: jax.Array, factor: jax.Array, core: jax.Array
) -> Gaussian:
    """Return the Gaussian of covariance A + B C B', with A = diag(diagonal).

    B is the factor (entry, rank) and C the core (rank, rank). With the QR decomposition of
    A^(-1/2) B the root of the covariance is A^(1/2) (I + Q (L - I) Q') (algorithm 4 of Zhang,
    Carpenter, Gelman and Vehtari 2022, JMLR 23, 306).
    """
    sd = jnp.sqrt(diagonal)
    vectors, upper = jnp.linalg.qr(factor / sd[:, None])
    same = jnp.identity(len(upper), sd.dtype)
    root = jnp.linalg.cholesky(same + upper @ core @ upper.T)

    def spread(z: jax.Array) -> jax.Array:
        along = vectors.T @ z
        return sd * (z + vectors @ (root @ along - along))

    def whiten(moved: jax.Array) -> jax.Array:
        along = vectors.T @ (moved / sd)
        return moved / sd + vectors @ (solve_triangular(root, along, lower=True) - along)

    log_determinant = jnp.sum(jnp.log(diagonal)) + 2 * jnp.sum(jnp.log(jnp.diag(root)))
    return Gaussian(mean, spread, whiten, log_determinant)


def low_rank(curvature: GaussNewton, position: jax.Array, rank: int) -> Gaussian:
    """Keep the largest eigenvectors of the data's curvature, in units of the prior's.

    With prior curvature D and D^(-1/2) (H - D) D^(-1/2) about U diag(l) U' the covariance is
    D^(-1/2) (I - U diag(l / (1 + l)) U') D^(-1/2): a direction that is left out keeps its prior
    (Spantini et al. 2015, SIAM J. Sci. Comput. 37, A2451).

    Raises InputError if the rank is not below the number of entries, or the curvature is negative
    along one of the eigenvectors.
    """
    if rank >= position.size:
        raise InputError("inference.rank", rank=rank, parameters=position.size)
    prior = jax.jit(curvature.prior)(position)
    root = jnp.sqrt(prior)
    values, vectors = _largest(curvature.product(position), prior, rank)
    stretch = jnp.sqrt(1 + values)

    def spread(z: jax.Array) -> jax.Array:
        return (z + vectors @ ((1 / stretch - 1) * (vectors.T @ z))) / root

    def whiten(moved: jax.Array) -> jax.Array:
        scaled = moved * root
        return scaled + vectors @ ((stretch - 1) * (vectors.T @ scaled))

    log_determinant = -jnp.sum(jnp.log(prior)) - jnp.sum(jnp.log1p(values))
    return Gaussian(position, spread, whiten, log_determinant)


def moved_by(outer: Gaussian, inner: Gaussian) -> Gaussian:
    """Return the Gaussian of x = `outer.spread` of a vector that is drawn from `inner`."""
    return Gaussian(
        outer.mean + outer.spread(inner.mean),
        lambda z: outer.spread(inner.spread(z)),
        lambda moved: inner.whiten(outer.whiten(moved)),
        outer.log_determinant + inner.log_determinant,
    )


def whitened(log_density: LogDensity, gaussian_about: Gaussian) -> LogDensity:
    """Return a log density of positions in the coordinates that whiten a Gaussian."""

    def whitened_density(z: jax.Array, inverse_temperature: float | jax.Array = 1.0) -> jax.Array:
        scaled = log_density(gaussian_about.mean + gaussian_about.spread(z), inverse_temperature)
        return scaled + gaussian_about.log_determinant / 2

    return whitened_density


def _largest(
    product: Callable[[jax.Array], jax.Array], prior: jax.Array, rank: int
) -> tuple[jax.Array, jax.Array]:
    """Return the largest eigenvalues (rank,) of the whitened part of the data, and eigenvectors."""
    root = jnp.sqrt(prior)
    whitened = jax.jit(lambda vector: product(vector / root) / root - vector)
    size = prior.size
    operator = LinearOperator(
        (size, size), matvec=lambda v: np.asarray(whitened(jnp.asarray(v))), dtype=prior.dtype
    )
    values, vectors = eigsh(operator, k=rank, v0=np.ones(size, prior.dtype))
    values[np.abs(values) < values.max() * size * np.finfo(values.dtype).eps] = 0
    _check_positive(1 + values, 0)
    return jnp.asarray(values), jnp.asarray(vectors)


def _check_positive(values: Any, least: Any) -> None:
    if not values.min() > least:
        raise InputError("inference.curvature_not_positive", value=float(values.min()))
