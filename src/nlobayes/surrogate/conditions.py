"""Conditions of a surrogate: spans of fixed parameters, which are no inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from nlobayes.data.statements import Fixed

BEYOND = "must be within"
"""Text in the reason of a point that violates a condition."""


def violated(conditions: Sequence[Fixed], given: Mapping[str, Any], points: int) -> np.ndarray:
    """Find which points (point,) lie beyond a span, by parameters (point,) in their units.

    What is not given, or NaN, violates nothing.
    """
    answer = np.zeros(points, bool)
    for one in conditions:
        values = _values(one, given, points)
        answer |= (values < one.low) | (values > one.high)
    return answer


def reasons(conditions: Sequence[Fixed], given: Mapping[str, Any], points: int) -> np.ndarray:
    """Name the spans that points (point,) leave and the parameters that they lack; else nothing."""
    said = [[_said(one, value) for value in _values(one, given, points)] for one in conditions]
    rows = zip(*said, strict=True) if said else ([] for _ in range(points))
    return np.array(["; ".join(filter(None, row)) for row in rows], dtype=object)


def _values(one: Fixed, given: Mapping[str, Any], points: int) -> np.ndarray:
    return np.broadcast_to(np.asarray(given.get(one.name, np.nan), np.float64), (points,))


def _said(one: Fixed, value: float) -> str:
    if one.low <= value <= one.high:
        return ""
    span = f"{one.low:.6g} to {one.high:.6g} {one.unit}"
    if np.isnan(value):
        return f"{one.name} is not given; the surrogate is for {span}"
    return f"{one.name} is {value:.6g}, {BEYOND} {span}"
