"""The coverage of the worst slab: the rows between two parallel planes that are covered least.

Coverage may be right on average, and along every input, and still be wrong where inputs combine.

References
----------
M. Cauchois, S. Gupta, J. C. Duchi, Journal of Machine Learning Research 22 (2021), paper 81, for
slabs. Y. Romano, M. Sesia, E. J. Candès, NeurIPS 33 (2020), arXiv:2006.02544, for other rows that
score the slab. W. Dinkelbach, Management Science 13 (1967) 492, for the search of a ratio.
"""

from typing import NamedTuple

import numpy as np

from nlobayes.evaluation.calibration.calibration import CENTRAL_LEVELS, wilson_interval
from nlobayes.evaluation.predictive.predictive_density import predictive_cdf
from nlobayes.evaluation.scores.split import Split

DIRECTIONS = 1000
"""Random directions in which slabs are searched for."""
SHARE = 0.2
"""Least share of the rows in a slab."""
FEWEST_ROWS = 50
"""Fewest rows: a slab of one half then has five."""


class Slab(NamedTuple):
    """The points x with `low` <= `direction` . x <= `high`."""

    direction: np.ndarray
    """Normal of both planes, axis (feature), of any length."""
    low: float
    """Place of the first plane along the normal."""
    high: float
    """Place of the last plane."""

    def contains(self, features: np.ndarray) -> np.ndarray:
        """Return whether the slab contains each of the features (point, feature)."""
        along = features @ self.direction
        return (self.low <= along) & (along <= self.high)


def worst_slab_coverage(
    inside: np.ndarray, features: np.ndarray, rng: np.random.Generator
) -> tuple[float, float, float] | str:
    """Return the coverage of the worst slab, and the ends of its 95 % Wilson interval.

    The worst of many slabs is too low by selection, so one random half of the rows chooses the slab
    and the other half scores it, both ways. An exact forecaster then has its nominal coverage on
    average. Of another one the expected value is that of the chosen slabs, at least the true worst.

    Parameters
    ----------
    inside
        Whether the interval contains the observed value, axis (point).
    features
        Inputs of the network, axes (point, feature).
    rng
        Source of the halves and of the directions.

    Returns
    -------
    Coverage and ends; or a line that states why there is none.
    """
    points, count = features.shape
    if points < FEWEST_ROWS:
        return f"the worst slab needs {FEWEST_ROWS} rows or more, there are {points}"
    directions = rng.normal(size=(DIRECTIONS if count > 1 else 1, count))
    halves = np.array_split(rng.permutation(points), 2)
    chosen = []
    for seen, scored in (halves, halves[::-1]):
        slab = worst_slab(inside[seen], features[seen], directions)
        chosen.append(scored[slab.contains(features[scored])])
    rows = np.concatenate(chosen)
    if len(rows) == 0:
        return "the worst slab of one half of the rows contains no row of the other half"
    share = inside[rows].mean()
    low, high = wilson_interval(share, len(rows))
    return float(share), float(low), float(high)


def worst_slab(inside: np.ndarray, features: np.ndarray, directions: np.ndarray) -> Slab:
    """Find the slab of the least coverage with at least 20 % of the rows, across any direction.

    The search is exact: a slab starts and ends at rows. A slab of coverage below c exists if
    (covered rows - c rows) is smaller behind its last row than before its first one. A running
    maximum finds it, c falls to its coverage, and the search is repeated until there is none.

    Parameters
    ----------
    inside
        Whether each row is covered, axis (point).
    features
        Inputs of the network, axes (point, feature).
    directions
        Normals of the planes, axes (direction, feature), of any length.
    """
    fewest = int(np.ceil(SHARE * len(inside)))
    least, worst = inside.mean(), Slab(directions[0], -np.inf, np.inf)
    for direction in directions:
        along = features @ direction
        order = np.argsort(along)
        values = along[order]
        rows = np.flatnonzero(np.diff(values, prepend=-np.inf, append=np.inf))  # equal: one plane
        covered = np.append(0, np.cumsum(inside[order]))[rows]
        ends = np.flatnonzero(rows >= fewest)
        starts = np.searchsorted(rows, rows[ends] - fewest, side="right") - 1  # the last possible
        while True:
            excess = covered - least * rows
            end = np.argmin(excess[ends] - np.maximum.accumulate(excess)[starts])
            first, last = np.argmax(excess[: starts[end] + 1]), ends[end]
            coverage = (covered[last] - covered[first]) / (rows[last] - rows[first])
            if coverage >= least:
                break
            least = coverage
            worst = Slab(direction, values[rows[first]], values[rows[last] - 1])
    return worst


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
