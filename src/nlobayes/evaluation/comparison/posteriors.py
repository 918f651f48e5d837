"""Compare predictions of two posteriors of one model at held-out rows: numbers, or classes."""

from __future__ import annotations

from collections.abc import Sequence
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
from nlobayes.types import Columns, PredictedDraws, Predictions
from nlobayes.untyped import Facts

SCORES = ("rmse_log10", "rmse_target", "accuracy", "coverage_68", "coverage_95", "lppd")
"""Scores of the test split in the table; null if a task has no such score."""
ABOUT = ("run", "converged", "failed_checks", "exact", "test")
"""Entries of a row that are no measures."""
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


def at_split(predictions: Sequence[Predictions], split: int) -> list[HeldOutDraws]:
    """Take the predictions of each posterior at the rows of a split.

    Raises InputError if they are of other rows; it names them by their place in the list.
    """
    first = predictions[0]
    for number, one in enumerate(predictions):
        same = np.array_equal(one.observed, first.observed)
        if not (same and np.array_equal(one.split, first.split)):
            path, other = f"predictions[{number}]", "predictions[0]"
            raise InputError("commands.other_points_predicted", path=path, first=other)
    rows = first.split == split
    return [held_out(one.posterior, len(one.chains), rows) for one in predictions]


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


def table_of(rows: Sequence[Facts], seconds: Sequence[float]) -> Columns:
    """Tabulate runs, first the halves of the exact one, with their CPU seconds (run,)."""
    numbers = [name for name, value in rows[-1].items() if name not in ABOUT]
    columns = {
        "run": np.array([row["run"] for row in rows]),
        "method": np.array([row["run"].split("/")[-2] for row in rows]),
        "converged": np.array([_verdict(row["converged"]) for row in rows]),
        "failed_checks": np.array([" ".join(row["failed_checks"]) for row in rows]),
        **{name: floats([row.get(name) for row in rows]) for name in numbers},
        **{name: floats([row["test"].get(name) for row in rows]) for name in SCORES},
        "cpu_seconds": floats(seconds),
    }
    with np.errstate(divide="ignore", invalid="ignore"):
        saved = columns["cpu_seconds"][0] / columns["cpu_seconds"]
    return columns | {"cpu_ratio": saved}


def floats(values: Sequence[float | None]) -> np.ndarray:
    """Make an array of numbers; None is NaN."""
    return np.array([np.nan if value is None else value for value in values], np.float64)


def in_words(row: Facts, exact: Facts) -> str:
    """Describe the errors of an approximation, and whether the exact chains have converged."""
    off, ratio, apart = (
        "none" if row[name] is None else f"{row[name]:.2g}"
        for name in ("mean_difference_rms", "sd_ratio_median", "total_variation_mean")
    )
    warned = "" if exact["converged"] else " (the exact run has NOT CONVERGED)"
    return (
        f"{row['run']}: mean off by {off} sd, sd {ratio} of the exact one,"
        f" total variation {apart}{warned}"
    )


def _verdict(converged: bool | None) -> str:
    return "approximate" if converged is None else "yes" if converged else "NO"


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
