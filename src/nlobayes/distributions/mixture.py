"""The mixture over draws: at a point the mean over draws s of the law of y - f_s.

Its quantiles are found by two methods. Bracketing works for any law and is exact; Newton's method
needs a tabulated law and is fast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from nlobayes.distributions.distribution import Law, Rows, point_chunks
from nlobayes.distributions.log_sums import log_sum_exp
from nlobayes.distributions.tabulated import TabulatedLaw
from nlobayes.untyped import Array

Solver = Callable[[np.ndarray, Array, Sequence[float]], list[np.ndarray]]
"""Gives a quantile (point,) per probability from centres (sample, point) and their law."""

_BRACKETING_TOLERANCE = 1e-6
"""Tolerance of a quantile by bracketing, in units of the smallest scale."""
_NEWTON_TOLERANCE = 1e-5
"""Largest last step of Newton's method, in units of the scale; the error is near its square."""
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
    both = table + 1j * _slopes(table, noise.residual)
    each = [*dict.fromkeys(probabilities)]
    found = dict(zip(each, _newton(scaled, noise, both, np.array(each)), strict=True))
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


def _slopes(values: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the slope at each node (node,) between its neighbours; at an end that of the end."""
    inner = (values[2:] - values[:-2]) / (places[2:] - places[:-2])
    first, last = ((values[k] - values[k - 1]) / (places[k] - places[k - 1]) for k in (1, -1))
    return np.concatenate([[first], inner, [last]])


def _newton(
    scaled: np.ndarray, noise: TabulatedLaw, both: np.ndarray, probabilities: np.ndarray
) -> np.ndarray:
    """Solve for quantiles of sorted centres (point, sample) in units of the noise's scale.

    `both` (node,) is the distribution function of the noise and, as imaginary part, its slope. The
    first guess has the sd of the mixture. Where a step would leave the bracket, it is halved. The
    result has the axes (probability, point).
    """
    single = np.interp(probabilities, noise.probability[0], noise.residual)[:, np.newaxis]
    wider = np.hypot(1, scaled.std(axis=1) / noise.sd_per_scale[0])
    low, high = (scaled[:, 0] + single - 1e-6).ravel(), (scaled[:, -1] + single + 1e-6).ravel()
    guess = (scaled.mean(axis=1) + single * wider).ravel()
    guess = np.minimum(np.maximum(guess, low), high)
    goal, centres = (
        np.repeat(probabilities, len(scaled)),
        np.concatenate([scaled] * len(probabilities)),
    )
    found, place = guess.copy(), np.arange(len(guess))
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(_STEPS):
            means = np.interp(guess[:, np.newaxis] - centres, noise.residual, both).mean(axis=1)
            excess = means.real - goal
            low, high = np.where(excess > 0, low, guess), np.where(excess > 0, guess, high)
            newton = guess - excess / means.imag
            step = np.where((newton > low) & (newton < high), newton, (low + high) / 2)
            found[place] = step
            left = np.abs(step - guess) > _NEWTON_TOLERANCE
            if not left.any():
                break
            guess = step
            if not left.all():
                parts = (guess, low, high, goal, centres, place)
                guess, low, high, goal, centres, place = (part[left] for part in parts)
    return found.reshape(len(probabilities), len(scaled))


class Mixture(NamedTuple):
    """Equal shares of a law about each of the centres (sample, point), on the model scale.

    `solve` finds the quantiles if there are several centres.
    """

    centres: np.ndarray
    noise: Law
    solve: Solver = by_bracketing

    def logpdf(self, value: np.ndarray) -> np.ndarray:
        """Return the log density at values (..., point)."""
        parts = [
            log_sum_exp(law.logpdf(residual), axis=-2) for law, residual in self._residuals(value)
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
