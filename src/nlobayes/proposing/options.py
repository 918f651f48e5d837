"""What is requested of the next points, from the texts of a command line."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from pydantic import ValidationError

from nlobayes.data.column_names import check_known
from nlobayes.designs import DESIGNS, Design
from nlobayes.errors import InputError
from nlobayes.study.accuracy import Accuracy
from nlobayes.study.refusal import refusal
from nlobayes.surrogate.surrogate import Surrogate

NO_LIMIT = 1e9
"""Relative error of 95 % of the points, if only a median is wanted."""

OF_DESIGN = (
    (r"^--range: (?=ranges\.|constraint|unit_rows\.)", ""),
    (r"(?:^|(?<=; ))ranges\.", "--range "),
    (r"(?:^|(?<=; ))constraints(?:\.\d+)?(?=: )", "--constraint"),
    (r"(?:^|(?<=; ))unit_rows(?:\.\d+)?(?=: )", "--unit-row"),
    (r"^(constraint) '", r"--constraint: \1 '"),
    (r"^accuracy: (median|confidence)\b", r"--\1"),
)
"""Places in a design and an accuracy, and the options that state them."""


def accuracy_of(median: str, p95: str, confidence: float) -> Accuracy | None:
    """Read the accuracy that is wanted, of texts as `0.5%`; None if neither limit is given.

    Without a median it is that of 95 % of the points, and without these they have no limit.

    Raises InputError if a text is no number, or the limits cannot be.
    """
    given = {"median": median, "p95": p95}
    limits = {name: _share(f"--{name}", text) for name, text in given.items() if text}
    if not limits:
        return None
    try:
        return Accuracy(
            median=limits.get("median", limits.get("p95", 0)),
            p95=limits.get("p95", NO_LIMIT),
            confidence=confidence,
        )
    except ValidationError as error:
        raise refusal(error, "accuracy") from None


def _share(option: str, text: str) -> float:
    """Read a relative error, as 0.5% or 0.005."""
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = math.nan
    if not 0 < share < math.inf:
        raise InputError("proposing.no_share", where=option, received=text)
    return share


def design_of(
    surrogate: Surrogate,
    pool: str | None,
    ranges: Sequence[str],
    constraints: Sequence[str],
    unit_rows: Sequence[str],
) -> tuple[Design, str]:
    """Make the design of a pool, or of ranges; return it with the ranges that were assumed.

    Inputs without a range have that of the learned rows, and rows of mixings unit length.

    Parameters
    ----------
    surrogate
        Surrogate whose inputs are the columns of the design.
    pool
        Path of a table of points.
    ranges, constraints, unit_rows
        Texts: `m1=100:2000:log`, `m1 < m2`, `n11,n12`.

    Raises
    ------
    InputError
        If a text cannot be read, names a column that is no input, or a pool and ranges are given.
    """
    units = {name: unit for name in surrogate.inputs if (unit := surrogate.units.get(name, ""))}
    if pool is not None:
        if ranges or constraints or unit_rows:
            raise InputError("proposing.pool_or_ranges", where="--pool")
        settings: dict[str, Any] = {"path": pool, "columns": surrogate.inputs, "units": units}
        return _validated("pool", "--pool", {**settings, "points": 0}), ""
    inputs = surrogate.network_inputs(np.empty((0, len(surrogate.inputs)))).shape[1]
    if inputs < len(surrogate.inputs):
        raise InputError("proposing.reference", column=surrogate.inputs[-1])
    rows = [each.split(",") for each in unit_rows] or surrogate.mixings
    given = dict(map(_range, ranges))
    in_rows = [name for row in rows for name in row]
    for name in (*given, *in_rows):
        check_known(surrogate.inputs, name, "--range" if name in given else "--unit-row")
    limits = {n: surrogate.limits[n] for n in surrogate.inputs if n not in (*given, *in_rows)}
    assumed = ", ".join(f"{n} {low:.6g} to {high:.6g}" for n, (low, high) in limits.items())
    all_ranges = given | {n: {"low": low, "high": high} for n, (low, high) in limits.items()}
    for name, each in all_ranges.items():
        each["unit"] = units.get(name, "")
    settings = {"ranges": all_ranges, "constraints": constraints, "unit_rows": rows}
    return _validated("sobol", "--range", {**settings, "points": 1}), assumed


def _validated(kind: str, option: str, settings: Mapping[str, Any]) -> Design:
    try:
        return DESIGNS[kind](kind=kind, **settings)
    except ValidationError as error:
        raise refusal(error, option) from None


def _range(text: str) -> tuple[str, dict[str, Any]]:
    """Read the range of a column, as m1=100:2000 or m1=100:2000:log."""
    name, _, ends = text.partition("=")
    low, _, rest = ends.partition(":")
    high, _, scale = rest.partition(":")
    try:
        found = {"low": float(low), "high": float(high), "scale": scale or "linear"}
    except ValueError:
        raise InputError("proposing.no_range", where="--range", received=text) from None
    return name, found
