"""Scores of several targets: each one separately, and the mean of all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from nlobayes.checks import OF_TARGET
from nlobayes.evaluation.run_evaluation import Evaluation
from nlobayes.evaluation.tasks.task import ScoringData
from nlobayes.types import Dataset, PredictedDraws


def one_by_one(given: ScoringData) -> Iterator[tuple[str, ScoringData]]:
    """Yield the name and the predictions of each target."""
    for place, name in enumerate(given.data.target_names):
        yield (
            name,
            given._replace(
                data=with_one_target(given.data, place),
                posterior=_of_one_target(given.posterior, place),
                baseline=_of_one_target(given.baseline, place),
            ),
        )


def join(outputs: Mapping[str, Evaluation]) -> Evaluation:
    """Put the scores of all targets together, their means first."""
    found = [*outputs.values()]
    maps = [one["baseline"] for one in found]
    return {
        "train": _mean([one["train"] for one in found]),
        "val": _mean([one["val"] for one in found]),
        "test": _mean([one["test"] for one in found]),
        "baseline": {
            "members": _mean([one["members"] for one in maps]),
            "train": _mean([one["train"] for one in maps]),
            "val": _mean([one["val"] for one in maps]),
            "test": _mean([one["test"] for one in maps]),
        },
        "calibration_checks": {
            f"{check}{OF_TARGET}{name}": result
            for name, one in outputs.items()
            for check, result in one["calibration_checks"].items()
        },
        "outputs": dict(outputs),
    }


def _of_one_target(predicted: PredictedDraws, place: int) -> PredictedDraws:
    """Take one target of predictions (draw, point, output), and its noise."""
    return predicted._replace(
        function=predicted.function[..., place],
        scale=_along_outputs(predicted.scale, place),
        degrees_of_freedom=_along_outputs(predicted.degrees_of_freedom, place),
    )


def _along_outputs(values: np.ndarray | None, place: int) -> np.ndarray | None:
    """Take one output of values with the axes of the predictions; all outputs share one value."""
    if values is None:
        return None
    return values[..., place if values.shape[-1] > 1 else 0]


def with_one_target(data: Dataset, place: int) -> Dataset:
    """Return a dataset with one of several targets.

    The reference belongs to the first target only.
    """
    target = {n: v for n, v in data.transforms["target"].items() if not place or n != "relative_to"}
    constants = {
        name: float(np.broadcast_to(target[name], len(data.target_names))[place])
        for name in ("mean", "sd")
    }
    return data._replace(
        target=data.target[:, place],
        observed=data.observed[:, place],
        target_names=(data.target_names[place],),
        transforms={**data.transforms, "target": {**target, **constants}},
        relative_to=None if place else data.relative_to,
    )


def _mean(values: Sequence[Any]) -> Any:
    """Average scores by name; None if one is None, and the first of texts."""
    if None in values:
        return None
    first = values[0]
    if isinstance(first, Mapping):
        names = dict.fromkeys(chain.from_iterable(values))
        return {name: _mean([one[name] for one in values if name in one]) for name in names}
    if isinstance(first, list):
        return [_mean(members) for members in zip(*values, strict=True)]
    if isinstance(first, str):
        return first
    return float(np.mean(values))
