"""Draws of the scales of an infinitely wide network, conditioned on the rows that it learned.

A draw is conditioned by few rows where these determine all others (a pivoted Cholesky factor), and
else by the directions in which all rows explain f (Rasmussen and Williams 2006, algorithm 2.1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from nlobayes.model.infinite import (
    Scales,
    Warp,
    covariance,
    rounding,
    scaled_inputs,
    scales_of,
    variance,
)
from nlobayes.model.likelihood import NOISE
from nlobayes.untyped import Array

Target = tuple[Mapping[str, np.ndarray], Mapping[str, np.ndarray]]
"""Scales and rows of one target, as `content_of` returns them."""
TOLERANCE = 1e-6
"""Largest variance of a row that the pivots leave open, over the smallest variance of the noise."""
EPSILON = float(np.finfo(np.float64).eps)
BLOCK = 32
"""Rows of a triangular matrix that are inverted at once."""
LEAST_DIRECTIONS = 64
"""First number of directions that is tried."""
MOST_LOSS = 0.01
"""Largest change of the total sd by leaving out directions, relative; at train rows, where less is
left to explain, a tenth of it is allowed."""


class Conditioned(NamedTuple):
    """One draw of the scales, conditioned on the train rows.

    Attributes
    ----------
    variables
        Its parameters by the names of `model.infinite`.
    rows
        Scaled inputs (row, feature) of the train rows, or of some from whose values of f those of
        all others follow.
    weights
        Weights (row,) of the covariances of a point with these rows in the mean of f.
    projection
        Matrix (direction, row) whose product with these covariances has the explained variance as
        its square.
    mean, leverage
        Of every train row (train row,): the mean of f, and its derivative by the target of the row.
    """

    variables: Mapping[str, Array]
    rows: np.ndarray
    weights: np.ndarray
    projection: np.ndarray
    mean: np.ndarray
    leverage: np.ndarray


def left_out(draw: Conditioned, rows: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and sd (row,) of f at each row given the others, and one draw of the scales.

    Rasmussen and Williams 2006, eq. 5.12, less the noise of the row, by the leverages of the rows.
    """
    left = np.maximum(1 - draw.leverage, EPSILON)
    mean = rows["target"] - (rows["target"] - draw.mean) / left
    return mean, np.sqrt(noise_variance(draw.variables, rows) * draw.leverage / left)


def count_draws(variables: Mapping[str, np.ndarray]) -> int:
    """Count the draws of arrays that all have the leading axis (draw,)."""
    return len(next(iter(variables.values())))


def condition(
    activation: str, drawn: Mapping[str, np.ndarray], rows: Mapping[str, np.ndarray], warp: Warp
) -> list[Conditioned]:
    """Condition each draw on the train rows; arguments as `content_of` returns them."""
    (found,) = condition_targets(activation, [(drawn, rows)], warp)
    return found


def condition_targets(
    activation: str, each: Sequence[Target], warp: Warp
) -> list[list[Conditioned]]:
    """Condition each draw on the rows of each target, which share features and scales."""
    by_draw = []
    for number in range(count_draws(each[0][0])):
        draws = [{name: v[number] for name, v in drawn.items()} for drawn, _ in each]
        inputs = scaled_inputs(draws[0], each[0][1]["features"], warp, np)
        noises = [noise_variance(draw, rows) for draw, (_, rows) in zip(draws, each, strict=True)]
        targets = [*zip(draws, noises, (rows["target"] for _, rows in each), strict=True)]
        least = min(noise.min() for noise in noises)
        found = pivoted(activation, inputs, scales_of(draws[0]), TOLERANCE * least)
        if found.left <= max(TOLERANCE * least, found.rounding) < MOST_LOSS**2 * least:
            by_draw.append([_by_pivots(*target, inputs, found) for target in targets])
            continue
        own = covariance(activation, inputs, inputs, scales_of(draws[0]), np)
        is_rough = found.left > least
        by_draw.append([_by_rows(*target, inputs, own, is_rough) for target in targets])
    return [list(of_target) for of_target in zip(*by_draw, strict=True)]


class Pivots(NamedTuple):
    """Rows from whose values of f those of the others follow, and the covariance K = L L' + E.

    Attributes
    ----------
    order
        The rows (pivot,).
    factor
        L (row, pivot); its rows of the pivots are lower triangular.
    left, rounding
        Largest variance of a row that the pivots leave open, and what rounding adds to it.
    """

    order: np.ndarray
    factor: np.ndarray
    left: float
    rounding: float


def pivoted(activation: str, inputs: np.ndarray, scales: Scales, tolerance: float) -> Pivots:
    """Choose pivots among rows of scaled inputs (row, feature), up to a quarter of them.

    This is the Cholesky decomposition with complete pivoting (Higham 1990, Analysis of the Cholesky
    decomposition of a semi-definite matrix). It ends where the variance that is left is below the
    tolerance, or below its rounding.
    """
    left = variance(activation, inputs, scales, np)
    rounding, most = EPSILON * float(left.max()), len(inputs) // 4
    factor, order = np.empty((len(inputs), most)), np.empty(most, int)
    count = 0
    while count < most and left.max() > max(tolerance, rounding):
        order[count] = row = left.argmax()
        column = covariance(activation, inputs, inputs[[row]], scales, np)[:, 0]
        column -= factor[:, :count] @ factor[row, :count]
        column[row] = left[row]  # rounding may leave nothing of it
        factor[:, count] = column / np.sqrt(left[row])
        factor[order[:count], count] = 0
        left -= np.square(factor[:, count])
        left[order[: count + 1]] = 0
        count += 1
    return Pivots(order[:count], factor[:, :count], float(left.max()), rounding)


def _by_pivots(
    draw: Mapping[str, Array],
    noise: np.ndarray,
    target: np.ndarray,
    inputs: np.ndarray,
    known: Pivots,
) -> Conditioned:
    """Condition f = L z at the rows on the target; z (pivot,) has the covariance 1.

    Given the rows, z has the covariance A^-1, A = 1 + L' N^-1 L. At a point z has the weights
    g = M k, k being its covariances with the pivots and M the inverse of their part of L. The
    variance that the rows explain is g' (1 - A^-1) g.
    """
    scaled, inverse = known.factor / np.sqrt(noise)[:, None], inverse_of(known.factor[known.order])
    whitening = inverse_of(np.linalg.cholesky(np.eye(len(inverse)) + scaled.T @ scaled))
    z = whitening.T @ (whitening @ (scaled.T @ (target / np.sqrt(noise))))
    open_part, turns = np.linalg.eigh(whitening.T @ whitening)
    projection = np.sqrt(np.maximum(1 - open_part, 0))[:, None] * turns.T @ inverse
    leverage = np.square(whitening @ scaled.T).sum(axis=0)
    mean = known.factor @ z
    return Conditioned(draw, inputs[known.order], inverse.T @ z, projection, mean, leverage)


def _by_rows(
    draw: Mapping[str, Array],
    noise: np.ndarray,
    target: np.ndarray,
    inputs: np.ndarray,
    own: np.ndarray,
    is_rough: bool,
) -> Conditioned:
    """Condition f at the rows, with the covariance `own` (row, row), on the target.

    Of a rough f, all directions are kept, as most would be.
    """
    whitening = inverse_of(np.linalg.cholesky(own + np.diag(noise)))
    weights = whitening.T @ (whitening @ target)
    precision = np.square(whitening).sum(axis=0)
    leverage = np.maximum(1 - noise * precision, 0)
    given = partial(
        Conditioned, draw, inputs, weights, mean=target - noise * weights, leverage=leverage
    )
    # K - K (K + N)^-1 K = N - N (K + N)^-1 N
    total = np.sqrt(noise + noise * leverage)
    directions, rng = LEAST_DIRECTIONS, np.random.default_rng(0)
    while directions < len(inputs) and not is_rough:
        # The covariances of points with the rows vary along few directions: those of the process
        # itself, which products with random vectors find (Halko et al. 2011, SIAM Rev. 53, 217).
        found, _ = np.linalg.qr(own @ rng.standard_normal((len(inputs), directions)))
        projection = np.linalg.qr(whitening @ found, mode="r") @ found.T
        explained = projection @ own
        _, turns = np.linalg.eigh(explained @ explained.T)
        most_first = turns.T[::-1]
        kept = np.diag(own) - np.square(most_first @ explained).cumsum(axis=0)
        change = np.sqrt(np.maximum(kept, 0) + noise) / total - 1
        enough = np.abs(change).max(axis=1) <= MOST_LOSS / 10
        if enough[-1]:
            return given(most_first[: np.argmax(enough) + 1] @ projection)
        directions *= 2
    return given(whitening)


def inverse_of(lower: np.ndarray) -> np.ndarray:
    """Invert a lower triangular matrix so that the inverse times it is 1, even where it is steep.

    NumPy has no function of such matrices. Its general one exchanges no rows of an upper triangular
    matrix, and so substitutes backwards, here by blocks from the last one (Du Croz and Higham 1992,
    IMA J. Numer. Anal. 12, 1).
    """
    inverse = np.zeros_like(lower)
    for start in reversed(range(0, len(lower), BLOCK)):
        block, after = slice(start, start + BLOCK), slice(start + BLOCK, None)
        below = -inverse[after, after] @ lower[after, block]
        own = np.eye(len(lower[block]))
        solved = np.linalg.solve(lower[block, block].T, np.concatenate([own, below]).T)
        inverse[start:, block] = solved.T
    return inverse


def noise_variance(draw: Mapping[str, Array], rows: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the variance of the noise of each row (row,), with its stated error and rounding."""
    errors: np.ndarray = rows.get("error", np.zeros(len(rows["target"])))
    return np.square(draw[NOISE]) + np.square(errors) + rounding(scales_of(draw), len(errors))
