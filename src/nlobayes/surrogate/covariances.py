"""Covariances of f between points given what a surrogate learned, in units of the network.

They state what a further row would teach about other points, whatever its target (`choosing`).
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from nlobayes.model.infinite import covariance, scaled_inputs, scales_of
from nlobayes.surrogate.conditioned import count_draws, noise_variance
from nlobayes.surrogate.process import stated
from nlobayes.types import SurrogateContent


def some_of(content: SurrogateContent, most: int) -> SurrogateContent:
    """Keep at most so many of the stored draws, spread evenly."""
    count = count_draws(content.variables)
    kept = np.unique(np.linspace(0, count - 1, min(most, count)).round().astype(int))
    return content._replace(variables={n: values[kept] for n, values in content.variables.items()})


def covariances_of_process(
    content: SurrogateContent, features: np.ndarray, *, prior: bool
) -> np.ndarray:
    """Return the covariances of an infinitely wide network at features (point, feature).

    Axes (draw, point, point). They are exact: k(x, x') - k(x, X) (k(X, X) + N)^-1 k(X, x') with the
    train rows X and their noise N (Rasmussen and Williams 2006, eq. 2.24), or the `prior` k(x, x')
    of each draw of the scales.
    """
    activation, warp = stated(content)
    found = np.empty((count_draws(content.variables), len(features), len(features)))
    for number, own in enumerate(found):
        draw = {name: values[number] for name, values in content.variables.items()}
        scales, points = scales_of(draw), scaled_inputs(draw, features, warp, np)
        own[:] = covariance(activation, points, points, scales, np)
        if prior:
            continue
        inputs = scaled_inputs(draw, content.rows["features"], warp, np)
        of_rows = covariance(activation, inputs, inputs, scales, np)
        of_rows[np.diag_indices_from(of_rows)] += noise_variance(draw, content.rows)
        across = covariance(activation, inputs, points, scales, np)
        known = solve_triangular(np.linalg.cholesky(of_rows), across, lower=True)
        own -= known.T @ known
    return found


def noise_of_process(content: SurrogateContent) -> np.ndarray:
    """Return the variance of the noise of a further row (draw,): of a typical train row."""
    draws = range(count_draws(content.variables))
    each = ({name: values[n] for name, values in content.variables.items()} for n in draws)
    return np.array([np.median(noise_variance(draw, content.rows)) for draw in each])


def covariances_of_draws(functions: np.ndarray) -> np.ndarray:
    """Return the covariances (1, point, point) of draws of f (draw, point), shrunk.

    The correlations of D independent draws scatter by about D^-1/2 around any two points, which
    would promise gains where there are none. They are multiplied by the 1 - lambda of the least
    expected squared error, lambda = sum Var(r) / sum r^2 over all pairs of points (Schaefer and
    Strimmer 2005, Stat. Appl. Genet. Mol. Biol. 4, 32, target D), with Var(r) = (1 - r^2)^2 / (D -
    1) of a normal f. Variances stay as they are.
    """
    found = np.cov(functions, rowvar=False).reshape(2 * functions.shape[1:])
    sds = np.sqrt(np.diag(found))
    with np.errstate(invalid="ignore", divide="ignore"):
        squares = np.nan_to_num(np.square(found / np.outer(sds, sds)))
    np.fill_diagonal(squares, 0)
    scatter = np.square(1 - squares).sum() - len(squares)
    total = squares.sum() * (len(functions) - 1)
    shrunk = found * (1 - min(1.0, scatter / total) if total > 0 else 0.0)
    np.fill_diagonal(shrunk, np.square(sds))
    return shrunk[np.newaxis]
