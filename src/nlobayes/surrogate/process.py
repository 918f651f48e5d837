"""Predictions of an infinitely wide network: f at any point given the train rows, draw by draw.

Given its scales, f at a point is normal. The mean is a sum over train rows, and the variance is the
prior's minus what the rows explain (Rasmussen and Williams 2006, eqs 2.25 and 2.26). The draws of
the scales are represented by `nodes`. A file stores scales and train rows alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np

from nlobayes.data.splits import TRAIN
from nlobayes.model.infinite import (
    BIASES,
    CURVES,
    EXPONENTS,
    INPUTS,
    OUTPUT,
    PARAMETERS,
    Scales,
    Warp,
    covariance,
    rounding,
    scaled_inputs,
    scales_of,
    variance,
    warp_of,
)
from nlobayes.model.likelihood import NOISE
from nlobayes.surrogate.nodes import spread
from nlobayes.types import Dataset, SurrogateContent
from nlobayes.untyped import Array, Module

Target = tuple[Mapping[str, np.ndarray], Mapping[str, np.ndarray]]
"""Scales and rows of one target, as `content_of` returns them."""
TOLERANCE = 1e-6
"""Largest variance of a row that the pivots leave open, over the smallest variance of the noise."""
EPSILON = float(np.finfo(np.float64).eps)
BLOCK = 32
"""Rows of a triangular matrix that are inverted at once."""
LEAST_DIRECTIONS = 64
MOST_LOSS = 0.01
"""Largest change of the total sd by leaving out directions, relative; at train rows, where less is
left to explain, a tenth of it is allowed."""
POINTS, CELLS = 256, 100_000
"""Points of one block, and covariances with the train rows, which stay in the cache."""


class Noisy(Protocol):
    """A likelihood whose noise has one scale, stated or learned."""

    def known_scale(self, variables: Mapping[str, Array], error: Array, xp: Module) -> Array:
        """Return the sd of the noise."""
        ...


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


def is_process(content: SurrogateContent) -> bool:
    """Return whether a surrogate is of an infinitely wide network."""
    return bool(content.rows)


def content_of(
    variables: Mapping[str, np.ndarray], likelihood: Noisy, data: Dataset, used: np.ndarray
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray], Warp]:
    """Return what determines the functions of stored draws: scales, rows and warps.

    The scales have the leading axis (draw,), among them the noise without the errors of the rows.
    The rows that `used` (row,) marks are features (row, feature), target (row,) and, where known,
    its error (row,). Warps are always those of the train rows. Of several targets, noise, target
    and error have a last axis (output).
    """
    count = count_draws(variables)
    drawn = {name: variables[name] for name in PARAMETERS if name in variables}
    noise = likelihood.known_scale(variables, None, np)
    drawn[NOISE] = np.broadcast_to(noise, (count, *data.target.shape[1:])).copy()
    rows = {"features": data.features[used], "target": data.target[used]}
    if data.error is not None:
        rows["error"] = data.error[used] / data.transforms["target"]["sd"]
    train = data.features[data.split == TRAIN]
    return drawn, rows, warp_of(train, data.transforms["features"])


def predict(
    variables: Mapping[str, np.ndarray], activation: str, likelihood: Noisy, data: Dataset
) -> np.ndarray:
    """Evaluate the nodes of stored draws at every point of a dataset: f (draw x node, point, ...).

    Several targets have a last axis (output). The nodes of a train row are given all other rows, so
    that no row has learned itself.
    """
    train = data.split == TRAIN
    drawn, rows, warp = content_of(variables, likelihood, data, train)
    of_targets = [of_output(drawn, rows, place) for place in range(data.target[0].size)]
    each = condition_targets(activation, of_targets, warp)
    outputs = evaluate(activation, together(each), warp, data.features)
    for place, (draws, (_, own)) in enumerate(zip(each, of_targets, strict=True)):
        means, sds = zip(*[left_out(draw, own) for draw in draws], strict=True)
        outputs[:, train, place] = spread(np.stack(means), np.stack(sds), np)
    return outputs if data.target.ndim > 1 else outputs[..., 0]


def of_output(
    drawn: Mapping[str, np.ndarray], rows: Mapping[str, np.ndarray], place: int
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Select one of several targets from scales and rows as `content_of` returns them."""
    if rows["target"].ndim == 1:
        return {**drawn}, {**rows}
    own = {name: rows[name][:, place] for name in ("target", "error") if name in rows}
    return {**drawn, NOISE: drawn[NOISE][:, place]}, {**rows, **own}


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


class Together(NamedTuple):
    """All draws of all targets, which are evaluated together.

    Attributes
    ----------
    variables
        Parameters of each draw (draw, ...), by the names of `model.infinite`.
    rows
        Scaled inputs (draw, row, feature). Draws of fewer rows have rows without weight.
    weights, projection
        As of `Conditioned`, with the first axes (target, draw).
    sizes
        Largest numbers of directions and rows (draw, 2) of the targets.
    """

    variables: Mapping[str, np.ndarray]
    rows: np.ndarray
    weights: np.ndarray
    projection: np.ndarray
    sizes: np.ndarray

    def of(self, draws: slice) -> Together:
        """Return some of the draws, without directions and rows that none of them has."""
        directions, rows = self.sizes[draws].max(axis=0)
        return Together(
            {name: values[draws] for name, values in self.variables.items()},
            self.rows[draws, :rows],
            self.weights[:, draws, :rows],
            self.projection[:, draws, :directions, :rows],
            self.sizes[draws],
        )


def together(each: Sequence[Sequence[Conditioned]]) -> Together:
    """Join the conditioned draws of each target."""
    sizes = np.max([[draw.projection.shape for draw in draws] for draws in each], axis=0)
    directions, most = sizes.max(axis=0)
    rows = np.zeros((len(each[0]), most, each[0][0].rows.shape[1]))
    weights = np.zeros((len(each), len(each[0]), most))
    projection = np.zeros((len(each), len(each[0]), directions, most))
    for target, draws in enumerate(each):
        for number, draw in enumerate(draws):
            count = len(draw.rows)
            rows[number, :count], weights[target, number, :count] = draw.rows, draw.weights
            projection[target, number, : len(draw.projection), :count] = draw.projection
    names = each[0][0].variables
    variables = {name: np.array([draw.variables[name] for draw in each[0]]) for name in names}
    return Together(variables, rows, weights, projection, sizes)


def evaluate(activation: str, known: Together, warp: Warp, features: np.ndarray) -> np.ndarray:
    """Evaluate the nodes of every draw of each target at features (point, feature).

    Returns f (draw x node, point, output).
    """
    targets, draws, rows = known.weights.shape
    both = np.empty((2, targets, draws, len(features)))
    step = min(POINTS, max(len(features), 1))
    count = max(1, CELLS // (step * rows))  # draws of one block
    for first in range(0, draws, count):
        some = slice(first, first + count)
        block = known if count >= draws else known.of(some)
        for start in range(0, len(features), step):
            part = slice(start, start + step)
            both[:, :, some, part] = _moments(activation, block, warp, features[part])
    return np.moveaxis(spread(both[0], both[1], np), 0, -1)


def _moments(
    activation: str, known: Together, warp: Warp, features: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and sd (target, draw, point) of f, as `moments` does for a draw of a target."""
    scales = Scales(*(scale[:, np.newaxis, np.newaxis] for scale in scales_of(known.variables)))
    variables = {name: values[:, np.newaxis] for name, values in known.variables.items()}
    points = scaled_inputs(variables, features, warp, np)
    own = np.square(points).sum(axis=-1, keepdims=True) + scales.bias**2
    of_rows = np.square(known.rows).sum(axis=-1)[:, np.newaxis] + scales.bias**2
    inner = points @ np.swapaxes(known.rows, 1, 2) + scales.bias**2
    across = 1.0 + scales.output**2 * _of_units(activation, inner, own, of_rows)
    prior = 1.0 + scales.output**2 * _of_units(activation, own, own, own)
    explained = across @ np.swapaxes(known.projection, -1, -2)
    left = prior[..., 0] - np.square(explained).sum(axis=-1)
    return (across @ known.weights[..., np.newaxis])[..., 0], np.sqrt(np.maximum(left, 0.0))


def _of_units(
    activation: str, inner: np.ndarray, left: np.ndarray, right: np.ndarray
) -> np.ndarray:
    """Return the covariance of hidden units of all draws, as `model.infinite` does for one."""
    curve = CURVES[activation]
    if not curve.is_homogeneous:
        return np.asarray(curve.value(2 * inner / np.sqrt((1 + 2 * left) * (1 + 2 * right)), np))
    size = np.sqrt(left * right)
    return size * np.asarray(curve.value(np.clip(inner / size, -1.0, 1.0), np))


class Seen(NamedTuple):
    """What a draw of the scales makes of points: covariances with its rows, and prior variance."""

    across: Array
    """Axes (point, row)."""
    prior: Array
    """Axis (point,)."""


def see(
    activation: str,
    draw: Conditioned,
    warp: Warp,
    features: Array,
    xp: Module,
    curve: Callable[[Array], Array] | None = None,
) -> Seen:
    """Compute what all targets of a draw share at features (point, feature).

    `curve` is that of `model.infinite.covariance`.
    """
    points, scales = scaled_inputs(draw.variables, features, warp, xp), scales_of(draw.variables)
    across = covariance(activation, points, draw.rows, scales, xp, curve)
    return Seen(across, variance(activation, points, scales, xp, curve))


def moments(draw: Conditioned, seen: Seen, xp: Module) -> tuple[Array, Array]:
    """Return mean and sd (point,) of f at points given one draw."""
    explained = seen.across @ draw.projection.T
    left = seen.prior - (explained * explained).sum(axis=1)
    return seen.across @ draw.weights, xp.sqrt(xp.maximum(left, 0.0))


def evaluator(content: SurrogateContent) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function from features (point, feature) to f (draw x node, point, ...).

    Several targets have a last axis (output).
    """
    activation, each, warp = conditioned(content)
    known = together(each)
    if len(each) == 1:
        return lambda features: evaluate(activation, known, warp, features)[..., 0]
    return partial(evaluate, activation, known, warp)


def stacked(each: list[Callable[[Array], Array]], xp: Module) -> Callable[[Array], Array]:
    """Join functions of one output each to one of all, with a last axis if there are several."""
    if len(each) == 1:
        return each[0]
    return lambda features: xp.stack([one(features) for one in each], axis=-1)


def conditioned(content: SurrogateContent) -> tuple[str, list[list[Conditioned]], Warp]:
    """Return activation, the conditioned draws of each target, and warps of a surrogate."""
    activation, warp = stated(content)
    drawn, rows = content.variables, content.rows
    each = [of_output(drawn, rows, place) for place in range(rows["target"][0].size)]
    return activation, condition_targets(activation, each, warp), warp


def stated(content: SurrogateContent) -> tuple[str, Warp]:
    """Return activation and warps of a surrogate."""
    warp = Warp(**{name: np.array(values) for name, values in content.facts["warp"].items()})
    return content.facts["activation"], warp


def is_whole(content: SurrogateContent) -> bool:
    """Return whether scales, rows and warps of a file are those of one network."""
    drawn, rows, facts = content.variables, content.rows, content.facts
    if NOISE not in drawn or rows.keys() - {"error"} != {"features", "target"}:
        return False
    count, inputs = len(drawn[NOISE]), content.features.shape[1]
    outputs = (len(content.noises),) if len(content.noises) > 1 else ()
    of_row = (len(rows["target"]), *outputs)
    of_draws = {INPUTS: (count, inputs), BIASES: (count,), OUTPUT: (count,)}
    of_draws[NOISE] = (count, *outputs)
    if EXPONENTS in drawn:
        of_draws[EXPONENTS] = (count, inputs)
    of_rows = {"features": (of_row[0], inputs), "target": of_row, "error": of_row}
    return (
        {name: values.shape for name, values in drawn.items()} == of_draws
        and all(values.shape == of_rows[name] for name, values in rows.items())
        and [*map(len, facts.get("warp", {}).values())] == [inputs, inputs]
        and facts["activation"] in CURVES
    )
