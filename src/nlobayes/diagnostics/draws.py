"""The draws of one posterior; copies, chains that stand still, and divergences among them."""

from typing import NamedTuple

import numpy as np

from nlobayes.diagnostics.convergence import checked
from nlobayes.errors import InputError


class ChainDraws(NamedTuple):
    """The draws of chains, in the form of the diagnostics.

    `function` (chain, draw, reference point), `log_density` and `noise` (chain, draw) hold every
    draw; the noise is None if it is fixed. `weights` (chain, stored draw, weight) hold the stored
    draws; `hyperparameters` by name, if there are any, every draw or the stored ones.
    """

    function: np.ndarray
    log_density: np.ndarray
    noise: np.ndarray | None
    weights: np.ndarray
    hyperparameters: dict[str, np.ndarray] | None = None


class SampleStats(NamedTuple):
    """Sample statistics, axes (chain, draw).

    One value per transition. `energy` is the Hamiltonian of the state each transition returned,
    not of a rejected proposal; NaN throughout for kernels without a Gaussian momentum.
    `tree_depth` and its limit are None for fixed-length HMC; `energy_variance` (per dimension and
    integrator step) and its target in warm-up are None for kernels that reject.
    """

    energy: np.ndarray
    acceptance_rate: np.ndarray
    diverging: np.ndarray
    n_steps: np.ndarray
    tree_depth: np.ndarray | None
    max_tree_depth: int | None
    energy_variance: np.ndarray | None = None
    energy_variance_aim: float | None = None


def check_fit(draws: ChainDraws, stats: SampleStats, thin: int) -> None:
    """Check that every array has the chains of the function draws and a draw axis that fits.

    `thin` is the storage stride of the weights: every n-th draw was stored.

    Raises InputError if one does not, or the function draws are too few or not finite.
    """
    chains, drawn, _ = checked(draws.function).shape
    every, stored = (chains, drawn), (chains, drawn // thin)
    arrays = {**draws._asdict(), **stats._asdict()}
    for name in ("hyperparameters", "max_tree_depth", "energy_variance_aim"):
        del arrays[name]
    fitting = {name: [stored if name == "weights" else every] for name in arrays}
    for name, array in (draws.hyperparameters or {}).items():
        arrays[name], fitting[name] = array, [every, stored]
    for name, array in arrays.items():
        if array is not None and array.shape[:2] not in fitting[name]:
            raise InputError(
                "diagnostics.other_posterior",
                name=name,
                expected=fitting[name][0],
                shape=array.shape,
            )
    if (stats.tree_depth is None) != (stats.max_tree_depth is None):
        raise InputError("diagnostics.half_given_trees")


def check_distinct(function: np.ndarray) -> None:
    """Check that no two moving chains are copies; R-hat would count them as agreement.

    Raises InputError if two are, or the function draws (chain, draw, reference_point) cannot be
    checked.
    """
    seen: dict[bytes, int] = {}
    for chain, trace in enumerate(checked(function).mean(axis=2)):
        copied = seen.setdefault(trace.tobytes(), chain)
        if copied != chain and np.ptp(trace) > 0:
            raise InputError("diagnostics.copied_chain", first=copied, second=chain)


STILL = 0.5
"""A chain that stays at one point for this share of its draws, in one stretch, stands still."""


def longest_stays(draws: np.ndarray) -> np.ndarray:
    """Compute the longest stretch of equal draws of each chain, as a share of its draws.

    Raises InputError if there are too few chains or draws or one is not finite.

    Parameters
    ----------
    draws
        Axes (chain, draw, quantity), at least 2 chains of 8 draws, all finite.

    Returns
    -------
    Axis (chain): 1 / draws for a chain that always moves, 1 for one that never does.
    """
    draws = checked(draws)
    moved = (draws[:, 1:] != draws[:, :-1]).any(axis=2)
    return np.array([_longest(chain) for chain in moved]) / draws.shape[1]


def still_chains(draws: np.ndarray) -> list[int]:
    """List the chains that stand still, by their numbers. Parameters and errors as above."""
    return [int(chain) for chain in np.flatnonzero(longest_stays(draws) >= STILL)]


def _longest(moved: np.ndarray) -> int:
    """Count the draws of the longest stretch without a move between neighbours."""
    ends = np.concatenate([[-1], np.flatnonzero(moved), [len(moved)]])
    return int(np.diff(ends).max())


class Deviation(NamedTuple):
    """Mean distance |f - mean| / sd of the prediction from its posterior mean (reference_point,).

    `deviation` is over the divergent draws, `expected` over the others (0.8 for a Gaussian); each
    is None if there is no such draw, and zero at a point whose prediction never varies.
    """

    deviation: np.ndarray | None
    expected: np.ndarray | None


def located(function: np.ndarray, diverging: np.ndarray) -> Deviation:
    """Compare predictions at divergent draws with those at all others.

    The draw of a divergent transition is its end point; for kernels that reject, its start. It is
    on the edge of the region that the integrator cannot enter.

    Raises InputError if the axes do not fit, draws are too few or not finite.

    Parameters
    ----------
    function
        Predictions, axes (chain, draw, reference_point).
    diverging
        Whether the transition to each draw diverged, axes (chain, draw).
    """
    function, diverging = checked(function, fewest_chains=1), np.asarray(diverging, dtype=bool)
    if diverging.shape != function.shape[:2]:
        raise InputError(
            "diagnostics.divergences_shape", expected=function.shape[:2], shape=diverging.shape
        )
    centred = np.abs(function - function.mean(axis=(0, 1)))
    sd = np.where(np.ptp(function, axis=(0, 1)) > 0, function.std(axis=(0, 1)), np.inf)
    return Deviation(_mean(centred[diverging] / sd), _mean(centred[~diverging] / sd))


def _mean(distance: np.ndarray) -> np.ndarray | None:
    return distance.mean(axis=0) if len(distance) else None
