"""The smallest number of draws that predict as all draws do."""

from __future__ import annotations

import numpy as np

from nlobayes.surrogate.predictive import Chunk, StoredNoise, noise_sd

_GROWTH = 1.1
_FEWEST = 10


def spread_evenly(draws: int, count: int) -> np.ndarray:
    """Choose `count` draws at even distances, or all draws if there are fewer."""
    return np.unique(np.linspace(0, draws - 1, min(count, draws)).round().astype(int))


def fewest_draws(chunk: Chunk, noise: StoredNoise, tolerance: float) -> int:
    """Find how many evenly spread draws keep mean and total sd within a tolerance.

    Parameters
    ----------
    chunk
        Draws of f on the model scale at points of interest.
    noise
        Predictive noise.
    tolerance
        Largest allowed change at any point: of the mean in units of the total sd, and of the total
        sd relative to itself.

    Returns
    -------
    The first sufficient number of a sequence that starts at 10 and grows by a tenth; the number of
    all draws if none suffices.
    """
    mean, sd = _moments(chunk, noise)
    draws, count = len(chunk.functions), _FEWEST
    while count < draws:
        few = chunk._replace(functions=chunk.functions[spread_evenly(draws, count)])
        few_mean, few_sd = _moments(few, noise)
        moved, widened = np.abs(few_mean - mean) / sd, np.abs(few_sd / sd - 1)
        if max(moved.max(), widened.max()) <= tolerance:
            return count
        count = int(np.ceil(count * _GROWTH))
    return draws


def _moments(chunk: Chunk, noise: StoredNoise) -> tuple[np.ndarray, np.ndarray]:
    within = chunk.functions.std(axis=0) if noise.about == "draws" else 0.0
    return chunk.functions.mean(axis=0), np.hypot(within, noise_sd(chunk, noise))
