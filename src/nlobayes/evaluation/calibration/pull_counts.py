"""Counts of pulls in bins, from which comparisons of runs draw histograms without the points."""

from __future__ import annotations

import numpy as np

LIMIT, WIDTH = 6.0, 0.25
EDGES = np.arange(-LIMIT, LIMIT + WIDTH, WIDTH)
"""Edges of the bins; the first and the last bin include all values beyond."""


def pull_counts(z_total: np.ndarray, z_epistemic: np.ndarray) -> dict[str, list[int] | None]:
    """Count the pulls (point,) of one split in the bins between `EDGES`.

    Returns `pulls_total`, by the total sd, and `pulls_epistemic`, by the sd of the draws only. Like
    `sigma_z_epistemic` the latter is None if a point has no spread of draws.
    """
    return {"pulls_total": _counts(z_total), "pulls_epistemic": _counts(z_epistemic)}


def _counts(z: np.ndarray) -> list[int] | None:
    if np.isnan(z).any():
        return None
    counts: list[int] = np.histogram(np.clip(z, -LIMIT, LIMIT), EDGES)[0].tolist()
    return counts
