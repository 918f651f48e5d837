"""Functions of an infinitely wide network, drawn jointly at all points: pathwise conditioning.

A finite network drawn from the prior has exactly the prior covariance of f, because its hidden
weights, and the phases of its cosine units, are drawn with it. Matheron's rule makes it a draw of
the posterior,

    f(x) = f0(x) + k(x, X) (k(X, X) + N)^-1 (y - f0(X) - e),    e ~ N(0, N),

with train rows X, y and their noise N (Wilson et al. 2020, arXiv:2002.09309, eq. 10). Mean and
covariance of f are exact. Only moments above the second depend on the number of hidden units. A
function is the same at every point whatever the other points are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from hashlib import sha256
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import erf

from nlobayes.model.infinite import (
    BIASES,
    ERF,
    OUTPUT,
    Scales,
    Warp,
    covariance,
    scaled_inputs,
    scales_of,
)
from nlobayes.surrogate.conditioned import count_draws, noise_variance
from nlobayes.surrogate.nodes import NODES
from nlobayes.surrogate.process import POINTS, stated
from nlobayes.types import SurrogateContent
from nlobayes.untyped import Array

UNITS = 2048
"""Hidden units of the finite network. The sd of its functions given its hidden weights differs by
some per cent from the exact one, which is the sd over hidden weights."""


class Functions(NamedTuple):
    """Functions of one draw of the scales, which share their hidden layer.

    Attributes
    ----------
    variables
        The scales by the names of `model.infinite`.
    hidden, biases
        Weights (feature, unit) and biases (unit,) of the hidden layer; the units from `UNITS` on
        are cosines.
    outputs, shifts
        Weights (unit, function) and biases (function,) of the output layer.
    rows
        Scaled inputs of the train rows (row, feature).
    updates
        Weights (row, function) of the covariances of a point with the rows.
    """

    variables: Mapping[str, Array]
    hidden: np.ndarray
    biases: np.ndarray
    outputs: np.ndarray
    shifts: np.ndarray
    rows: np.ndarray
    updates: np.ndarray


def evaluator(content: SurrogateContent) -> Callable[[np.ndarray], np.ndarray]:
    """Draw `NODES` functions per draw of the scales; return f (draw x function, point) of features.

    The generator is seeded by rows and scales: a surrogate always has the same functions, and two
    surrogates have independent ones.
    """
    activation, warp = stated(content)
    key = sha256(content.rows["target"].tobytes() + content.variables[OUTPUT].tobytes()).digest()
    rng = np.random.default_rng([*key])
    each = [
        _draw(activation, {n: v[number] for n, v in content.variables.items()}, content, warp, rng)
        for number in range(count_draws(content.variables))
    ]
    return partial(_evaluate, activation, each, warp)


def _draw(
    activation: str,
    draw: Mapping[str, Array],
    content: SurrogateContent,
    warp: Warp,
    rng: np.random.Generator,
) -> Functions:
    inputs = scaled_inputs(draw, content.rows["features"], warp, np)
    noise = noise_variance(draw, content.rows)
    prior = Functions(
        draw,
        rng.standard_normal((inputs.shape[1], UNITS)),
        draw[BIASES] * rng.standard_normal(UNITS),
        draw[OUTPUT] / np.sqrt(UNITS) * rng.standard_normal((UNITS, NODES)),
        rng.standard_normal(NODES),
        inputs,
        np.zeros((len(inputs), NODES)),
    )
    prior = _with_cosines(prior, scales_of(draw), rng)
    observed = _prior(activation, prior, inputs)
    observed += np.sqrt(noise)[:, np.newaxis] * rng.standard_normal(observed.shape)
    of_rows = covariance(activation, inputs, inputs, scales_of(draw), np) + np.diag(noise)
    missing = content.rows["target"][:, np.newaxis] - observed
    return prior._replace(updates=cho_solve(cho_factor(of_rows, lower=True), missing))


def _with_cosines(prior: Functions, scales: Scales, rng: np.random.Generator) -> Functions:
    """Add as many cosine units, if the network has them."""
    if scales.cosines is None:
        return prior
    hidden = rng.standard_normal(prior.hidden.shape) / np.sqrt(scales.bias**2 + 0.5)
    outputs = scales.cosines * np.sqrt(2 / UNITS) * rng.standard_normal(prior.outputs.shape)
    return prior._replace(
        hidden=np.hstack([prior.hidden, hidden]),
        biases=np.append(prior.biases, rng.uniform(0, 2 * np.pi, UNITS)),
        outputs=np.vstack([prior.outputs, outputs]),
    )


def _prior(activation: str, drawn: Functions, inputs: np.ndarray) -> np.ndarray:
    """Evaluate the finite networks at scaled inputs (point, feature): f0 (point, function)."""
    outputs = np.empty((len(inputs), NODES))
    for start in range(0, len(inputs), POINTS):
        part = slice(start, start + POINTS)
        summed = inputs[part] @ drawn.hidden + drawn.biases
        units = np.cos(summed)  # those from UNITS on
        own = summed[:, :UNITS]
        units[:, :UNITS] = erf(own) if activation == ERF else np.maximum(own, 0)
        outputs[part] = units @ drawn.outputs + drawn.shifts
    return outputs


def _evaluate(
    activation: str, each: list[Functions], warp: Warp, features: np.ndarray
) -> np.ndarray:
    outputs = np.empty((len(each), NODES, len(features)))
    for drawn, found in zip(each, outputs, strict=True):
        points = scaled_inputs(drawn.variables, features, warp, np)
        found[:] = _prior(activation, drawn, points).T
        for start in range(0, len(features), POINTS):
            part = slice(start, start + POINTS)
            scales = scales_of(drawn.variables)
            across = covariance(activation, points[part], drawn.rows, scales, np)
            found[:, part] += (across @ drawn.updates).T
    return outputs.reshape(-1, len(features))
