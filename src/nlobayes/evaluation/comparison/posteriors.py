"""Compare predictions of two posteriors of one model at held-out rows: numbers, or classes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nlobayes.distributions.laws import LAWS
from nlobayes.distributions.mixture import Mixture
from nlobayes.errors import InputError
from nlobayes.evaluation.fidelity import (
    Measures,
    distances,
    fidelity,
    halves,
    summarise_total_variation,
    total_variation,
    total_variation_of_classes,
)
from nlobayes.types import PredictedDraws

MOST_POINTS = 250
"""Largest number of compared rows, in even steps through the held-out rows."""


class HeldOutDraws(NamedTuple):
    """The predictions of the chains of a posterior for held-out rows.

    `predicted` has the draws chain after chain; for several targets the axis of the points is
    point x output. `chains` is the number of chains, `points` that of the rows.
    """

    predicted: PredictedDraws
    chains: int
    points: int

    @property
    def function(self) -> np.ndarray:
        """All predictions of f (chain, draw, quantity); for classes each probability."""
        function = self.predicted.function.astype(np.float64)
        return function.reshape(self.chains, len(function) // self.chains, -1)


def held_out(predicted: PredictedDraws, chains: int, rows: np.ndarray) -> HeldOutDraws:
    """Take at most 250 of the rows (point,) in even steps, several targets side by side."""
    (there,) = np.nonzero(rows)
    chosen = there[np.unique(np.linspace(0, len(there) - 1, MOST_POINTS).astype(int))]
    function = predicted.function[:, chosen]
    if predicted.family is None:
        return HeldOutDraws(predicted._replace(function=function), chains, len(chosen))
    shape = len(function), -1
    scale = np.broadcast_to(np.asarray(predicted.scale), predicted.function.shape)[:, chosen]
    degrees = predicted.degrees_of_freedom
    if degrees is not None:  # the same at all points
        degrees = np.broadcast_to(np.ravel(degrees), len(function)).reshape(shape)
    flat = predicted._replace(
        function=function.reshape(shape), scale=scale.reshape(shape), degrees_of_freedom=degrees
    )
    return HeldOutDraws(flat, chains, len(chosen))


def compare(exact: HeldOutDraws, approximation: HeldOutDraws) -> Measures:
    """Compare an approximation, whose draws count as independent, with the exact posterior.

    The keys are those of `fidelity`, and the mean and the 95 % quantile of the total variation.
    """
    other = approximation.function
    measures = fidelity(exact.function, other.reshape(-1, other.shape[2]))
    return measures | _variation(exact.predicted, approximation.predicted)


def compare_halves(exact: HeldOutDraws) -> Measures:
    """Compare one half of the exact chains with the other, for the distances by chance.

    The keys are those of `distances`, and the mean and the 95 % quantile of the total variation.
    """
    function = exact.function
    first, second = halves(function)
    cut = len(first)
    parts = [_some(exact.predicted, part) for part in (slice(cut), slice(cut, None))]
    return distances(first, second) | _variation(*parts)


def _variation(first: PredictedDraws, second: PredictedDraws) -> Measures:
    if first.family is None:
        by_point = total_variation_of_classes(first.function, second.function)
    else:
        by_point = total_variation(_predictive(first), _predictive(second))
    return summarise_total_variation(by_point)


def _predictive(predicted: PredictedDraws) -> Mixture:
    """Return the predictive with the noise that the likelihood states."""
    if predicted.family is None or predicted.family not in LAWS:
        raise InputError(
            "evaluation.unknown_stated_noise", family=predicted.family, known=list(LAWS)
        )
    law = LAWS[predicted.family].build(
        scale=predicted.scale, degrees_of_freedom=predicted.degrees_of_freedom
    )
    return Mixture(predicted.function.astype(np.float64), law)


def _some(predicted: PredictedDraws, draws: slice) -> PredictedDraws:
    """Take some of the draws."""
    parts = (predicted.function, predicted.scale, predicted.degrees_of_freedom)
    function, scale, degrees = (None if each is None else each[draws] for each in parts)
    assert function is not None
    return predicted._replace(function=function, scale=scale, degrees_of_freedom=degrees)
