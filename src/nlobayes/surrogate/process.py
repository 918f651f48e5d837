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
    COSINES,
    CURVES,
    EXPONENTS,
    INPUTS,
    OUTPUT,
    PARAMETERS,
    Scales,
    Warp,
    covariance,
    covariance_of_sums,
    scaled_inputs,
    scales_of,
    variance,
    warp_of,
)
from nlobayes.model.likelihood import NOISE
from nlobayes.surrogate.conditioned import (
    Conditioned,
    condition_targets,
    count_draws,
    left_out,
)
from nlobayes.surrogate.nodes import spread
from nlobayes.types import Dataset, SurrogateContent
from nlobayes.untyped import Array, Module

POINTS, CELLS = 256, 100_000
"""Points of one block, and covariances with the train rows, which stay in the cache."""


class Noisy(Protocol):
    """A likelihood whose noise has one scale, stated or learned."""

    def known_scale(self, variables: Mapping[str, Array], error: Array, xp: Module) -> Array:
        """Return the sd of the noise."""
        ...


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
        outputs[:, train, place] = _given_others(draws, own)
    return outputs if data.target.ndim > 1 else outputs[..., 0]


def without_own_row(
    activation: str, drawn: Mapping[str, np.ndarray], rows: Mapping[str, np.ndarray], warp: Warp
) -> np.ndarray:
    """Evaluate the nodes of each row given all others: f (draw x node, row, output).

    Arguments are as `content_of` returns them.
    """
    each = [of_output(drawn, rows, place) for place in range(rows["target"][0].size)]
    draws = condition_targets(activation, each, warp)
    given = [_given_others(*one) for one in zip(draws, (own for _, own in each), strict=True)]
    return np.stack(given, axis=-1)


def _given_others(draws: Sequence[Conditioned], rows: Mapping[str, np.ndarray]) -> np.ndarray:
    means, sds = zip(*[left_out(draw, rows) for draw in draws], strict=True)
    nodes: np.ndarray = spread(np.stack(means), np.stack(sds), np)
    return nodes


def of_output(
    drawn: Mapping[str, np.ndarray], rows: Mapping[str, np.ndarray], place: int
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Select one of several targets from scales and rows as `content_of` returns them."""
    if rows["target"].ndim == 1:
        return {**drawn}, {**rows}
    own = {name: rows[name][:, place] for name in ("target", "error") if name in rows}
    return {**drawn, NOISE: drawn[NOISE][:, place]}, {**rows, **own}


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
    stored = [scale for scale in scales_of(known.variables) if scale is not None]
    scales = Scales(*(scale[:, np.newaxis, np.newaxis] for scale in stored))
    variables = {name: values[:, np.newaxis] for name, values in known.variables.items()}
    points = scaled_inputs(variables, features, warp, np)
    own = np.square(points).sum(axis=-1, keepdims=True) + scales.bias**2
    of_rows = np.square(known.rows).sum(axis=-1)[:, np.newaxis] + scales.bias**2
    inner = points @ np.swapaxes(known.rows, 1, 2) + scales.bias**2
    across = covariance_of_sums(activation, inner, own, of_rows, scales, np)
    prior = covariance_of_sums(activation, own, own, own, scales, np)
    explained = across @ np.swapaxes(known.projection, -1, -2)
    left = prior[..., 0] - np.square(explained).sum(axis=-1)
    return (across @ known.weights[..., np.newaxis])[..., 0], np.sqrt(np.maximum(left, 0.0))


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
    of_draws |= {NOISE: (count, *outputs), **({COSINES: (count,)} if COSINES in drawn else {})}
    if EXPONENTS in drawn:
        of_draws[EXPONENTS] = (count, inputs)
    of_rows = {"features": (of_row[0], inputs), "target": of_row, "error": of_row}
    return (
        {name: values.shape for name, values in drawn.items()} == of_draws
        and all(values.shape == of_rows[name] for name, values in rows.items())
        and [*map(len, facts.get("warp", {}).values())] == [inputs, inputs]
        and facts["activation"] in CURVES
    )
