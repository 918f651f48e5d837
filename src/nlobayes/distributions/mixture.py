"""The mixture over draws: at a point the mean over draws s of the law of y - f_s.

Its quantiles are found by two methods. Bracketing works for any law and is exact; Newton's method
needs a tabulated law and is fast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from nlobayes.distributions.distribution import Law, Rows, point_chunks
from nlobayes.distributions.tabulated import TabulatedLaw
from nlobayes.untyped import Array

Solver = Callable[[np.ndarray, Array, Sequence[float]], list[np.ndarray]]
"""Gives a quantile (point,) per probability from centres (sample, point) and their law."""

_BRACKETING_TOLERANCE = 1e-6
_NEWTON_TOLERANCE = 1e-5
_STEPS = 60


def by_bracketing(
    centres: np.ndarray, noise: Law, probabilities: Sequence[float]
) -> list[np.ndarray]:
    """Solve for quantiles to 1e-6 of the noise's scale, by Chandrupatla's method."""
    parts = []
    for part in point_chunks(*centres.shape):
        chunk, law = np.ascontiguousarray(centres[:, part]), noise.at(part)
        parts.append([_bracketed(chunk, law, probability) for probability in probabilities])
    return [*np.concatenate(parts, axis=1)]


def by_newton(
    centres: np.ndarray, noise: TabulatedLaw, probabilities: Sequence[float]
) -> list[np.ndarray]:
    """Solve for quantiles to 1e-5 of the noise's scale or better; the noise has one bin.

    Centres are sorted, because a table is read faster in order.
    """
    scaled, table = np.sort((centres / noise.scale).T, axis=1), noise.probability[0]
    both = table + 1j * np.gradient(table, noise.residual)
    found = {each: _newton(scaled, noise, both, each) for each in dict.fromkeys(probabilities)}
    return [found[probability] * noise.scale for probability in probabilities]


def _bracketed(centres: np.ndarray, noise: Law, probability: float) -> np.ndarray:
    """Find one quantile per point, between those about the lowest and the highest centre."""
    from scipy.optimize.elementwise import find_root

    def excess(value: np.ndarray, point: np.ndarray) -> Array:
        return noise.at(point).cdf(value - centres[:, point]).mean(axis=0) - probability

    each, margin = centres + noise.quantile(probability), 1e-3 * np.max(noise.scale)
    bracket = each.min(axis=0) - margin, each.max(axis=0) + margin
    tolerances = {"xatol": _BRACKETING_TOLERANCE * np.min(noise.scale), "xrtol": 0.0}
    points = np.arange(centres.shape[1])
    root: np.ndarray = find_root(excess, bracket, args=(points,), tolerances=tolerances).x
    return root


def _newton(
    scaled: np.ndarray, noise: TabulatedLaw, both: np.ndarray, probability: float
) -> np.ndarray:
    """Solve for one quantile of sorted centres (point, sample) in units of the noise's scale.

    `both` (node,) is the distribution function of the noise and, as imaginary part, its slope. The
    first guess has the sd of the mixture. Where a step would leave the bracket, it is halved.
    """
    single = noise.single_quantiles(probability)[0]
    low, high = scaled[:, 0] + single - 1e-6, scaled[:, -1] + single + 1e-6
    wider = np.hypot(1, scaled.std(axis=1) / noise.sd_per_scale[0])
    guess = np.clip(scaled.mean(axis=1) + single * wider, low, high)
    active = np.arange(len(scaled))
    for _ in range(_STEPS):
        residual = guess[active, np.newaxis] - scaled[active]
        means = np.interp(residual, noise.residual, both).mean(axis=1)
        excess, slope = means.real - probability, means.imag
        high[active] = np.where(excess > 0, guess[active], high[active])
        low[active] = np.where(excess > 0, low[active], guess[active])
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = guess[active] - excess / slope
        middle = (low[active] + high[active]) / 2
        inside = (newton > low[active]) & (newton < high[active])
        step = np.where(inside, newton, middle)
        moved = np.abs(step - guess[active])
        guess[active] = step
        active = active[moved > _NEWTON_TOLERANCE]
        if not active.size:
            break
    return guess


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
