"""Gaussians about a MAP from its Gauss-Newton curvature, and how draws are dealt to several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log, pi
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from nlobayes.errors import InputError
from nlobayes.inference.curvature import GaussNewton, check_dense

Weights = Literal["equal", "evidence"]


class Gaussian(NamedTuple):
    """A Gaussian of positions (entry,).

    Attributes
    ----------
    mean
        Its mean.
    spread
        R z of a vector z (entry,), where R R' is the covariance.
    log_determinant
        The logarithm of the determinant of the covariance.
    """

    mean: jax.Array
    spread: Callable[[jax.Array], jax.Array]
    log_determinant: jax.Array

    def draw(self, key: jax.Array, draws: int) -> jax.Array:
        """Draw positions (draw, entry)."""
        noise = jax.random.normal(key, (draws, self.mean.size), self.mean.dtype)
        return self.mean + jax.vmap(self.spread)(noise)

    def log_evidence(self, log_density: jax.Array) -> jax.Array:
        """Integrate exp(log density) by Laplace's method, given its value at the mean.

        MacKay (1992, Neural Computation 4, 448).
        """
        return log_density + (self.mean.size * log(2 * pi) + self.log_determinant) / 2


def full(curvature: GaussNewton, position: jax.Array, where: str) -> Gaussian:
    """Take the inverse of the curvature; eigenvalues below rounding count as rounding."""
    check_dense(position.size, where)
    values, vectors = jax.jit(lambda q: jnp.linalg.eigh(curvature.dense(q)))(position)
    held = jnp.maximum(values, values[-1] * jnp.finfo(values.dtype).eps)
    return Gaussian(position, lambda z: vectors @ (z / jnp.sqrt(held)), -jnp.sum(jnp.log(held)))


def diagonal(curvature: GaussNewton, position: jax.Array) -> Gaussian:
    """Take the inverse of each entry of its diagonal: the sd of each given all others."""
    values = jax.jit(curvature.diagonal)(position)
    return Gaussian(position, lambda z: z / jnp.sqrt(values), -jnp.sum(jnp.log(values)))


def low_rank(curvature: GaussNewton, position: jax.Array, rank: int) -> Gaussian:
    """Take the data's part of the curvature by its largest eigenvectors in units of the prior's.

    With prior curvature D and D^(-1/2) (H - D) D^(-1/2) about U diag(l) U' the covariance is
    D^(-1/2) (I - U diag(l / (1 + l)) U') D^(-1/2): a direction that is left out keeps its prior
    (Spantini et al. 2015, SIAM J. Sci. Comput. 37, A2451).

    Raises
    ------
    InputError
        If the rank is not below the number of entries.
    """
    if rank >= position.size:
        raise InputError("inference.rank", rank=rank, parameters=position.size)
    prior = jax.jit(curvature.prior)(position)
    root = jnp.sqrt(prior)
    values, vectors = _largest(curvature.product(position), prior, rank)
    shrunk = 1 - 1 / jnp.sqrt(1 + values)

    def spread(z: jax.Array) -> jax.Array:
        return (z - vectors @ (shrunk * (vectors.T @ z))) / root

    return Gaussian(position, spread, -jnp.sum(jnp.log(prior)) - jnp.sum(jnp.log1p(values)))


def _largest(
    product: Callable[[jax.Array], jax.Array], prior: jax.Array, rank: int
) -> tuple[jax.Array, jax.Array]:
    """Give the largest eigenvalues (rank,) of the whitened part of the data, and eigenvectors."""
    root = jnp.sqrt(prior)
    whitened = jax.jit(lambda vector: product(vector / root) / root - vector)
    size = prior.size
    operator = LinearOperator(
        (size, size), matvec=lambda v: np.asarray(whitened(jnp.asarray(v))), dtype=prior.dtype
    )
    values, vectors = eigsh(operator, k=rank, v0=np.ones(size, prior.dtype))
    return jnp.maximum(jnp.asarray(values), 0), jnp.asarray(vectors)


def deal(draws: int, log_evidence: Sequence[float], weights: Weights) -> list[int]:
    """Deal draws to the starts, evenly or by their evidence: the largest remainders get one more.

    Draws are dealt by exp(log evidence), each Gaussian standing for a part of the posterior of
    its own.
    """
    given = np.asarray(log_evidence)
    share = np.exp(given - given.max()) if weights == "evidence" else np.ones(len(given))
    wanted = draws * share / share.sum()
    dealt = np.floor(wanted).astype(int)
    behind = np.argsort(dealt - wanted, kind="stable")
    dealt[behind[: draws - dealt.sum()]] += 1
    return [int(count) for count in dealt]


def check_starts(starts: jax.Array, modes: int) -> None:
    """Refuse other numbers of starts than modes.

    Raises
    ------
    InputError
        If they differ.
    """
    if len(starts) != modes:
        raise InputError("inference.maps_for_modes", maps=len(starts), modes=modes)
