"""The coverage of the worst slab of the inputs."""

import numpy as np

from nlobayes.evaluation.calibration.calibration import CENTRAL_LEVELS
from nlobayes.evaluation.calibration.worst_slab import worst_slab_coverage
from nlobayes.evaluation.predictive.density import predictive_cdf
from nlobayes.evaluation.scores.regression import Split

KEYS = ("coverage_68_worst_slab", "coverage_68_worst_slab_low", "coverage_68_worst_slab_high")


def score(split: Split) -> dict[str, float | str]:
    """Return the coverage of 68 % intervals in the worst slab, and its interval."""
    if split.features is None:
        return {}
    pit = predictive_cdf(split.draws, split.observed, split.noise)
    inside = np.abs(2 * pit - 1) <= CENTRAL_LEVELS["coverage_68"]
    found = worst_slab_coverage(inside, split.features, split.rng.spawn(1)[0])
    if isinstance(found, str):
        return dict.fromkeys(KEYS, found)
    return dict(zip(KEYS, found, strict=True))
