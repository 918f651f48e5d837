"""Conditions of a surrogate: allowed ranges of fixed parameters, which are no inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from nlobayes.data.statements import Fixed

BEYOND = "must be within"
"""Text in the reason of a point that violates a condition."""
MISSING = "is not given"
"""Text in the reason of a point that does not state a fixed parameter."""


def violated(conditions: Sequence[Fixed], given: Mapping[str, Any], points: int) -> np.ndarray:
    """Mark the points (point,) with a parameter outside its range.

    `given` has parameters (point,) by name, in their units. A parameter that is missing or NaN
    violates no condition.
    """
    answer = np.zeros(points, bool)
    for condition in conditions:
        values = _values(condition, given, points)
        answer |= (values < condition.low) | (values > condition.high)
    return answer


def reasons(conditions: Sequence[Fixed], given: Mapping[str, Any], points: int) -> np.ndarray:
    """Describe violated conditions and missing parameters of points (point,); empty if none."""
    messages = [
        [_message(condition, value) for value in _values(condition, given, points)]
        for condition in conditions
    ]
    rows = zip(*messages, strict=True) if messages else ([] for _ in range(points))
    return np.array(["; ".join(filter(None, row)) for row in rows], dtype=object)


def _values(condition: Fixed, given: Mapping[str, Any], points: int) -> np.ndarray:
    return np.broadcast_to(np.asarray(given.get(condition.name, np.nan), np.float64), (points,))


def _message(condition: Fixed, value: float) -> str:
    if condition.low <= value <= condition.high:
        return ""
    span = f"{condition.low:.6g} to {condition.high:.6g} {condition.unit}"
    if np.isnan(value):
        return f"{condition.name} {MISSING}; the surrogate is for {span}"
    return f"{condition.name} is {value:.6g}, {BEYOND} {span}"
