"""What a surrogate stores of its training data: domain, limits and a typical point."""

from __future__ import annotations

import numpy as np

from nlobayes.data.references import columns_behind
from nlobayes.data.splits import TRAIN, VALIDATION
from nlobayes.surrogate.domain import Domain, fit_domain
from nlobayes.surrogate.limits import fit_limits
from nlobayes.types import Dataset
from nlobayes.untyped import Document


def names_of_point(data: Dataset) -> list[str]:
    """Name the columns of a point: the inputs, and the reference of the target, if any."""
    return [*data.input_names, *columns_behind(data.transforms["target"].get("relative_to"))]


def fit_domain_of(data: Dataset) -> Domain:
    """Fit the domain to the train rows, such that it contains the validation rows."""
    train, held = (data.features[data.split == split] for split in (TRAIN, VALIDATION))
    return fit_domain(train.astype(np.float32), held)


def facts_of_domain(domain: Domain, data: Dataset) -> Document:
    """Return facts of the domain that the arrays do not contain: distances, and derived ranges."""
    names = names_of_point(data)
    ranges = fit_limits(_points(data), names, data.units)
    derived = {what: bounds for what, bounds in ranges.items() if what not in names}
    return {"inside": domain.inside, "edge": domain.edge, "limits": derived}


def limits_of(data: Dataset) -> np.ndarray:
    """Return the smallest and largest value of each column of the train points (column, 2)."""
    points = _points(data)
    return np.column_stack([points.min(axis=0), points.max(axis=0)])


def typical_point(data: Dataset) -> np.ndarray:
    """Return the train point whose features are closest to their medians (column,)."""
    features = data.features[data.split == TRAIN]
    sd = features.std(axis=0)
    centred = features - np.median(features, axis=0)
    apart = np.square(centred / np.where(sd > 0, sd, 1.0)).sum(axis=1)
    point: np.ndarray = _points(data)[int(np.argmin(apart))]
    return point


def _points(data: Dataset) -> np.ndarray:
    """Return the train rows with the columns of the surrogate's points (row, column)."""
    train = data.split == TRAIN
    if data.relative_to is None or len(names_of_point(data)) == len(data.input_names):
        return data.inputs[train]
    return np.column_stack([data.inputs, data.relative_to])[train]
