"""The input of the diagnostics: the draws of one posterior, and their sample statistics."""

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
