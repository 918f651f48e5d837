"""The Laplace approximation: a Gaussian about each MAP, of the Gauss-Newton curvature there.

Ritter, Botev and Barber (2018, ICLR) and Immer, Korzepa and Bauer (2021, AISTATS) use it for
networks; Daxberger et al. (2021, NeurIPS) compare its forms. Draws of several MAPs are a mixture.
They are draws of the weights: the network itself is not linearised.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp

from nlobayes.inference.method import Approached, Drawn
from nlobayes.inference.methods._gaussian import (
    Gaussian,
    Weights,
    check_starts,
    deal,
    diagonal,
    full,
    low_rank,
)

Covariance = Literal["full", "diagonal", "low_rank"]


class Laplace(NamedTuple):
    """Draws of Gaussians about so many MAPs."""

    modes: int
    draws: int
    covariance: Covariance
    rank: int
    weights: Weights

    def sample(self, key: jax.Array, posterior: Approached) -> Drawn:
        """Draw positions, those of the first MAP first; the log evidence of each MAP is kept.

        Raises
        ------
        InputError
            If there are more or fewer MAPs than modes, or the covariance is full and parameters
            are too many, or the rank is as large as they are many.
        """
        check_starts(posterior.starts, self.modes)
        about = [self._about(posterior, start) for start in posterior.starts]
        density = jax.jit(posterior.logdensity_fn)
        evidence = [float(one.log_evidence(density(one.mean))) for one in about]
        dealt = deal(self.draws, evidence, self.weights)
        *keys, last = [jax.random.fold_in(key, start) for start in range(len(about) + 1)]
        each = zip(about, keys, dealt, strict=True)
        drawn = jnp.concatenate([one.draw(own, draws) for one, own, draws in each])
        positions = posterior.complete(last, drawn)
        return Drawn(positions, {"log_evidence": evidence})

    def _about(self, posterior: Approached, start: jax.Array) -> Gaussian:
        if self.covariance == "full":
            return full(posterior.gauss_newton, start, "method.covariance")
        if self.covariance == "diagonal":
            return diagonal(posterior.gauss_newton, start)
        return low_rank(posterior.gauss_newton, start, self.rank)


build = Laplace
