"""Prediction of any number of points, chunk by chunk: the request, the columns and the count."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from nlobayes.artifacts.streams import Rows, to_rows
from nlobayes.data.column_names import BESIDE_INPUTS, LONGEST, is_line
from nlobayes.data.row_chunks import Chunk, Source, numbers
from nlobayes.errors import InputError, one_line
from nlobayes.predicting.fallback import Columns, Fallback, Points, Written
from nlobayes.surrogate.answers import (
    DOMAIN,
    REASON,
    SUMMARIES,
    answer,
    answer_beside,
    answer_classes,
    quantile_names,
)
from nlobayes.surrogate.classifier import Classifier
from nlobayes.surrogate.domain import BEYOND, INSIDE, MISSING, NEAR_EDGE, OUTSIDE
from nlobayes.surrogate.network_outputs import Scale
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.surrogate.trained import StoredNetwork

Unpredicted = Literal["keep", "skip", "refuse"]


WHERE = (DOMAIN, REASON)


class PredictionRequest(NamedTuple):
    """The request for every point."""

    quantiles: tuple[float, ...]
    """Probabilities of the quantiles."""
    on: Scale
    """`target`, or `model` for the scale on which the surrogate learned it."""
    name: str
    """Name of the target."""
    unit: str
    """Unit of the target."""
    factor: float
    """Factor from the surrogate's unit to this one."""
    keep: tuple[str, ...]
    """Columns to copy."""
    draws: int
    """Number of posterior draws to return as well."""
    unpredicted: Unpredicted
    """What becomes of rows without a prediction: rows of NaN, no rows, or a refusal."""
    names: tuple[str, ...] = ()
    """Names of the columns of a text table without a header."""
    fallback: Fallback | None = None
    """What accepts points, and computes the others."""


@dataclass
class Tally:
    """Numbers of points: all, those without a prediction, and others near the edge or outside.

    The first point without a prediction has none for the `reason`. `violating` points violate a
    condition of the surrogate, the first as in `violated`. `unstated` points do not state the value
    of a fixed parameter. `entries` of a bundle have predicted points.
    """

    points: int = 0
    unpredicted: int = 0
    reason: str = ""
    near_edge: int = 0
    outside: int = 0
    violating: int = 0
    violated: str = ""
    unstated: int = 0
    entries: set[str] = field(default_factory=set)

    @property
    def predicted(self) -> int:
        """Number of points with a prediction."""
        return self.points - self.unpredicted

    def count(self, place: str, domain: str, reason: str, *, usable: bool) -> None:
        """Count a point at a place, which names its file or row, with a prediction or without."""
        self.points += 1
        if not usable:
            self.unpredicted += 1
            self.reason = self.reason or f"{place}: {reason}"
            return
        self.near_edge += domain == NEAR_EDGE
        self.outside += domain == OUTSIDE
        self.unstated += MISSING in reason
        if BEYOND in reason:
            self.violating += 1
            self.violated = self.violated or f"{place}: {reason}"


def predicted(
    surrogate: Surrogate | Classifier,
    source: Source,
    request: PredictionRequest,
    tally: Tally,
    passed: Callable[[int, float], None],
) -> Iterator[Rows]:
    """Predict chunk by chunk and count the points.

    `passed` is called after each chunk with the number of rows and the share done.

    Raises InputError if a row has no prediction and the request refuses it.
    """
    wanted = {name: surrogate.units.get(name, "") for name in surrogate.inputs}
    if request.fallback is not None and request.fallback.otherwise is not None:
        request.fallback.otherwise.check([*wanted, *source.units])
    for chunk in source.chunks:
        values, faults = numbers(source, chunk, wanted)
        found = _predict(surrogate, values, request, _given(surrogate, source, chunk))
        usable = surrogate.usable(values)
        found[REASON][1][[*faults]] = [*faults.values()]
        computed = np.zeros(len(values), bool)
        if request.fallback is not None:
            computed = _fall_back(request, request.fallback, source, chunk, values, found)
            usable = np.where(computed, np.isfinite(found[f"{request.name}_median"][1]), usable)
        if request.unpredicted == "refuse" and not usable.all():
            first = int(np.argmin(usable))
            place, reason = f"{source.label} {chunk.labels[first]}", found[REASON][1][first]
            raise InputError("commands.bad_point", where=source.name, place=place, reason=reason)
        replaced = computed & usable  # neither domain nor reason is one of the numbers
        domains, reasons = np.where(replaced, [[INSIDE], [""]], [found[n][1] for n in WHERE])
        for label, domain, reason, good in zip(
            chunk.labels, domains, reasons, usable.tolist(), strict=True
        ):
            tally.count(f"{source.label} {label}", domain, reason, usable=good)
        rows = usable if request.unpredicted == "skip" else slice(None)
        units = ("" if unit == "1" else unit for unit in wanted.values())
        columns = (
            {source.label: ("", chunk.labels)},
            dict(zip(wanted, zip(units, values.T, strict=True), strict=True)),
            {name: (source.units[name], chunk.columns[name]) for name in request.keep},
            found,
        )
        yield to_rows(*({n: (u, cells[rows]) for n, (u, cells) in c.items()} for c in columns))
        passed(tally.points, chunk.share)


def _fall_back(
    request: PredictionRequest,
    fallback: Fallback,
    source: Source,
    chunk: Chunk,
    values: np.ndarray,
    found: Columns,
) -> np.ndarray:
    """Replace predictions that are not accepted, and return which points were computed (point,)."""
    told = dict.fromkeys((name for name in fallback.further if name in chunk.columns), "")
    further, faults = numbers(source, chunk, told)
    for row, fault in faults.items():
        found[REASON][1][row] = found[REASON][1][row] or fault
    written = Written(request.name, request.factor, request.on == "model")
    return fallback.replace(found, Points(values, further), written)


def _given(surrogate: StoredNetwork, source: Source, chunk: Chunk) -> dict[str, np.ndarray] | None:
    """Read the values of fixed parameters (point,), NaN where one is missing; None without any."""
    stated = {one.name: one.unit for one in surrogate.conditions if one.name in chunk.columns}
    units = {name: "" if unit == "1" else unit for name, unit in stated.items()}
    values, _ = numbers(source, chunk, units)
    return dict(zip(units, values.T, strict=True)) or None


def _predict(
    surrogate: Surrogate | Classifier,
    points: np.ndarray,
    request: PredictionRequest,
    given: Mapping[str, np.ndarray] | None,
) -> Columns:
    """Predict points (point, input), and return columns by name, each with its unit."""
    if isinstance(surrogate, Classifier):
        classes = answer_classes(surrogate, points, given)
        return {name: ("", column) for name, column in classes.items()}
    found = answer(surrogate, points, request.quantiles, on=request.on, given=given)
    where = {name: ("", found.pop(name)) for name in WHERE}
    if request.draws:
        with np.errstate(all="ignore"):
            functions = surrogate.sample(points, noise=False, on=request.on)
        chosen = np.arange(request.draws) * len(functions) // request.draws
        found |= {f"draw_{number}": functions[draw] for number, draw in enumerate(chosen)}
    named = {
        f"{request.name}_{what}": (request.unit, column * request.factor)
        for what, column in found.items()
    }
    return named | answer_beside(surrogate, points, on=request.on) | where


def check_names(inputs: Sequence[str], target: str) -> None:
    """Refuse names that no surrogate can have, or that predictions give to columns of their own.

    Raises InputError if there is one.
    """
    own = [
        *BESIDE_INPUTS,
        rf"(?:log10_)?{re.escape(target)}_(?:{'|'.join(SUMMARIES)}|q[\d.]+|draw_\d+)",
    ]
    for name in (*inputs, target):
        if not is_line(name):
            shown = one_line(repr(name), 80)
            raise InputError("commands.long_name", name=shown, longest=LONGEST)
    for name in inputs:
        if re.fullmatch("|".join(own), name):
            raise InputError("commands.name_of_predictions", name=name)


def probabilities_of(text: str) -> tuple[float, ...]:
    """Read the probabilities of option `--quantiles`, which commas separate.

    Raises InputError if one is no number, is not between 0 and 1, or occurs twice.
    """
    try:
        found = tuple(float(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise InputError("commands.no_numbers", where="--quantiles", text=text) from None
    quantile_names(found)
    return found
