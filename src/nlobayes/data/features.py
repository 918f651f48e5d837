"""Features from inputs by a feature map, and what is refused."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nlobayes.data.feature_maps import FEATURE_MAPS, FeatureMap
from nlobayes.errors import InputError


def feature_names(name: str, columns: Sequence[str]) -> tuple[str, ...]:
    """Name the features that a map makes of the columns."""
    chosen = _feature_map(name)
    if chosen.COLUMNS is None or chosen.FEATURES is None:
        return tuple(columns)
    return chosen.FEATURES + tuple(f"ln {squark}" for squark in columns[len(chosen.COLUMNS) :])


def map_features(name: str, inputs: np.ndarray) -> np.ndarray:
    """Apply a feature map, without standardisation.

    Parameters
    ----------
    name
        Name in `FEATURE_MAPS`. All but `raw` are unchanged when a row of mixings, or the masses of
        all neutralinos, change sign.
    inputs
        Shape (row, column). Invariants take m (GeV, signed), N11, N12, N13, N14 in this order,
        those of a pair the same of its second neutralino behind, and all of them, if wanted, the
        mass of the squarks (GeV) as a last column.

    Returns
    -------
    Features of shape (row, feature).

    Raises
    ------
    InputError
        If the map is not known, the columns are too few or many, or a feature is not finite.
    """
    chosen = _feature_map(name)
    inputs = np.asarray(inputs, np.float64)
    _check_columns(name, chosen, inputs.shape)
    with np.errstate(all="ignore"):
        features = chosen.apply(inputs)
    check_rows(
        np.all(np.isfinite(features), axis=1), f"feature map {name!r} is not finite", chosen.ALLOWED
    )
    return features


def check_rows(good: np.ndarray, what: str, allowed: str) -> None:
    """Refuse rows that are not `good` (row,).

    Raises
    ------
    InputError
        If there are any; it counts them and names the first.
    """
    bad = np.flatnonzero(~good) + 1
    if bad.size:
        rows = ", ".join(map(str, bad[:5])) + (", ..." if bad.size > 5 else "")
        raise InputError(
            f"{what} in {bad.size} of {good.size} rows ({rows}); allowed: {allowed}; "
            "remove these rows or choose another"
        )


def _feature_map(name: str) -> FeatureMap:
    if name not in FEATURE_MAPS:
        raise InputError(f"unknown feature map {name!r}; known: {', '.join(FEATURE_MAPS)}")
    return FEATURE_MAPS[name]


def _check_columns(name: str, chosen: FeatureMap, shape: tuple[int, ...]) -> None:
    if len(shape) == 2 and (chosen.COLUMNS is None or shape[1] - len(chosen.COLUMNS) in (0, 1)):
        return
    taken = ", ".join(chosen.COLUMNS or ("all columns",))
    squark = " and, if wanted, the mass of the squarks" if chosen.COLUMNS else ""
    raise InputError(
        f"feature map {name!r} got inputs of shape {shape}; it takes rows of {taken}{squark}; "
        "choose another map or columns"
    )
