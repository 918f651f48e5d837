"""Resampling of draws of an approximation by importance weights to the exact posterior."""

from __future__ import annotations

import numpy as np

from nlobayes.evaluation.reweighting.importance import importance_weights, resample
from nlobayes.types import PosteriorDraws


def choose(
    draws: PosteriorDraws, count: int, seed: int
) -> tuple[PosteriorDraws, dict[str, float | None]]:
    """Resample draws of one chain by importance weights, and return measures of the weights.

    The resampled draws keep their order. They are no draws of the approximation and do not state
    its density. `pareto_k` is None if no tail of the weights could be fitted. `ess_weights` is the
    effective number of draws of equal weight.

    Parameters
    ----------
    draws
        Draws (chain, draw, ...) of one chain that state the density of the approximation.
    """
    assert draws.log_approximation is not None
    weights = importance_weights((draws.log_density - draws.log_approximation)[0])
    rows = resample(weights, count, np.random.default_rng(seed))
    named = draws.variables
    if named is not None:
        named = named._replace(values={name: each[:, rows] for name, each in named.values.items()})
    chosen = PosteriorDraws(draws.function[:, rows], draws.log_density[:, rows], named)
    finite = np.isfinite(weights.pareto_k)
    k = float(weights.pareto_k) if finite else None
    return chosen, {"pareto_k": k, "ess_weights": float(weights.ess_weights)}
