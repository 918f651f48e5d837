"""Prediction of any number of points, chunk by chunk: the request and the result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from nlobayes.artifacts.streams import to_batch
from nlobayes.data.chunks import Chunk, Source, numbers
from nlobayes.errors import InputError
from nlobayes.surrogate.answers import (
    DOMAIN,
    REASON,
    allowed,
    answer,
    answer_beside,
    answer_classes,
)
from nlobayes.surrogate.classifier import Classifier
from nlobayes.surrogate.conditions import BEYOND
from nlobayes.surrogate.domain import NEAR_EDGE, OUTSIDE
from nlobayes.surrogate.outputs import Scale
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.surrogate.trained import Trained


class PredictionRequest(NamedTuple):
    """The request for every point.

    Attributes
    ----------
    quantiles
        Probabilities of the quantiles.
    on
        `target`, or `model` for the scale on which the surrogate learned it.
    name, unit
        Name of the target, and its unit.
    factor
        Factor from the surrogate's unit to this one.
    keep
        Columns to copy.
    draws
        Number of posterior draws to return as well.
    skip_bad
        Whether to leave out unusable rows instead of refusing them.
    names
        Names of the columns of a text table without a header.
    """

    quantiles: tuple[float, ...]
    on: Scale
    name: str
    unit: str
    factor: float
    keep: tuple[str, ...]
    draws: int
    skip_bad: bool
    names: tuple[str, ...] = ()


@dataclass
class Tally:
    """Numbers of points that were predicted, are near the edge or outside, or were left out.

    `reason` states why the first point was left out. `violating` points violate a condition of the
    surrogate, the first for the reason `violated`. `unstated` points do not state the value.
    """

    predicted: int = 0
    near_edge: int = 0
    outside: int = 0
    skipped: int = 0
    reason: str = ""
    violating: int = 0
    violated: str = ""
    unstated: int = 0


def predicted(
    surrogate: Surrogate | Classifier,
    source: Source,
    request: PredictionRequest,
    tally: Tally,
    passed: Callable[[int, float], None],
) -> Iterator[pa.RecordBatch]:
    """Predict chunk by chunk and count the points.

    `passed` is called after each chunk with the number of rows and the share done.

    Raises
    ------
    InputError
        If a row is unusable and `skip_bad` is not set.
    """
    wanted = {name: surrogate.units.get(name, "") for name in surrogate.inputs}
    for chunk in source.chunks:
        values, faults = numbers(source, chunk, wanted)
        usable, takes = allowed(surrogate, values)
        for row in np.flatnonzero(~usable).tolist():
            faults.setdefault(row, f"no such point can be predicted; allowed: {takes}")
        if faults:
            _leave_out(faults, source, chunk, request, tally)
        good = np.setdiff1d(np.arange(len(values)), [*faults])
        given = _given(surrogate, source, chunk, good)
        found = _predict(surrogate, values[good], request, given)
        _count_reasons(found, chunk.labels[good], source.label, tally)
        units = ("" if unit == "1" else unit for unit in wanted.values())
        inputs = zip(units, values[good].T, strict=True)
        batch = to_batch(
            {source.label: ("", chunk.labels[good])},
            dict(zip(wanted, inputs, strict=True)),
            {name: (source.units[name], chunk.columns[name][good]) for name in request.keep},
            found,
        )
        tally.predicted += len(good)
        tally.near_edge += int(np.count_nonzero(found[DOMAIN][1] == NEAR_EDGE))
        tally.outside += int(np.count_nonzero(found[DOMAIN][1] == OUTSIDE))
        yield batch
        passed(tally.predicted + tally.skipped, chunk.share)


def _given(
    surrogate: Trained, source: Source, chunk: Chunk, good: np.ndarray
) -> dict[str, np.ndarray]:
    """Read the values of fixed parameters (point,) from the source; NaN where one is missing."""
    stated = {one.name: one.unit for one in surrogate.conditions if one.name in chunk.columns}
    units = {name: "" if unit == "1" else unit for name, unit in stated.items()}
    values, _ = numbers(source, chunk, units)
    return dict(zip(units, values[good].T, strict=True))


def _count_reasons(
    found: Mapping[str, tuple[str, np.ndarray]], labels: np.ndarray, label: str, tally: Tally
) -> None:
    if REASON not in found:
        return
    reasons = found[REASON][1]
    violating = np.flatnonzero([BEYOND in reason for reason in reasons])
    if violating.size and not tally.violating:
        first = int(violating[0])
        tally.violated = f"{label} {labels[first]}: {reasons[first]}"
    tally.violating += int(violating.size)
    tally.unstated += sum(reason != "" and BEYOND not in reason for reason in reasons)


def _leave_out(
    faults: Mapping[int, str],
    source: Source,
    chunk: Chunk,
    request: PredictionRequest,
    tally: Tally,
) -> None:
    first = min(faults)
    point, reason = chunk.labels[first], faults[first]
    if not request.skip_bad:
        raise InputError(
            "commands.bad_point",
            where=source.name,
            label=source.label,
            point=point,
            reason=reason,
        )
    tally.skipped += len(faults)
    tally.reason = tally.reason or f"{source.label} {point}: {reason}"


def _predict(
    surrogate: Surrogate | Classifier,
    points: np.ndarray,
    request: PredictionRequest,
    given: Mapping[str, np.ndarray],
) -> dict[str, tuple[str, np.ndarray]]:
    """Predict points (point, input), and return columns by name, each with its unit."""
    reason = {REASON: ("", surrogate.reasons(given, len(points)))} if given else {}
    if isinstance(surrogate, Classifier):
        classes = answer_classes(surrogate, points, given)
        return {name: ("", column) for name, column in classes.items()} | reason
    found = answer(surrogate, points, request.quantiles, on=request.on, given=given)
    domain = found.pop(DOMAIN)
    if request.draws:
        with np.errstate(all="ignore"):
            functions = surrogate.sample(points, noise=False, on=request.on)
        chosen = np.arange(request.draws) * len(functions) // request.draws
        found |= {f"draw_{number}": functions[draw] for number, draw in enumerate(chosen)}
    named = {
        f"{request.name}_{what}": (request.unit, column * request.factor)
        for what, column in found.items()
    }
    return named | answer_beside(surrogate, points, on=request.on) | {DOMAIN: ("", domain)} | reason
