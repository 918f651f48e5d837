"""Importance weights from the density of the draws to another one, and their reliability.

The log ratio of a draw is the log of the target density over that of the density it was drawn
from, up to a constant. Pareto smoothing replaces the largest ratios by the expected order
statistics of a generalised Pareto distribution, whose shape k states whether the mean exists.

A. Vehtari, D. Simpson, A. Gelman, Y. Yao, J. Gabry, Journal of Machine Learning Research 25
(2024) 72.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from nlobayes.data.splits import SPLITS
from nlobayes.diagnostics import estimators as _arviz
from nlobayes.distributions.log_sums import log_sum_exp
from nlobayes.errors import InputError
from nlobayes.types import Columns

PROBABILITIES = (0.025, 0.16, 0.5, 0.84, 0.975)
LARGEST_K = 0.7
"""Pareto k above which weights are unreliable for any number of draws."""
FEWEST_DRAWS = 25
"""Draws below which no tail is fitted: five in the upper fifth."""
_SAME = 1e-9
_SPAN = 700.0
"""Range of log ratios whose exponentials are finite in double precision."""


class Weights(NamedTuple):
    """Pareto-smoothed importance weights of draws."""

    log_weights: np.ndarray
    """Logs of weights that sum to one (draw,); minus infinity where the target has no density."""
    pareto_k: float
    """Shape of the tail of the ratios. Minus infinity if there is no tail, because all draws of the
    tail share the largest ratio. Infinite if no tail could be fitted, because few draws have any
    density of the target or its ratios are all equal."""
    relative_efficiency: float
    """Effective draws per draw of the chains, at most 1."""

    @property
    def values(self) -> np.ndarray:
        """The weights (draw,), which sum to one."""
        return np.exp(self.log_weights)

    @property
    def ess_weights(self) -> float:
        """Equivalent number of equally weighted draws: one over the sum of squared weights."""
        return math.exp(-log_sum_exp(2 * self.log_weights))

    @property
    def ess(self) -> float:
        """Equivalent number of independent draws from the target."""
        return self.relative_efficiency * self.ess_weights

    @property
    def threshold(self) -> float:
        """The Pareto k at which this many draws no longer suffice."""
        return threshold(len(self.log_weights))

    @property
    def reliable(self) -> bool:
        """Whether k is below its threshold."""
        return self.pareto_k < self.threshold


def importance_weights(
    log_ratios: np.ndarray, *, relative_efficiency: float | None = None
) -> Weights:
    """Compute Pareto-smoothed importance weights.

    Raises InputError if there are fewer than 25 draws, a ratio is infinite or not a number, the
    target has no density at any draw, or the efficiency is not within (0, 1].

    Parameters
    ----------
    log_ratios
        Log of target over proposal density at each draw, axes (chain, draw) or (draw,), up to a
        constant; minus infinity where the target has no density.
    relative_efficiency
        Effective draws per draw. If None it is that of the log ratios for axes (chain, draw), and
        1, for independent draws, for axis (draw,).

    Returns
    -------
    Of the draws, chain after chain.
    """
    log_ratios = _checked_ratios(log_ratios)
    if relative_efficiency is None:
        relative_efficiency = _relative_efficiency(log_ratios) if log_ratios.ndim == 2 else 1.0
    if not 0 < relative_efficiency <= 1:
        raise InputError("evaluation.relative_efficiency", efficiency=relative_efficiency)
    shifted = log_ratios.reshape(-1) - log_ratios.max()
    return Weights(*_smoothed(shifted, relative_efficiency), relative_efficiency)


def threshold(draws: int) -> float:
    """Return the Pareto k above which estimates from this number of draws are unreliable.

    It is min(1 - 1 / log10(draws), 0.7), hence 0.7 from about 2200 draws.
    """
    return min(1 - 1 / math.log10(draws), LARGEST_K)


def check(weights: Weights, *, least_ess: float = 0.0) -> None:
    """Refuse weights whose Pareto k is not below the threshold, or whose ESS is too small.

    Raises InputError with k, the effective size and the remedy.
    """
    if not weights.reliable:
        raise _too_far(weights)
    if weights.ess < least_ess:
        raise InputError(
            "evaluation.worth_too_few",
            draws=len(weights.log_weights),
            ess=weights.ess,
            least=least_ess,
        )


def _too_far(weights: Weights) -> InputError:
    """Build the error; it names more draws as a remedy if their number is reachable."""
    k, draws = weights.pareto_k, len(weights.log_weights)
    limit, ess = weights.threshold, weights.ess
    if k < LARGEST_K:
        enough = math.ceil(10 ** (1 / (1 - k)))
        return InputError(
            "evaluation.far_for_few_draws", k=k, limit=limit, draws=draws, ess=ess, enough=enough
        )
    return InputError("evaluation.far_for_any_draws", k=k, limit=limit, draws=draws, ess=ess)


def weighted_mean(weights: Weights, quantities: np.ndarray) -> np.ndarray:
    """Compute the mean of each quantity, axis (point), from axes (draw, point).

    Raises InputError if weights and quantities are not of the same draws, or a quantity is not
    finite.
    """
    quantities = checked_quantities(weights, quantities)
    first = quantities[0]
    return first + weights.values @ (quantities - first)  # exact for a constant


def weighted_sd(weights: Weights, quantities: np.ndarray) -> np.ndarray:
    """Compute the standard deviation of each quantity; axes and errors as `weighted_mean`."""
    deviations = quantities - weighted_mean(weights, quantities)
    return np.sqrt(weights.values @ np.square(deviations))


def weighted_quantiles(
    weights: Weights, quantities: np.ndarray, probabilities: Sequence[float]
) -> np.ndarray:
    """Return the smallest draws up to which the weights reach each probability.

    Axes (probability, point) from (draw, point); errors as `weighted_mean`, or if a probability
    is not strictly between 0 and 1.
    """
    quantities = checked_quantities(weights, quantities)
    if not all(0 < probability < 1 for probability in probabilities):
        raise InputError("evaluation.probabilities_of_quantiles", probabilities=list(probabilities))
    return np.quantile(
        quantities, list(probabilities), axis=0, weights=weights.values, method="inverted_cdf"
    )


def resample(weights: Weights, count: int, rng: np.random.Generator) -> np.ndarray:
    """Choose draws of equal weight by systematic resampling.

    Every draw is chosen as often as `count` times its weight, rounded down or up.

    Raises InputError if the count is not positive.

    Parameters
    ----------
    weights
        Weights of the draws.
    count
        Draws to choose, at least one.
    rng
        Source of the one random number.

    Returns
    -------
    Indices of the chosen draws, axis (count), ascending.
    """
    if count < 1:
        raise InputError("evaluation.nothing_to_choose", count=count)
    cumulative = np.cumsum(weights.values)
    positions = np.minimum((rng.random() + np.arange(count)) / count, np.nextafter(1, 0))
    return np.searchsorted(cumulative / cumulative[-1], positions, side="right")


def checked_quantities(weights: Weights, quantities: np.ndarray) -> np.ndarray:
    """Return quantities in float64 if they are (draw, point), of these draws, and finite.

    Raises InputError if they are not.
    """
    quantities = np.asarray(quantities, np.float64)
    if quantities.ndim != 2 or len(quantities) != len(weights.log_weights):
        raise InputError(
            "evaluation.weighted_shape", draws=len(weights.log_weights), shape=quantities.shape
        )
    if not np.isfinite(quantities).all():
        raise InputError(
            "evaluation.weighted_not_finite",
            not_finite=int(np.sum(~np.isfinite(quantities))),
            size=quantities.size,
        )
    return quantities


def _checked_ratios(log_ratios: np.ndarray) -> np.ndarray:
    """Return the log ratios in float64 if weights can be made of them."""
    log_ratios = np.asarray(log_ratios, np.float64)
    if log_ratios.ndim not in (1, 2) or log_ratios.size < FEWEST_DRAWS:
        raise InputError("evaluation.ratios_shape", fewest=FEWEST_DRAWS, shape=log_ratios.shape)
    bad = np.isnan(log_ratios) | (log_ratios == np.inf)
    if bad.any():
        raise InputError(
            "evaluation.ratios_not_finite",
            bad=int(bad.sum()),
            size=bad.size,
            draw=int(np.flatnonzero(bad)[0]),
        )
    if np.isneginf(log_ratios).all():
        raise InputError("evaluation.target_without_density", draws=log_ratios.size)
    return log_ratios


def _relative_efficiency(log_ratios: np.ndarray) -> float:
    """Estimate effective draws per draw from the ranks of the ratios (chain, draw)."""
    share = _arviz.ess_bulk(log_ratios) / log_ratios.size
    if not np.isfinite(share):
        raise InputError(
            "evaluation.ratios_without_ess", chains=log_ratios.shape[0], draws=log_ratios.shape[1]
        )
    return float(min(share, 1.0))


def _smoothed(shifted: np.ndarray, relative_efficiency: float) -> tuple[np.ndarray, float]:
    """Return log weights and Pareto k; without smoothing where no tail can be fitted.

    Ratios of a tail whose range exceeds that of exponentials are not smoothed either: one draw has
    all the weight. The tail of a power a of ratios has the shape a k, so a small power of them is
    fitted instead.
    """
    plain, draws = shifted - log_sum_exp(shifted), len(shifted)
    tail = math.floor(min(draws / 5, 3 * math.sqrt(draws / relative_efficiency)))
    cutoff = np.partition(shifted, -tail - 1)[-tail - 1]
    above = shifted[shifted > cutoff + _SAME]
    if above.size == 0:
        return plain, -math.inf
    if np.isneginf(cutoff) or np.ptp(above) <= _SAME:
        return plain, math.inf
    power = min(1.0, _SPAN / -cutoff)
    log_weights, k = _arviz.psis(power * shifted, relative_efficiency)
    return (log_weights, k) if power == 1 else (plain, k / power)


def tabulate_change(weights: Weights, function: np.ndarray, split: np.ndarray) -> Columns:
    """Tabulate mean, sd and quantiles of f (draw, point, ...) before and after the weights.

    `split` (point,) holds the numbers of the splits.
    """
    outputs = int(np.prod(function.shape[2:]))
    flat = function.reshape(len(function), -1).astype(np.float64)
    quantiles = weighted_quantiles(weights, flat, PROBABILITIES)
    return {
        "point": np.repeat(np.arange(len(split)), outputs),
        "output": np.tile(np.arange(outputs), len(split)),
        "split": np.repeat(np.array([*SPLITS, "unused"])[split], outputs),
        "mean_before": flat.mean(axis=0),
        "sd_before": flat.std(axis=0),
        "mean": weighted_mean(weights, flat),
        "sd": weighted_sd(weights, flat),
        **{f"q{100 * p:g}": q for p, q in zip(PROBABILITIES, quantiles, strict=True)},
    }
