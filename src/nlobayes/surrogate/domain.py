"""The domain of a surrogate: points near the train rows, for its fixed parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from nlobayes.data.statements import FixedParameter
from nlobayes.untyped import Facts

INSIDE, NEAR_EDGE, OUTSIDE = "inside", "near edge", "outside"
NEIGHBOURS = 5
"""The spacing at a train row is its distance to the neighbour of this rank."""
LEAST = 0.5
"""Smallest distance that counts as inside, because few held-out rows may all lie close to train
rows. On an even grid of one input the fifth neighbour is three steps away, so that a gap of three
steps is inside."""
EDGE = 1.5
"""Distance up to which points are near the edge, over the largest distance of held-out rows."""

SAME = 1e-6
"""Largest difference of equal features, relative to values above 1, as files store float32."""

BEYOND = "must be within"
"""Text in the reason of a point that violates a condition."""
MISSING = "is not given"
"""Text in the reason of a point that does not state a fixed parameter."""

_CELLS = 2_000_000


class Domain(NamedTuple):
    """Features of the train rows (row, feature), and the spacing at each row (row,).

    `inside` is the largest distance of a held-out row, in local spacings, and at least `LEAST`;
    `edge` is 1.5 times that distance.
    """

    features: np.ndarray
    spacing: np.ndarray
    inside: float
    edge: float


def fit_domain(train: np.ndarray, held: np.ndarray) -> Domain:
    """Fit a domain that contains the held-out rows (row, feature).

    Held-out rows of another value than all train rows share in a feature are not contained.
    The spacing is local, because rows are far apart in the corners of a scan and close in its
    centre. The domain is a union of balls about the rows. The spacing at the nearest row alone
    would jump where another row becomes the nearest.
    """
    spacing = _spacing(train)
    shared = held[~_differ(held, train)]
    inside = max(float(_distance(shared, train, spacing).max(initial=0.0)), LEAST)
    return Domain(train, spacing, inside, EDGE * inside)


def extended(domain: Domain, rows: np.ndarray) -> Domain:
    """Return the domain of more rows (row, feature) at the same distances, in their own spacings.

    Where a surrogate has learned the held-out rows too, rows lie closer, and ranges are larger.
    """
    return domain._replace(features=rows, spacing=_spacing(rows))


def distance(domain: Domain, features: np.ndarray) -> np.ndarray:
    """Compute distances (point,) to the train rows, the smallest in units of the row's spacing.

    They are infinite for points of another value than all train rows share in a feature.
    """
    distances = _distance(features, domain.features, domain.spacing)
    return np.where(_differ(features, domain.features), np.inf, distances)


def flag(domain: Domain, distances: np.ndarray, within: np.ndarray) -> np.ndarray:
    """Classify points (point,) as `inside`, `near edge` or `outside`.

    `within` marks the points within the range of the train rows (`limits.within`). All other points
    are `outside`, however near.
    """
    flags = np.where(distances <= domain.edge, NEAR_EDGE, OUTSIDE)
    flags = np.where(distances <= domain.inside, INSIDE, flags)
    return np.where(within, flags, OUTSIDE)


def violated(conditions: Sequence[FixedParameter], given: Facts, points: int) -> np.ndarray:
    """Mark the points (point,) with a parameter outside its range.

    `given` has parameters (point,) by name, in their units. A parameter that is missing or NaN
    violates no condition.
    """
    answer = np.zeros(points, bool)
    for condition in conditions:
        values = _values(condition, given, points)
        answer |= (values < condition.low) | (values > condition.high)
    return answer


def reasons_of(conditions: Sequence[FixedParameter], given: Facts, points: int) -> np.ndarray:
    """Describe violated conditions and missing parameters of points (point,); empty if none."""
    messages = [
        [_message(condition, value) for value in _values(condition, given, points)]
        for condition in conditions
    ]
    rows = zip(*messages, strict=True) if messages else ([] for _ in range(points))
    return np.array(["; ".join(filter(None, row)) for row in rows], dtype=object)


def _values(condition: FixedParameter, given: Facts, points: int) -> np.ndarray:
    return np.broadcast_to(np.asarray(given.get(condition.name, np.nan), np.float64), (points,))


def _message(condition: FixedParameter, value: float) -> str:
    if condition.low <= value <= condition.high:
        return ""
    unit = condition.unit.removeprefix("1")
    span = f"{condition.low:.6g} to {condition.high:.6g} {unit}".rstrip()
    if np.isnan(value):
        return f"{condition.name} {MISSING}; the surrogate is for {span}"
    return f"{condition.name} is {value:.6g}, {BEYOND} {span}"


def _differ(points: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Mark the points (point,) that differ in a feature whose value all rows (row, feature) share.

    No distance shows this, because rows that share a value have no spacing along it.
    """
    low, high = rows.min(axis=0), rows.max(axis=0)
    same = SAME * np.maximum(np.abs(high), 1.0)
    differs = (high - low <= same) & (np.abs(points - low) > same)
    answer: np.ndarray = differs.any(axis=1)
    return answer


def _distance(points: np.ndarray, rows: np.ndarray, spacing: np.ndarray) -> np.ndarray:
    parts = [
        np.sqrt((squared / np.square(spacing)).min(axis=1)) for squared in _squared(points, rows)
    ]
    return np.concatenate(parts) if parts else np.zeros(0)


def _spacing(rows: np.ndarray) -> np.ndarray:
    """Compute the distance of each row to its fifth nearest neighbour, or to the last of fewer.

    If this is zero because rows repeat, the mean over rows replaces it.
    """
    others = min(NEIGHBOURS, len(rows) - 1)
    if others < 1:
        return np.ones(len(rows))
    parts = [np.partition(squared, others, axis=1)[:, others] for squared in _squared(rows, rows)]
    spacing = np.sqrt(np.concatenate(parts))
    return np.where(spacing > 0, spacing, spacing.mean() or 1.0)


def _squared(points: np.ndarray, rows: np.ndarray) -> Iterator[np.ndarray]:
    """Yield squared distances (point, row) in float64, for blocks of points that fit in memory."""
    points, rows = np.asarray(points, np.float64), np.asarray(rows, np.float64)
    squares, step = np.square(rows).sum(axis=1), max(1, _CELLS // len(rows))
    chunks = (points[start : start + step] for start in range(0, len(points), step))
    return (
        np.maximum(squares - 2 * chunk @ rows.T + np.square(chunk).sum(axis=1)[:, np.newaxis], 0)
        for chunk in chunks
    )
