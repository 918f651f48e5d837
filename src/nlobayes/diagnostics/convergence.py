"""Agreement of chains, and precision of the estimates from their draws.

R-hat in three forms, effective sample sizes, Monte-Carlo standard errors, the split of the
variance and E-BFMI. They are computed for the predictions at fixed reference points, because the
weights of a network are not identifiable. Draws have axes (chain, draw, quantity).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import chdtri

from nlobayes.diagnostics import estimators as _arviz
from nlobayes.errors import InputError

FEWEST_DRAWS = 8
"""Draws per chain below which nothing is checked: four in each half."""
_FEWEST_CHAINS = 2
_CHANCE = 1e-5
"""Probability that one quantity of converged chains has an R-hat above `rhat_by_chance`; then the
largest of 500 predictions, of bulk and folded ranks, has in at most 1 %."""


class VarianceSplit(NamedTuple):
    """The two parts of the pooled variance of each quantity, axis (quantity).

    `between`: variance of the chain means. `within`: mean of the variances inside the chains.
    """

    between: np.ndarray
    within: np.ndarray

    @property
    def share(self) -> np.ndarray:
        """Share of the pooled variance that lies between chains; zero where nothing varies."""
        pooled = self.between + self.within
        return np.divide(self.between, pooled, out=np.zeros_like(pooled), where=pooled > 0)


def rhat(draws: np.ndarray) -> np.ndarray:
    """Compute rank-normalised split R-hat, the worse of bulk and folded.

    Raises InputError if there are too few chains or draws or one is not finite.

    Parameters
    ----------
    draws
        Axes (chain, draw, quantity), at least 2 chains of 8 draws, all finite.

    Returns
    -------
    Axis (quantity); infinite where no chain ever moved, or only at the middle draw, which belongs
    to neither half.

    References
    ----------
    A. Vehtari et al., Bayesian Analysis 16 (2021) 667.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        result = _per_quantity(_arviz.rhat, checked(draws), unmoved=np.inf)
    return np.where(np.isnan(result), np.inf, result)


def rhat_by_chance(ess: np.ndarray, chains: int, draws: int) -> np.ndarray:
    """Return the R-hat that converged chains of `draws` draws hardly ever exceed.

    The means of the 2M halves of M chains scatter: R-hat² - 1 + 2 / draws is about 2M / ESS times
    chi² / (2M - 1) of 2M - 1 degrees of freedom. `ess` is that of all chains together, and counts
    as at most one a draw: folded draws are never antithetic. The result is infinite for zero.
    """
    free = 2 * chains - 1
    with np.errstate(divide="ignore"):
        scatter = 2 * chains / np.minimum(ess, chains * draws) * chdtri(free, _CHANCE) / free
    return np.sqrt(1 + scatter - 2 / draws)


def gelman_rubin(draws: np.ndarray) -> np.ndarray:
    """Compute the R-hat of Gelman and Rubin, of whole chains and with the factor (M + 1) / M.

    R² = (M+1)/M · σ₊²/W - (N-1)/(MN) with σ₊² = (N-1)/N · W + B/N, for M chains of N draws, W the
    mean variance within chains and B/N the variance of the chain means. Unlike `rhat` it does not
    detect drifts within chains and chains that differ only in spread.

    Parameters, result and errors as for `rhat`.

    References
    ----------
    S. P. Brooks and A. Gelman, Journal of Computational and Graphical Statistics 7 (1998) 434.
    """
    draws = checked(draws)
    chains, drawn, _ = draws.shape
    within = draws.var(axis=1, ddof=1).mean(axis=0)
    pooled = (drawn - 1) / drawn * within + draws.mean(axis=1).var(axis=0, ddof=1)
    ratio = _ratio(pooled, within, moves=_moves(draws))
    return np.sqrt((chains + 1) / chains * ratio - (drawn - 1) / (chains * drawn))


def nested_rhat(draws: np.ndarray, superchains: int) -> np.ndarray:
    """Compute nested R-hat, for many short chains whose single means are noisy.

    √(1 + B/W): B is the variance of the means of superchains, W the mean over superchains of the
    variance of the means of their chains plus the mean variance within these.

    Parameters
    ----------
    draws
        Axes (chain, draw, quantity), at least 8 draws, all finite.
    superchains
        Number of equal groups of consecutive chains; the chains of a group share a start.

    Returns
    -------
    Axis (quantity), at least 1; infinite where no chain ever moved.

    Raises
    ------
    InputError
        As `rhat`, or if the chains are not equal groups, at least two.

    References
    ----------
    C. C. Margossian et al., Bayesian Analysis (2024), arXiv:2110.13017.
    """
    draws = checked(draws)
    chains = len(draws)
    if superchains < _FEWEST_CHAINS or chains % superchains:
        raise InputError(
            "diagnostics.superchains", fewest=_FEWEST_CHAINS, superchains=superchains, chains=chains
        )
    groups = np.repeat(np.arange(superchains), chains // superchains)

    def statistic(draws: np.ndarray) -> float:
        return _arviz.nested_rhat(draws, groups)

    return _per_quantity(statistic, draws, unmoved=np.inf)


def ess_bulk(draws: np.ndarray) -> np.ndarray:
    """Compute the bulk effective sample size of the pooled chains.

    Parameters, errors and source as for `rhat`; zero where no chain ever moved.
    """
    return _per_quantity(_arviz.ess_bulk, checked(draws), unmoved=0.0)


def ess_tail(draws: np.ndarray) -> np.ndarray:
    """Compute the tail effective sample size: the smaller of those of the 5 % and 95 % quantiles.

    Parameters, errors and source as for `rhat`; zero where no chain ever moved.
    """
    return _per_quantity(_arviz.ess_tail, checked(draws), unmoved=0.0)


def ess_within(draws: np.ndarray) -> np.ndarray:
    """Compute the sum over chains of the bulk ESS of each chain alone.

    Parameters and errors as for `rhat`; axis (quantity), zero where no chain ever moved. The ESS of
    the pooled chains over it is near 1 if they explore the same region; far below 1 they are in
    separate modes.
    """
    alone = [
        _per_quantity(_arviz.ess_bulk, chain[np.newaxis], unmoved=0.0) for chain in checked(draws)
    ]
    return np.sum(alone, axis=0)


def mcse_mean(draws: np.ndarray) -> np.ndarray:
    """Compute the Monte-Carlo standard error of the mean, in units of the draws.

    Parameters, errors and source as for `rhat`; infinite where no chain ever moved.
    """
    return _per_quantity(_arviz.mcse_mean, checked(draws), unmoved=np.inf)


def mcse_quantile(draws: np.ndarray, probability: float) -> np.ndarray:
    """Compute the Monte-Carlo standard error of a quantile, in units of the draws.

    Parameters, errors and source as for `rhat`; infinite where no chain ever moved.
    """
    if not 0 < probability < 1:
        raise InputError("diagnostics.probability", probability=probability)

    def statistic(chains: np.ndarray) -> float:
        return _arviz.mcse_quantile(chains, probability)

    return _per_quantity(statistic, checked(draws), unmoved=np.inf)


def variance_split(draws: np.ndarray) -> VarianceSplit:
    """Split the pooled variance of each quantity, which is the sum of the two parts.

    Parameters and errors as for `rhat`.
    """
    draws = checked(draws)
    draws = draws - draws[0, 0]  # so that a constant has a variance of exactly zero
    within = np.where(_moves(draws), draws.var(axis=1).mean(axis=0), 0.0)
    return VarianceSplit(draws.mean(axis=1).var(axis=0), within)


def between_chain_variance_share(draws: np.ndarray) -> float:
    """Compute the share of the pooled variance that lies between chain means.

    Parameters and errors as for `rhat`; averaged over the quantities that vary, zero if none does.
    """
    draws = checked(draws)
    varies = np.ptp(draws, axis=(0, 1)) > 0
    return float(variance_split(draws).share[varies].mean()) if varies.any() else 0.0


def ebfmi(energy: np.ndarray) -> np.ndarray:
    """Estimate the energy Bayesian fraction of missing information of each chain.

    Raises InputError if there are too few draws or an energy is not finite.

    Parameters
    ----------
    energy
        Hamiltonian of each state, axes (chain, draw). Draws far apart make it optimistic.

    Returns
    -------
    Axis (chain): mean squared energy change over the energy variance; zero for a chain whose energy
    never changed.

    References
    ----------
    M. Betancourt, arXiv:1604.00695.
    """
    energy = checked(np.asarray(energy)[..., np.newaxis], fewest_chains=1)[..., 0]
    with np.errstate(invalid="ignore"):  # of chains whose energy never changed
        return np.nan_to_num(_arviz.bfmi(energy))


def log_density_spread_over_sd(log_density: np.ndarray) -> float:
    """Compute (largest - smallest chain mean) / standard deviation within chains.

    Takes axes (chain, draw); errors as for `rhat`; infinite where no chain ever moved.
    """
    log_density = checked(np.asarray(log_density)[..., np.newaxis])[..., 0]
    within = np.sqrt(log_density.var(axis=1, ddof=1).mean())
    return float(np.ptp(log_density.mean(axis=1)) / within) if within > 0 else np.inf


def checked(draws: np.ndarray, fewest_chains: int = _FEWEST_CHAINS) -> np.ndarray:
    """Return the draws in float64 if they are (chain, draw, quantity), enough, and finite.

    Raises InputError if they are not.
    """
    draws = np.asarray(draws, dtype=np.float64)
    if draws.ndim != 3 or draws.shape[2] == 0:
        raise InputError("diagnostics.draws_shape", shape=draws.shape)
    chains, drawn, _ = draws.shape
    if chains < fewest_chains:
        raise InputError("diagnostics.few_chains", fewest=fewest_chains, chains=chains)
    if drawn < FEWEST_DRAWS:
        raise InputError(
            "diagnostics.few_draws",
            fewest=FEWEST_DRAWS,
            fewest_of_half=FEWEST_DRAWS // 2,
            draws=drawn,
        )
    if not np.isfinite(draws).all():
        broken = np.flatnonzero(~np.isfinite(draws).all(axis=(1, 2)))
        raise InputError("diagnostics.draws_not_finite", chains=broken.tolist())
    return draws


def _per_quantity(
    statistic: Callable[[np.ndarray], float], draws: np.ndarray, *, unmoved: float
) -> np.ndarray:
    """Apply a statistic of (chain, draw) to every quantity that moves within some chain."""
    result = np.full(draws.shape[2], unmoved)
    for quantity in np.flatnonzero(_moves(draws)):
        result[quantity] = statistic(draws[:, :, quantity])
    return result


def _moves(draws: np.ndarray) -> np.ndarray:
    """Return, for each quantity, whether any chain moves in it."""
    return np.asarray(np.ptp(draws, axis=1).any(axis=0))


def _ratio(above: np.ndarray, below: np.ndarray, *, moves: np.ndarray) -> np.ndarray:
    return np.divide(above, below, out=np.full(below.shape, np.inf), where=moves)
