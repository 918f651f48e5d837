"""Chains that stand still, which R-hat and ESS do not identify."""

import numpy as np

from nlobayes.diagnostics.convergence import checked

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
