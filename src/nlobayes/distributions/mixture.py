"""The mixture over draws: at a point the mean over draws s of the law of y - f_s."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from nlobayes.distributions.distribution import Law, Rows, point_chunks
from nlobayes.distributions.quantiles import Solver, by_bracketing
from nlobayes.untyped import Array


class Mixture(NamedTuple):
    """Equal shares of a law about each of the centres (sample, point), on the model scale.

    `solve` finds the quantiles if there are several centres.
    """

    centres: np.ndarray
    noise: Law
    solve: Solver = by_bracketing

    def logpdf(self, value: np.ndarray) -> np.ndarray:
        """Return the log density at values (..., point)."""
        from scipy.special import logsumexp

        parts = [
            logsumexp(law.logpdf(residual), axis=-2) for law, residual in self._residuals(value)
        ]
        density: np.ndarray = np.concatenate(parts, axis=-1) - np.log(len(self.centres))
        return density

    def cdf(self, value: np.ndarray) -> np.ndarray:
        """Return the probability of a smaller value than each of (..., point)."""
        parts = [law.cdf(residual).mean(axis=-2) for law, residual in self._residuals(value)]
        return np.concatenate(parts, axis=-1)

    def quantile(self, probability: float) -> np.ndarray:
        """Return the value (point,) that is exceeded with probability 1 - `probability`."""
        return self.quantiles([probability])[0]

    def quantiles(self, probabilities: Sequence[float]) -> list[np.ndarray]:
        """Return the value (point,) for each probability of a smaller value."""
        if len(self.centres) == 1:
            found = {each: self.noise.quantile(each) for each in dict.fromkeys(probabilities)}
            return [self.centres[0] + found[each] for each in probabilities]
        return self.solve(self.centres, self.noise, probabilities)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        """Draw values (point, ...), each about a centre that is drawn at random."""
        points = np.arange(self.centres.shape[1]).reshape(-1, *(1 for _ in shape[1:]))
        centre: np.ndarray = self.centres[rng.integers(len(self.centres), size=shape), points]
        return centre + self.noise.sample(rng, shape)

    def sd(self) -> np.ndarray:
        """Return the standard deviation (point,), of centres and noise in quadrature."""
        sds: np.ndarray = np.hypot(spread(self.centres), self.noise.sd())
        return sds

    def at(self, points: Rows) -> Mixture:
        """Return the mixture at some of its points."""
        return self._replace(centres=self.centres[:, points], noise=self.noise.at(points))

    def _residuals(self, value: np.ndarray) -> Iterator[tuple[Law, Array]]:
        """Yield for chunks of points the law there, and residuals (..., sample, point)."""
        for part in point_chunks(*self.centres.shape):
            yield self.noise.at(part), value[..., np.newaxis, part] - self.centres[:, part]


def spread(draws: np.ndarray) -> np.ndarray:
    """Return the sd (point,) of draws (sample, point) as a mixture: the divisor is their number.

    Identical draws have a spread of exactly zero, whatever their mean rounds to.
    """
    return np.where(np.ptp(draws, axis=0) > 0, draws.std(axis=0), 0.0)
