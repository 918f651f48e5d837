"""The noise of the likelihood itself, for every draw at every point.

The predictive of the model is the mixture over draws of the likelihood about each; it needs no
held-out rows. On noise-free targets a declared tolerance makes it too wide.
"""

from __future__ import annotations

import numpy as np

from nlobayes.distributions.chunks import point_chunks
from nlobayes.distributions.distribution import Law
from nlobayes.evaluation import monte_carlo
from nlobayes.evaluation.run_evaluation import Scores
from nlobayes.metrics.shown import MONTE_CARLO


def scores(draws: np.ndarray, observed: np.ndarray, noise: Law) -> Scores:
    """Score the predictive of the model on one split.

    Parameters
    ----------
    draws
        Function draws on the model scale (draw, point).
    observed
        Observed targets on the model scale (point,).
    noise
        The law at these points; its scale broadcasts over (draw, point).

    Returns
    -------
    `lppd` and its `lppd_se` (nats per point), `coverage_68` and `coverage_95` of central intervals;
    `monte_carlo_error`, that of each by key, None for one draw.
    """
    batch = monte_carlo.batches_of(len(draws))
    density, probability = _sums(draws, observed, noise, np.flatnonzero(np.diff(batch, prepend=-1)))
    counts = np.bincount(batch)

    def of(batches: np.ndarray) -> Scores:
        draws = counts[batches].sum()
        lppd = np.logaddexp.reduce(density[batches]) - np.log(draws)
        off_centre = np.abs(probability[batches].sum(axis=0) / draws - 0.5)
        return {
            "lppd": float(lppd.mean()),
            "lppd_se": float(lppd.std(ddof=1) / np.sqrt(len(lppd))) if len(lppd) > 1 else None,
            "coverage_68": float(np.mean(off_centre < 0.68 / 2)),
            "coverage_95": float(np.mean(off_centre < 0.95 / 2)),
        }

    halves = monte_carlo.balanced_halves(len(counts))
    errors = monte_carlo.errors_of_halves([(of(half), of(~half)) for half in halves])
    return {**of(np.ones(len(counts), bool)), MONTE_CARLO: errors}


def _sums(
    draws: np.ndarray, observed: np.ndarray, noise: Law, starts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Sum density, as a logarithm, and distribution function over batches of draws (batch, point).

    `starts` (batch,) is the first draw of each batch.
    """
    parts = []
    for part in point_chunks(*draws.shape):
        law, residual = noise.at(part), observed[part] - draws[:, part]
        density = np.logaddexp.reduceat(law.logpdf(residual), starts)
        parts.append((density, np.add.reduceat(law.cdf(residual), starts)))
    density, probability = np.concatenate(parts, axis=2)
    return density, probability
