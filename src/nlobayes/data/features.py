"""Features: computed from inputs by a feature map, and the principal components of train rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from nlobayes.data.feature_maps import FEATURE_MAPS, FeatureMap
from nlobayes.errors import InputError

ROWS_NAMED = 5
"""Most rows that a message names."""


class Components(NamedTuple):
    """Directions of the largest variance."""

    mean: np.ndarray
    """Mean of each feature (feature,)."""
    directions: np.ndarray
    """Orthonormal directions, largest variance first (component, feature). The sign of each makes
    its entry of largest magnitude positive."""
    sd: np.ndarray
    """Standard deviation of the rows along each (component,)."""
    explained: np.ndarray
    """Share of the variance of the rows along each (component,)."""


def feature_names(
    name: str, columns: Sequence[str], components: int | None = None
) -> tuple[str, ...]:
    """Name the features that a map makes from the columns, or the components that replace them."""
    if components is not None:
        return tuple(f"PC {number}" for number in range(1, components + 1))
    chosen = _feature_map(name)
    if chosen.COLUMNS is None or chosen.FEATURES is None:
        return tuple(columns)
    return chosen.FEATURES + tuple(f"ln {squark}" for squark in columns[len(chosen.COLUMNS) :])


def map_features(name: str, inputs: np.ndarray) -> np.ndarray:
    """Apply a feature map, without standardisation.

    Raises InputError if the map is not known, the columns are too few or many, or a feature is not
    finite.

    Parameters
    ----------
    name
        Name in `FEATURE_MAPS`. Features of all maps but `raw` stay the same when a row of mixings,
        or the masses of all neutralinos, change sign.
    inputs
        Shape (row, column). Invariants take m (GeV, signed), N11, N12, N13, N14 in this order;
        those of a pair then take the same columns of the second neutralino. All of them optionally
        take the squark mass (GeV) as the last column.

    Returns
    -------
    Features of shape (row, feature).
    """
    chosen = _feature_map(name)
    inputs = np.asarray(inputs, np.float64)
    _check_columns(name, chosen, inputs.shape)
    with np.errstate(all="ignore"):
        features = chosen.apply(inputs)
    bad = np.flatnonzero(~np.isfinite(features).all(axis=1))
    if bad.size:
        raise InputError(
            "data.features_not_finite",
            map=name,
            count=bad.size,
            total=len(features),
            rows=first_rows(bad),
            allowed=chosen.ALLOWED,
        )
    return features


def first_rows(rows: np.ndarray) -> list[int | str]:
    """Convert the first row indices to row numbers from 1; `...` stands for the others."""
    first = (rows[:ROWS_NAMED] + 1).tolist()
    return [*first, "..."] if rows.size > ROWS_NAMED else first


def _feature_map(name: str) -> FeatureMap:
    if name not in FEATURE_MAPS:
        raise InputError("data.unknown_map", map=name, known=[*FEATURE_MAPS])
    return FEATURE_MAPS[name]


def _check_columns(name: str, chosen: FeatureMap, shape: tuple[int, ...]) -> None:
    if len(shape) == 2 and (chosen.COLUMNS is None or shape[1] - len(chosen.COLUMNS) in (0, 1)):
        return
    if chosen.COLUMNS is None:
        raise InputError("data.inputs_without_rows", map=name, shape=shape)
    raise InputError("data.inputs_of_other_columns", map=name, shape=shape, taken=chosen.COLUMNS)


def principal_components(rows: np.ndarray, count: int) -> Components:
    """Find the principal components of rows (row, feature), by a singular value decomposition.

    Raises InputError if the rows vary in fewer directions than components are requested.
    """
    mean = rows.mean(axis=0)
    _, singular, directions = np.linalg.svd(rows - mean, full_matrices=False)
    varied = singular > singular.max(initial=0.0) * max(rows.shape) * np.finfo(np.float64).eps
    if count > varied.sum():
        raise InputError(
            "data.more_components_than_directions",
            where="features.components",
            components=count,
            rows=len(rows),
            directions=int(varied.sum()),
        )
    largest = np.abs(directions).argmax(axis=1)
    signs = np.sign(directions[np.arange(len(directions)), largest])
    variance = singular**2
    return Components(
        mean=mean,
        directions=(signs[:, np.newaxis] * directions)[:count],
        sd=singular[:count] / np.sqrt(len(rows)),
        explained=(variance / variance.sum())[:count],
    )
