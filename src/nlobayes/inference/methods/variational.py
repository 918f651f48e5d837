"""Variational inference: about each MAP the Gaussian whose evidence lower bound (ELBO) is largest.

Graves (2011, NeurIPS 24) and Blundell et al. (2015, ICML) learn independent weights of networks;
Kucukelbir et al. (2017, JMLR 18, 14) any Gaussian. It is learned in coordinates that whiten the
Laplace approximation of the same form, so that its steps fit all directions. `low_rank` is then a
diagonal matrix plus one of low rank in these coordinates.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from nlobayes.inference.kernel import LogDensity
from nlobayes.inference.method import Approached, Drawn
from nlobayes.inference.methods import _learned as learned
from nlobayes.inference.methods._gaussian import Covariance, Gaussian, about
from nlobayes.inference.methods._mixture import Mixture, Weights, check_starts, deal


class Variational(NamedTuple):
    """Draws of Gaussians learned about so many MAPs."""

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

        `elbo` and its standard error `elbo_error` are of the last tenth of the steps.
        `elbo_change_over_error` is what it gained on the tenth before, in standard errors: far
        above 1 where more steps would raise it further.

        Raises
        ------
        InputError
            If there are more or fewer MAPs than modes, or the covariance is full and parameters
            are too many, or the rank is as large as they are many.
        """
        check_starts(posterior.starts, self.modes)
        key_draws, *keys = jax.random.split(key, self.modes + 1)
        found = [self._learn(*each, posterior) for each in zip(keys, posterior.starts, strict=True)]
        parts, histories = zip(*found, strict=True)
        of_starts = summarise([np.asarray(history) for history in histories])
        mixture = Mixture(parts, deal(self.draws, of_starts["elbo"], self.weights))
        return mixture.drawn(key_draws, posterior, of_starts)

    def _learn(
        self, key: jax.Array, start: jax.Array, posterior: Approached
    ) -> tuple[Gaussian, jax.Array]:
        """Give the Gaussian about one MAP, and the ELBO of every step."""
        form = (self.covariance, self.rank)
        laplace = about(posterior.gauss_newton, start, *form)
        key_first, key_steps = jax.random.split(key)
        first = learned.first_parameters(key_first, start.size, *form, start.dtype)
        learning = learned.Learning(self.steps, self.draws_per_step, self.step_size)
        density = whitened(posterior.logdensity_fn, laplace)
        last, elbo = learned.learn(key_steps, density, first, learning)
        return learned.moved_by(laplace, learned.gaussian_of(last)), elbo


def whitened(log_density: LogDensity, about: Gaussian) -> LogDensity:
    """Give a log density of positions in the coordinates that whiten a Gaussian."""
    scale = about.log_determinant / 2
    return lambda z: log_density(about.mean + about.spread(z)) + scale


def summarise(histories: list[np.ndarray]) -> dict[str, list[float]]:
    """Summarise estimates of the ELBO (step,) of each start by the last two tenths."""
    rows = [_tenths(history) for history in histories]
    names = ("elbo", "elbo_error", "elbo_change_over_error")
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def _tenths(history: np.ndarray) -> tuple[float, float, float]:
    tenth = len(history) // 10
    before, last = history[-2 * tenth : -tenth], history[-tenth:]
    least = np.finfo(history.dtype).eps * abs(last.mean())
    errors = [np.hypot(part.std() / np.sqrt(tenth), least) for part in (before, last)]
    change = (last.mean() - before.mean()) / np.hypot(*errors)
    return float(last.mean()), float(errors[1]), float(change)


build = Variational
