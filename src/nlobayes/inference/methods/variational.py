"""Variational inference: the Gaussian with the largest evidence lower bound (ELBO) near each MAP.

Graves (2011, NeurIPS 24) and Blundell et al. (2015, ICML) learn independent weights of networks;
Kucukelbir et al. (2017, JMLR 18, 14) any Gaussian. It is learned in coordinates that whiten the
Laplace approximation of the same form, so that its steps fit all directions. `low_rank` is then a
diagonal matrix plus one of low rank in these coordinates.
"""

from __future__ import annotations

from typing import NamedTuple

import jax

from nlobayes.inference.method import Approached, Drawn
from nlobayes.inference.methods import _learned as learned
from nlobayes.inference.methods._gaussian import Covariance, Gaussian, about, moved_by, whitened
from nlobayes.inference.methods._mixture import Mixture, Weights, check_starts, deal


class Variational(NamedTuple):
    """Draws of Gaussians learned about several MAPs."""

    modes: int
    draws: int
    covariance: Covariance
    rank: int
    weights: Weights
    steps: int
    draws_per_step: int
    step_size: float

    def sample(self, key: jax.Array, posterior: Approached) -> Drawn:
        """Draw positions, those of the first MAP first; the ELBO of each MAP is kept.

        `elbo` has the standard error `elbo_error`. `slope_over_error` is about 1 at the maximum,
        and far above 1 if more steps would increase the ELBO.

        Raises
        ------
        InputError
            If the numbers of MAPs and modes differ, or the covariance is full and there are too
            many parameters, or the rank is not below their number.
        """
        check_starts(posterior.starts, self.modes)
        key_draws, *keys = jax.random.split(key, self.modes + 1)
        found = [self._learn(*each, posterior) for each in zip(keys, posterior.starts, strict=True)]
        parts, appraised = zip(*found, strict=True)
        of_starts = {name: [one[name] for one in appraised] for name in appraised[0]}
        mixture = Mixture(parts, deal(self.draws, of_starts["elbo"], self.weights))
        return mixture.drawn(key_draws, posterior, of_starts)

    def _learn(
        self, key: jax.Array, start: jax.Array, posterior: Approached
    ) -> tuple[Gaussian, dict[str, float]]:
        """Return the Gaussian about one MAP, and its facts."""
        form = (self.covariance, self.rank)
        laplace = about(posterior.gauss_newton, start, *form)
        density = whitened(posterior.logdensity_fn, laplace)
        key_first, key_steps, key_last = jax.random.split(key, 3)
        first = learned.first_parameters(key_first, start.size, *form, start.dtype)
        learning = learned.Learning(self.steps, self.draws_per_step, self.step_size)
        last = learned.learn(key_steps, density, first, learning)
        facts = learned.appraise(key_last, density, last)
        return moved_by(laplace, learned.gaussian_of(last)), facts


build = Variational
