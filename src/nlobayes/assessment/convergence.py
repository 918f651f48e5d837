"""Whether chains agree: R-hat, effective sample sizes, E-BFMI.

Judged in function space, by the predictions at fixed reference points, because weights of a
network are not identifiable. Draws have axes (chain, draw, quantity).
"""

from collections.abc import Callable

import numpy as np

from nlobayes.assessment import _arviz
from nlobayes.errors import InputError

_FEWEST_CHAINS = 2
_FEWEST_DRAWS = 4


def rhat(draws: np.ndarray) -> np.ndarray:
    """Compute rank-normalised split R-hat, the worse of bulk and folded.

    Parameters
    ----------
    draws
        Axes (chain, draw, quantity), at least 2 chains and 4 draws, all finite.

    Returns
    -------
    np.ndarray
        Axis (quantity); infinite where no chain ever moved.

    Raises
    ------
    InputError
        If there are too few chains or draws or one is not finite.

    References
    ----------
    A. Vehtari et al., Bayesian Analysis 16 (2021) 667.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return _per_quantity(_arviz.rhat, checked(draws), unmoved=np.inf)


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


def ess_pooled_over_within(draws: np.ndarray) -> np.ndarray:
    """Compute the bulk ESS of the pooled chains over the sum of those of each chain alone.

    Near 1 the chains explore the same region; far below they sit in separate modes.
    Parameters and errors as for `rhat`; axis (quantity), NaN where no chain ever moved.
    """
    draws = checked(draws)
    alone = [_per_quantity(_arviz.ess_bulk, chain[np.newaxis], unmoved=0.0) for chain in draws]
    within = np.sum(alone, axis=0)
    undefined = np.full(within.shape, np.nan)
    return np.divide(ess_bulk(draws), within, out=undefined, where=within > 0)


def ebfmi(energy: np.ndarray) -> np.ndarray:
    """Estimate the energy Bayesian fraction of missing information of each chain.

    Parameters
    ----------
    energy
        Hamiltonian of each state, axes (chain, draw). Draws far apart make it optimistic.

    Returns
    -------
    np.ndarray
        Axis (chain): mean squared energy change over the energy variance; zero for a chain
        whose energy never changed.

    Raises
    ------
    InputError
        If there are too few draws or an energy is not finite.

    References
    ----------
    M. Betancourt, arXiv:1604.00695.
    """
    energy = checked(np.asarray(energy)[..., np.newaxis], fewest_chains=1)[..., 0]
    change = np.square(np.diff(energy, axis=1)).mean(axis=1)
    variance = energy.var(axis=1, ddof=1)
    return np.divide(change, variance, out=np.zeros_like(change), where=variance > 0)


def between_chain_variance_share(draws: np.ndarray) -> float:
    """Compute the share of the pooled variance that lies between chain means.

    Parameters and errors as for `rhat`. The pooled variance is the variance of the chain means
    plus the mean variance within chains; the share is averaged over the quantities that move.
    """
    draws = checked(draws)
    between, pooled = draws.mean(axis=1).var(axis=0), draws.var(axis=(0, 1))
    moves = np.ptp(draws, axis=(0, 1)) > 0
    return float(np.mean(between[moves] / pooled[moves])) if moves.any() else np.nan


def log_density_spread_over_sd(log_density: np.ndarray) -> float:
    """Compute (largest - smallest chain mean) / standard deviation within chains.

    Takes axes (chain, draw); errors as for `rhat`; infinite where no chain ever moved.
    """
    log_density = checked(np.asarray(log_density)[..., np.newaxis])[..., 0]
    within = np.sqrt(log_density.var(axis=1, ddof=1).mean())
    return float(np.ptp(log_density.mean(axis=1)) / within) if within > 0 else np.inf


def _per_quantity(
    statistic: Callable[[np.ndarray], float], draws: np.ndarray, *, unmoved: float
) -> np.ndarray:
    """Apply a statistic of (chain, draw) to every quantity that moves within some chain."""
    result = np.full(draws.shape[2], unmoved)
    for quantity in np.flatnonzero(np.ptp(draws, axis=1).any(axis=0)):
        result[quantity] = statistic(draws[:, :, quantity])
    return result


def checked(draws: np.ndarray, fewest_chains: int = _FEWEST_CHAINS) -> np.ndarray:
    """Check that draws have axes (chain, draw, quantity), enough of both, and are finite."""
    draws = np.asarray(draws, dtype=np.float64)
    if draws.ndim != 3 or draws.shape[0] < fewest_chains or draws.shape[1] < _FEWEST_DRAWS:
        raise InputError(
            f"convergence needs axes (chain, draw, quantity) with at least {fewest_chains} chains "
            f"and {_FEWEST_DRAWS} draws, got shape {draws.shape}; run more chains or draws"
        )
    if not np.isfinite(draws).all():
        broken = np.flatnonzero(~np.isfinite(draws).all(axis=(1, 2)))
        raise InputError(
            f"convergence needs finite values, got others in chains {broken.tolist()}; "
            f"leave out or rerun those chains"
        )
    return draws
