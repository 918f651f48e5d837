"""Monte-Carlo errors of scores: how far scores would spread if the draws were drawn again.

The draws, chain after chain, are divided into eight batches of consecutive draws. Balanced half
samples are scored: rows of a Hadamard matrix assign half of the batches to one half and the others
to its complement. The error is the root mean square, over these splits, of half the difference
between the two scores. For a mean over draws its square is the variance of the batch means over
their number, exactly. A half moves predictions as far as other draws would. Quantiles and coverages
over points, which jump, therefore have the right error, and a jackknife, which moves them less,
would overestimate it. Terms of second order, of the smaller number of draws, cancel.

References
----------
P. J. McCarthy, Review of the International Statistical Institute 37 (1969) 239, for balanced half
samples; J. Shao, C. F. J. Wu, Annals of Statistics 20 (1992) 1571, for quantiles; J. M. Flegal,
G. L. Jones, Annals of Statistics 38 (2010) 1034, for batches of a Markov chain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from nlobayes.evaluation.run_evaluation import Scores

MOST_BATCHES = 8
"""Most batches of draws, a power of 2."""

_KEPT = 15


def batches_of(draws: int) -> np.ndarray:
    """Return the batch (draw,) of each draw: 8 batches, or the largest power of 2 for fewer."""
    count = min(MOST_BATCHES, 1 << (draws.bit_length() - 1))
    return np.arange(draws) * count // draws


def balanced_halves(batches: int) -> np.ndarray:
    """Return splits of a power of 2 of batches into halves (split, batch), by true and false."""
    rows = np.ones((1, 1), bool)
    while len(rows) < batches:
        rows = np.block([[rows, rows], [rows, ~rows]])
    return rows[1:]


def monte_carlo_errors(
    draws: np.ndarray, score: Callable[[np.ndarray], Scores]
) -> dict[str, float | None] | None:
    """Estimate the Monte-Carlo error of every score.

    Parameters
    ----------
    draws
        Draws (draw, ...), chain after chain, or the members of an ensemble.
    score
        Returns scores by key from some of the draws; those that are no numbers are left out.

    Returns
    -------
    The standard error by key, None where a half has no score; None for fewer than two draws.
    """
    batch = batches_of(len(draws))
    halves = balanced_halves(batch[-1] + 1)[:, batch]
    return errors_of_halves([(score(draws[half]), score(draws[~half])) for half in halves])


def errors_of_halves(pairs: Sequence[tuple[Scores, Scores]]) -> dict[str, float | None] | None:
    """Return the Monte-Carlo error by key from the scores of each pair of complementary halves.

    It is None without pairs, of one draw.
    """
    if not pairs:
        return None
    found: dict[str, float | None] = {}
    for key in pairs[0][0]:
        both = [(first[key], second[key]) for first, second in pairs]
        if all(isinstance(value, float) for pair in both for value in pair):
            found[key] = float(np.sqrt(np.mean(np.square(np.diff(both)))) / 2)
        elif any(value is None for pair in both for value in pair):
            found[key] = None
    return found


def summarised(draws: np.ndarray) -> np.ndarray:
    """Represent draws (draw, point) by at most 15 that are scored alike (kept, point).

    At every point they are quantiles of the draws, moved and stretched to their mean and sd. Scores
    of noise about the mean of the draws depend on mean, sd and median alone.
    """
    count = len(draws)
    if count <= _KEPT:
        return draws
    place = ((np.arange(_KEPT) + 0.5) / _KEPT * count).astype(int)
    kept = np.partition(draws, place, axis=0)[place]
    spread, mean = kept.std(axis=0), draws.mean(axis=0)
    stretch = np.divide(draws.std(axis=0), spread, out=np.ones_like(spread), where=spread > 0)
    return mean + (kept - kept.mean(axis=0)) * stretch
