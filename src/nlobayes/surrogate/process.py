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

LEAST_DIRECTIONS = 64
MOST_LOSS = 0.01
"""Largest change of the total sd by leaving out directions, relative; at train rows, where less is
left to explain, a tenth of it is allowed."""
POINTS = 256
"""Points of one block, whose covariances with the train rows stay in the cache."""


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
        Scaled inputs of the train rows (row, feature).
    weights
        Weights (row,) of the covariances of a point with the rows in the mean of f.
    precision
        Diagonal (row,) of the inverse covariance of the noisy rows.
    projection
        Matrix (direction, row) whose product with these covariances has the explained variance as
        its square.
    """

    variables: Mapping[str, Array]
    rows: np.ndarray
    weights: np.ndarray
    precision: np.ndarray
    projection: np.ndarray


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
    of_targets = []
    for place in range(data.target[0].size):
        one, own = of_output(drawn, rows, place)
        draws = condition(activation, one, own, warp)
        outputs = evaluate(activation, draws, warp, data.features)
        means, sds = zip(*[left_out(draw, own) for draw in draws], strict=True)
        outputs[:, train] = spread(np.stack(means), np.stack(sds), np)
        of_targets.append(outputs)
    return np.stack(of_targets, axis=-1) if data.target.ndim > 1 else of_targets[0]


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

    Rasmussen and Williams 2006, eq. 5.12, less the noise of the row.
    """
    left = np.maximum(1 / draw.precision - noise_variance(draw.variables, rows), 0.0)
    return rows["target"] - draw.weights / draw.precision, np.sqrt(left)


def count_draws(variables: Mapping[str, np.ndarray]) -> int:
    """Count the draws of arrays that all have the leading axis (draw,)."""
    return len(next(iter(variables.values())))


def condition(
    activation: str, drawn: Mapping[str, np.ndarray], rows: Mapping[str, np.ndarray], warp: Warp
) -> list[Conditioned]:
    """Condition each draw on the train rows; arguments as `content_of` returns them."""
    return [
        _condition_one(activation, {n: v[number] for n, v in drawn.items()}, rows, warp)
        for number in range(count_draws(drawn))
    ]


def _condition_one(
    activation: str, draw: Mapping[str, Array], rows: Mapping[str, np.ndarray], warp: Warp
) -> Conditioned:
    from scipy.linalg.lapack import dtrtri  # not above: finite networks predict without SciPy

    inputs = scaled_inputs(draw, rows["features"], warp, np)
    own = covariance(activation, inputs, inputs, scales_of(draw), np)
    noise = noise_variance(draw, rows)
    whitening, _ = dtrtri(np.linalg.cholesky(own + np.diag(noise)), lower=1)
    weights = whitening.T @ (whitening @ rows["target"])
    precision = np.square(whitening).sum(axis=0)
    # K - K (K + N)^-1 K = N - N (K + N)^-1 N
    total = np.sqrt(noise + np.maximum(noise - noise * precision * noise, 0))
    given = partial(Conditioned, draw, inputs, weights, precision)
    directions, rng = LEAST_DIRECTIONS, np.random.default_rng(0)
    while directions < len(inputs):
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


def noise_variance(draw: Mapping[str, Array], rows: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the variance of the noise of each row (row,), with its stated error and rounding."""
    errors: np.ndarray = rows.get("error", np.zeros(len(rows["target"])))
    return np.square(draw[NOISE]) + np.square(errors) + rounding(scales_of(draw), len(errors))


def evaluate(
    activation: str, draws: Sequence[Conditioned], warp: Warp, features: np.ndarray
) -> np.ndarray:
    """Evaluate the nodes of every draw at features (point, feature): f (draw x node, point)."""
    means, sds = np.empty((2, len(draws), len(features)))
    for number, draw in enumerate(draws):
        for start in range(0, len(features), POINTS):
            part = slice(start, start + POINTS)
            means[number, part], sds[number, part] = moments(
                activation, draw, warp, features[part], np
            )
    return np.asarray(spread(means, sds, np))


def moments(
    activation: str,
    draw: Conditioned,
    warp: Warp,
    features: Array,
    xp: Module,
    curve: Callable[[Array], Array] | None = None,
) -> tuple[Array, Array]:
    """Return mean and sd (point,) of f at features (point, feature) given one draw.

    `curve` is that of `model.infinite.covariance`.
    """
    points, scales = scaled_inputs(draw.variables, features, warp, xp), scales_of(draw.variables)
    across = covariance(activation, points, draw.rows, scales, xp, curve)
    explained = across @ draw.projection.T
    left = variance(activation, points, scales, xp, curve) - (explained * explained).sum(axis=1)
    return across @ draw.weights, xp.sqrt(xp.maximum(left, 0.0))


def evaluator(content: SurrogateContent) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function from features (point, feature) to f (draw x node, point, ...).

    Several targets have a last axis (output).
    """
    return stacked([partial(evaluate, *conditioned(one)) for one in by_output(content)], np)


def by_output(content: SurrogateContent) -> list[SurrogateContent]:
    """Select scales and rows of each target of a surrogate."""
    drawn, rows = content.variables, content.rows
    each = [of_output(drawn, rows, place) for place in range(rows["target"][0].size)]
    return [content._replace(variables=own, rows=of_target) for own, of_target in each]


def stacked(each: list[Callable[[Array], Array]], xp: Module) -> Callable[[Array], Array]:
    """Join functions of one output each to one of all, with a last axis if there are several."""
    if len(each) == 1:
        return each[0]
    return lambda features: xp.stack([one(features) for one in each], axis=-1)


def conditioned(content: SurrogateContent) -> tuple[str, list[Conditioned], Warp]:
    """Return activation, conditioned draws and warps of a surrogate."""
    activation, warp = stated(content)
    return activation, condition(activation, content.variables, content.rows, warp), warp


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
