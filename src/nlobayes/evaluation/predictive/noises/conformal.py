"""Student-t about the mean of the draws, with calibrated coverage in bins of the covariate.

Its scale is that of `scaled_student_t`; the tails of each bin come from ranks of residuals that the
scale was not fitted to.

References
----------
V. Vovk, A. Gammerman, G. Shafer, Algorithmic Learning in a Random World (2005), for intervals from
ranks and within categories; J. Lei et al., Journal of the American Statistical Association 113
(2018) 1094, for split-conformal ones of standardised residuals; V. Vovk, Annals of Mathematics and
Artificial Intelligence 74 (2015) 9, for residuals of folds.
"""

import numpy as np

from nlobayes.distributions.laws.recalibrated_student_t import TAILS, RecalibratedStudentT
from nlobayes.distributions.laws.student_t import StudentT
from nlobayes.distributions.scales import bins_at, scales_at
from nlobayes.errors import InputError
from nlobayes.evaluation.predictive.fitted import FittedNoise, Points
from nlobayes.evaluation.predictive.noises import scaled_student_t
from nlobayes.evaluation.predictive.scale_regression import fit_scales
from nlobayes.untyped import Array

ABOUT_MEAN = True

FEWEST_ROWS = 40
"""Fewest rows: the least tail of their ranks is 1 / 41."""
ROWS_PER_BIN = 100
MOST_BINS = 10

_FOLDS = 5
"""Folds, each with residuals about the scale that is fitted to the others."""
_GAP = 1e-3
"""Least distance of a node from the next one, as a share of it."""
_SMALLEST = 1e-12
"""Least value of the first node."""


def fit(points: Points) -> FittedNoise:
    """Fit the scale, and take the tails of every bin from the other folds' fits.

    Raises InputError if there are fewer than 40 points.
    """
    scaled = scaled_student_t.fit(points)
    rows, features = len(points.observed), points.features
    if rows < FEWEST_ROWS:
        raise InputError("evaluation.few_rows_for_conformal", fewest=FEWEST_ROWS, rows=rows)
    column, edges = _divide(features, points.covariate)
    bins, tails = bins_at(edges, column, features, rows), _tails_of_folds(scaled, points)
    nodes = [conformal_nodes(tails[bins == index]) for index in range(len(edges) + 1)]
    tails_of_bins = tuple(tuple(each.tolist()) for each in nodes)
    return scaled._replace(family="conformal", column=column, edges=edges, tails=tails_of_bins)


def law(fitted: FittedNoise, scale: Array, bins: Array) -> RecalibratedStudentT:
    """Return a Student-t with the tails of the bin of each point."""
    assert fitted.degrees_of_freedom is not None
    return RecalibratedStudentT(scale, fitted.degrees_of_freedom, np.array(fitted.tails)[bins])


def conformal_nodes(tails: np.ndarray) -> np.ndarray:
    """Take nodes (node,) from the tails of residuals (point,) that the noise was not fitted to.

    A new residual that is exchangeable with these is beyond them with exactly the nominal
    probability.
    """
    nodes = np.quantile(tails, TAILS, method="weibull")
    # Laws invert the nodes, so they must rise strictly; equal residuals, or none in a tail, would
    # make some of them equal. From the last down, each is moved below the one above it, but not so
    # far that no room is left for those that follow.
    above = 1.0
    for place in reversed(range(len(nodes))):
        low = _SMALLEST if place == 0 else 2 * place * _GAP
        above = nodes[place] = np.clip(nodes[place], low, (1 - _GAP) * above)
    return nodes


def edges_of(values: np.ndarray) -> np.ndarray:
    """Divide values (point,) into at most ten bins of equal counts, at least 100 each.

    Equal values stay in one bin, so that counts differ where many are equal. A bin that is left
    with fewer than 40 is joined with a neighbour.
    """
    bins = max(1, min(MOST_BINS, len(values) // ROWS_PER_BIN))
    kept, binned = list[float](), 0
    for edge in np.quantile(values, np.arange(1, bins) / bins):
        below = int(np.sum(values < edge))
        if min(below - binned, len(values) - below) >= FEWEST_ROWS:
            kept.append(float(edge))
            binned = below
    return np.array(kept)


def _tails_of_folds(fitted: FittedNoise, points: Points) -> np.ndarray:
    """Return the tail (point,) beyond each residual, by the scale fitted to the other folds."""
    draws, observed, features, _ = points
    spread, residual = draws.std(axis=0), observed - draws.mean(axis=0)
    fold = np.random.default_rng(0).permutation(len(residual)) % _FOLDS
    standardised = np.empty(len(residual))
    for index in range(_FOLDS):
        out, kept = fold == index, fold != index
        seen, held = (None, None) if features is None else (features[kept], features[out])
        others = fit_scales(residual[kept], spread[kept], seen, fitted.knots)
        standardised[out] = residual[out] / scales_at(others, spread[out], held)
    return 2 * StudentT(1.0, fitted.degrees_of_freedom).cdf(-np.abs(standardised))


def _divide(
    features: np.ndarray | None, covariate: np.ndarray | None
) -> tuple[int, tuple[float, ...]]:
    """Choose the feature of largest rank correlation with the covariate, and edges of its bins."""
    if features is None or covariate is None or np.ptp(covariate) == 0:
        return 0, ()
    varies = np.flatnonzero(np.ptp(features, axis=0) > 0)
    if not varies.size:
        return 0, ()
    from scipy.stats import spearmanr

    likeness = [abs(spearmanr(features[:, column], covariate)[0]) for column in varies]
    column = int(varies[np.argmax(likeness)])
    return column, tuple(edges_of(features[:, column]).tolist())
