"""Fitting the predictive noise to points that were not trained on.

What is fitted is few numbers; at points they become a `PredictiveNoise`.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.stats import spearmanr

from nlobayes.errors import InputError
from nlobayes.evaluation.predictive import noise as noises
from nlobayes.evaluation.predictive import recalibration
from nlobayes.evaluation.predictive.density import (
    checked_split,
    log_predictive_density,
    point_chunks,
)
from nlobayes.evaluation.predictive.noise import PredictiveNoise, cdf
from nlobayes.evaluation.predictive.scale_regression import (
    Knots,
    Regression,
    fit_scales,
    place_knots,
    scales_at,
)

FITTED = "fitted_student_t"
SCALED = "scaled_student_t"
CONFORMAL = "conformal"
ABOUT_MEAN = (SCALED, CONFORMAL)
FAMILIES = (*noises.FAMILIES, FITTED, *ABOUT_MEAN)

# Scales searched, in units of the root mean square residual, which bounds the optimum from above.
_SEARCH = (1e-6, 2.0)
_SEARCH_POINTS = 14
_DEGREES = (2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 12.0, 20.0)
_FOLDS = 5


class FittedNoise(NamedTuple):
    """The predictive noise as it is fitted and stored.

    `gaussian`, `student_t` (4 degrees of freedom) and `fitted_student_t` lie about every draw, with
    one scale. `scaled_student_t` lies about the mean of the draws: its log scale follows the sd of
    the draws and the features (`scale_regression.Regression`). A declared tolerance makes the
    spread of the draws tell where errors are large, not how large they are; rows that were not
    trained on do. `conformal` is the same, recalibrated (`recalibration`) in bins of the feature
    `column` between `edges`, each with its `tails`.
    """

    family: str
    scale: float
    degrees_of_freedom: float | None
    exponent: float = 0.0
    reference_sd: float = 1.0
    knots: Knots = ()
    coefficients: tuple[tuple[float, ...], ...] = ()
    spread_range: tuple[float, ...] = ()
    scale_range: tuple[float, ...] = ()
    column: int = 0
    edges: tuple[float, ...] = ()
    tails: tuple[tuple[float, ...], ...] = ()


def at_points(
    fitted: FittedNoise, draws: np.ndarray, features: np.ndarray | None = None
) -> PredictiveNoise:
    """Give the noise at points with these draws (sample, point) and features (point, feature)."""
    degrees, standard = fitted.degrees_of_freedom, standard_noise(fitted.degrees_of_freedom, ())
    if degrees is None or fitted.family not in ABOUT_MEAN:
        return standard._replace(scale=fitted.scale)
    regression = Regression(
        *(fitted.scale, degrees, fitted.exponent, fitted.reference_sd),
        *(fitted.knots, fitted.coefficients, fitted.spread_range, fitted.scale_range),
    )
    scale = scales_at(regression, np.asarray(draws, np.float64).std(axis=0), features)
    noise = standard._replace(scale=scale, about="mean")
    if fitted.family == SCALED:
        return noise
    bins = _bins(fitted.edges, fitted.column, features, len(scale))
    return noise._replace(tails=np.array(fitted.tails)[bins])


def standard_noise(degrees: float | None, tails: Sequence[Sequence[float]]) -> PredictiveNoise:
    """Give noise of scale one, with a row of tails for each bin that it is recalibrated in."""
    if degrees is None:
        return PredictiveNoise("gaussian", 1.0, None)
    nodes = np.array(tails if len(tails) else recalibration.TAILS)
    return PredictiveNoise("student_t", 1.0, degrees, tails=nodes)


def fit_noise(
    draws: np.ndarray,
    observed: np.ndarray,
    *,
    family: str,
    features: np.ndarray | None = None,
    covariate: np.ndarray | None = None,
) -> FittedNoise:
    """Fit the noise that maximises the mean log predictive density of the observed points.

    Of noise about the draws the scale is fitted, and the degrees of freedom of a
    `fitted_student_t`, among 2.5, 3, 4, 5, 6, 8, 12 and 20; of noise about their mean all numbers,
    with Gaussian priors (`scale_regression.fit_scales`). The bins of `conformal`
    lie along the feature that orders points most as the covariate does, and the residuals there
    are standardised by fits to the other four fifths of the points.

    Parameters
    ----------
    draws
        Function draws on the model scale, axes (sample, point), at points not trained on.
    observed
        Observed targets on the model scale, axis (point).
    family
        `gaussian`, `student_t`, `fitted_student_t`, `scaled_student_t` or `conformal`.
    features
        Inputs of the network (point, feature), which scales about the mean follow where they are
        given.
    covariate
        What conformal intervals are valid along, axis (point); there is one bin without it.

    Returns
    -------
    FittedNoise
        The fitted noise, its scale to a relative accuracy of about 1e-4.

    Raises
    ------
    InputError
        If the arrays do not fit together, the family is unknown, the predictions reproduce
        the observations so well that no scale can be found, or there are fewer than 40 points for
        conformal noise.

    References
    ----------
    V. Vovk, A. Gammerman, G. Shafer, Algorithmic Learning in a Random World (2005), for
    intervals from ranks and within categories; J. Lei et al., Journal of the American Statistical
    Association 113 (2018) 1094, for split-conformal ones of standardised residuals; V. Vovk,
    Annals of Mathematics and Artificial Intelligence 74 (2015) 9, for residuals of folds.
    """
    draws, observed = checked_split(draws, observed)
    if family in ABOUT_MEAN:
        spread, residual = draws.std(axis=0), observed - draws.mean(axis=0)
        _check_residuals(residual, observed)
        regression = fit_scales(residual, spread, features, place_knots(features))
        fitted = FittedNoise(family, *regression)
        if family == SCALED:
            return fitted
        return _recalibrated(fitted, _Points(residual, spread, features, covariate))
    if family == FITTED:
        return _fit_degrees(draws, observed)
    noise = noises.make_noise(family, 1.0)
    return FittedNoise(family, _fit_scale(draws, observed, noise)[0], noise.degrees_of_freedom)


def _fit_degrees(draws: np.ndarray, observed: np.ndarray) -> FittedNoise:
    """Go through degrees of freedom until the density falls, the scale refitted at each."""
    best: tuple[float, float, float] | None = None
    for degrees in _DEGREES:
        noise = PredictiveNoise("student_t", 1.0, degrees)
        scale, loss = _fit_scale(draws, observed, noise)
        if best is not None and loss >= best[0]:
            break
        best = loss, scale, degrees
    assert best is not None
    return FittedNoise(FITTED, *best[1:])


def _fit_scale(
    draws: np.ndarray, observed: np.ndarray, noise: PredictiveNoise
) -> tuple[float, float]:
    """Find the scale of least loss, and that loss."""

    def loss(scale: float) -> float:
        return -float(log_predictive_density(draws, observed, noise._replace(scale=scale)).mean())

    widest = _root_mean_square_residual(draws, observed)
    scales = widest * np.geomspace(*_SEARCH, _SEARCH_POINTS)
    best = int(np.argmin([loss(scale) for scale in scales])) if widest > 0 else 0
    if best == 0:
        raise _no_noise(len(observed))
    optimum = minimize_scalar(
        lambda log_scale: loss(math.exp(log_scale)),
        bounds=np.log([scales[best - 1], scales[min(best + 1, _SEARCH_POINTS - 1)]]),
        method="bounded",
        options={"xatol": 1e-4},
    )
    return math.exp(optimum.x), float(optimum.fun)


class _Points(NamedTuple):
    """Residuals (point,) about the mean of the draws, and what their scale may follow."""

    residual: np.ndarray
    spread: np.ndarray
    features: np.ndarray | None
    covariate: np.ndarray | None


def _recalibrated(fitted: FittedNoise, points: _Points) -> FittedNoise:
    """Take the tails of every bin from residuals that the scale was not fitted to."""
    rows, features = len(points.residual), points.features
    if rows < recalibration.FEWEST_ROWS:
        raise InputError(
            f"conformal noise needs {recalibration.FEWEST_ROWS} validation rows or more, got "
            f"{rows}; give split.validation more rows or choose the noise gaussian"
        )
    column, edges = _divide(features, points.covariate)
    bins, tails = _bins(edges, column, features, rows), _tails_of_folds(fitted, points)
    nodes = [recalibration.conformal_nodes(tails[bins == index]) for index in range(len(edges) + 1)]
    return fitted._replace(
        column=column, edges=edges, tails=tuple(tuple(each.tolist()) for each in nodes)
    )


def _tails_of_folds(fitted: FittedNoise, points: _Points) -> np.ndarray:
    """Give the tail (point,) beyond each residual, by the scale that the other folds fit."""
    residual, spread, features, _ = points
    fold = np.random.default_rng(0).permutation(len(residual)) % _FOLDS
    standardised = np.empty(len(residual))
    for index in range(_FOLDS):
        out, kept = fold == index, fold != index
        seen, held = (None, None) if features is None else (features[kept], features[out])
        others = fit_scales(residual[kept], spread[kept], seen, fitted.knots)
        standardised[out] = residual[out] / scales_at(others, spread[out], held)
    noise = PredictiveNoise("student_t", 1.0, fitted.degrees_of_freedom)
    return 2 * cdf(noise, -np.abs(standardised))


def _divide(
    features: np.ndarray | None, covariate: np.ndarray | None
) -> tuple[int, tuple[float, ...]]:
    """Choose the feature that follows the covariate, and the edges of bins along it."""
    if features is None or covariate is None or np.ptp(covariate) == 0:
        return 0, ()
    varies = np.flatnonzero(np.ptp(features, axis=0) > 0)
    if not varies.size:
        return 0, ()
    likeness = [abs(spearmanr(features[:, column], covariate)[0]) for column in varies]
    column = int(varies[np.argmax(likeness)])
    return column, tuple(recalibration.edges_of(features[:, column]).tolist())


def _bins(
    edges: tuple[float, ...], column: int, features: np.ndarray | None, points: int
) -> np.ndarray:
    """Give the bin (point,) that each point lies in."""
    if not edges:
        return np.zeros(points, int)
    assert features is not None
    return np.searchsorted(edges, features[:, column], side="right")


def _check_residuals(residual: np.ndarray, observed: np.ndarray) -> None:
    typical = float(np.median(np.abs(residual)))
    if typical <= 1e-12 * max(1.0, float(np.abs(observed).max())):
        raise _no_noise(len(observed))


def _no_noise(points: int) -> InputError:
    return InputError(
        f"no predictive noise fits {points} points: the predictions reproduce the observations "
        "exactly; fit on points that were not trained on"
    )


def _root_mean_square_residual(draws: np.ndarray, observed: np.ndarray) -> float:
    parts = [
        np.square(observed[part] - draws[:, part]).sum() for part in point_chunks(*draws.shape)
    ]
    return float(np.sqrt(np.sum(parts) / draws.size))
