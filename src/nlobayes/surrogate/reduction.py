"""The smallest selection of draws that predicts as all draws do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from nlobayes.surrogate.predictive import Chunk, StoredNoise, noise_sd
from nlobayes.untyped import Document

_GROWTH = 1.1
"""Growth of that number."""
_FEWEST = 10
"""First number of draws that is tried."""
_ROWS = 250
"""Most points of a target at which moments are compared."""


class Change(NamedTuple):
    """Largest change at any point: of the mean in total sd, of the total sd relative to itself."""

    mean: float
    sd: float


def spread_evenly(draws: int, count: int) -> np.ndarray:
    """Choose `count` draws at even distances, or all draws if there are fewer."""
    return np.unique(np.linspace(0, draws - 1, min(count, draws)).round().astype(int))


def reduce(
    total: int, targets: Sequence[tuple[Chunk, StoredNoise]], most: int, tolerance: float | None
) -> tuple[np.ndarray, Document]:
    """Choose draws as `choose_draws`, or at even distances without targets; describe the choice.

    Returns the numbers of the draws (kept,), and `draws`, their number, `of`, the total, and the
    largest `mean_change` and `sd_change` of any target.
    """
    if not targets:
        kept = spread_evenly(total, most)
        return kept, {"draws": len(kept), "of": total}
    kept = choose_draws(targets, most, tolerance)
    mean, sd = map(max, zip(*(change(*each, kept) for each in targets), strict=True))
    return kept, {"draws": len(kept), "of": total, "mean_change": mean, "sd_change": sd}


def choose_draws(
    targets: Sequence[tuple[Chunk, StoredNoise]], most: int, tolerance: float | None
) -> np.ndarray:
    """Choose the fewest draws that keep mean and total sd within a tolerance.

    Parameters
    ----------
    targets
        Draws of f on the model scale at points of interest, and the noise, of each target.
    most
        Largest number of draws.
    tolerance
        Largest allowed `Change` of any target; None takes as many draws as allowed.

    Returns
    -------
    Numbers of the draws (kept,), rising: the first sufficient number of draws of a sequence that
    starts at 10 and grows by a tenth, in the order of `herded`; `most` of them if none suffices.
    """
    draws = len(targets[0][0].functions)
    order, count = herded([chunk.functions for chunk, _ in targets], min(most, draws)), _FEWEST
    while tolerance is not None and count < len(order):
        kept = np.sort(order[:count])
        if all(max(change(*target, kept)) <= tolerance for target in targets):
            return kept
        count = int(np.ceil(count * _GROWTH))
    return np.sort(order)


def herded(functions: Sequence[np.ndarray], count: int) -> np.ndarray:
    """Order draws so that the first ones have nearly the means and variances of all.

    Each next draw is the one that brings the means of f and f² of the chosen draws closest to those
    of all draws, over at most 250 evenly spread points. The error falls as one over the number of
    draws, and not as one over its root.

    Parameters
    ----------
    functions
        Draws of f (draw, point) of each target.
    count
        Number of draws to choose.

    Returns
    -------
    Numbers of the draws (count,).

    References
    ----------
    Y. Chen, M. Welling, A. Smola, Super-samples from kernel herding, UAI 2010.
    """
    few = np.concatenate([f[:, spread_evenly(f.shape[1], _ROWS)] for f in functions], axis=1)
    few = few - few.mean(axis=0)
    sd = few.std(axis=0)
    scaled = few / np.where(sd > 0, sd, 1.0)
    moments = np.concatenate([scaled, scaled**2 - 1], axis=1)
    norms, overlap = np.square(moments).sum(axis=1), np.zeros(len(moments))
    order = np.empty(count, int)
    for place in range(count):
        order[place] = np.argmin(2 * overlap + norms)
        norms[order[place]] = np.inf
        overlap += moments @ moments[order[place]]
    return order


def change(chunk: Chunk, noise: StoredNoise, kept: np.ndarray) -> Change:
    """Compute how much the prediction changes if only the draws of these numbers (kept,) remain."""
    mean, sd = _moments(chunk, noise)
    few_mean, few_sd = _moments(chunk._replace(functions=chunk.functions[kept]), noise)
    moved, widened = np.abs(few_mean - mean) / sd, np.abs(few_sd / sd - 1)
    return Change(float(moved.max()), float(widened.max()))


def _moments(chunk: Chunk, noise: StoredNoise) -> tuple[np.ndarray, np.ndarray]:
    within = chunk.functions.std(axis=0) if noise.about == "draws" else 0.0
    return chunk.functions.mean(axis=0), np.hypot(within, noise_sd(chunk, noise))
