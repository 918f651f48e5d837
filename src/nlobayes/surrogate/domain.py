"""Where a surrogate may be trusted: how far a point lies from the rows that it was trained on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

INSIDE, NEAR_EDGE, OUTSIDE = "inside", "near edge", "outside"
USUAL_SHARE = 0.99
"""Share of held-out rows that lie inside, by definition."""

_CELLS = 2_000_000


class Domain(NamedTuple):
    """Train rows as the network sees them (row, feature), and distances in units of `spacing`.

    `spacing` is the median distance of a train row to its nearest other, `inside` the distance
    below which 99 % of held-out rows lie, `edge` that of the furthest of them.
    """

    features: np.ndarray
    spacing: float
    inside: float
    edge: float


def fit_domain(train: np.ndarray, held: np.ndarray) -> Domain:
    """Take the distances that held-out rows (row, feature) have for usual."""
    nearest = _nearest(train, train, others=True)
    spacing = float(np.median(nearest)) or float(nearest.mean()) or 1.0
    usual = _nearest(held, train) / spacing
    return Domain(train, spacing, float(np.quantile(usual, USUAL_SHARE)), float(usual.max()))


def distance(domain: Domain, features: np.ndarray) -> np.ndarray:
    """Give the distance of points (point, feature) to the nearest train row, in spacings."""
    return _nearest(features, domain.features) / domain.spacing


def flag(domain: Domain, distances: np.ndarray) -> np.ndarray:
    """Say of each distance: `inside`, `near edge` or `outside`."""
    flags = np.where(distances <= domain.edge, NEAR_EDGE, OUTSIDE)
    return np.where(distances <= domain.inside, INSIDE, flags)


def _nearest(points: np.ndarray, rows: np.ndarray, *, others: bool = False) -> np.ndarray:
    """Distance to the nearest row, for `others` without the point's own row; float64."""
    points, rows = np.asarray(points, np.float64), np.asarray(rows, np.float64)
    if others and len(rows) < 2:
        return np.ones(1)
    squares = np.square(rows).sum(axis=1)
    step = max(1, _CELLS // len(rows))
    parts = []
    for start in range(0, len(points), step):
        block = points[start : start + step]
        squared = squares - 2 * block @ rows.T
        if others:
            squared[np.arange(len(block)), start + np.arange(len(block))] = np.inf
        parts.append(squared.min(axis=1) + np.square(block).sum(axis=1))
    return np.sqrt(np.maximum(np.concatenate(parts), 0)) if parts else np.zeros(0)
