"""What several verbs take from a posterior."""

from __future__ import annotations

import numpy as np

from nlobayes.artifacts.netcdf import Groups
from nlobayes.assessment.draws import PosteriorDraws


def posterior_draws(groups: Groups) -> PosteriorDraws:
    """Take the draws of all chains; the weights flat, in the order of the parameter vector."""
    stats = groups["sample_stats"]
    weights = [w.values for name, w in groups["posterior"].items() if name != "noise"]
    return PosteriorDraws(
        function=groups["predictions"]["f"].values,
        log_density=stats["lp"].values,
        noise=stats["noise"].values if "noise" in stats else None,
        weights=np.concatenate([w.reshape(*w.shape[:2], -1) for w in weights], axis=2),
    )
