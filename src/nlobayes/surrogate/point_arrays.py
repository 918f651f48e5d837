"""Points as arrays: columns selected by name, and points without a prediction."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from nlobayes.errors import InputError
from nlobayes.untyped import Points

REAL = "biufOSU"
"""NumPy's kinds of types that can hold real numbers."""


def points_of(x: Points, inputs: Sequence[str]) -> np.ndarray:
    """Convert points to numbers (point, input); missing cells are NaN.

    A frame (pandas, polars, Arrow), a mapping of columns or a structured array is read by the names
    of its columns. It may have further columns in any order. A mapping of numbers is one point.
    Other points are positional, in the order of `inputs`.

    Raises InputError if a column is missing or occurs twice, the points have another shape, or a
    cell is no number.
    """
    names = _names_of(x)
    try:
        points = _numbers(x) if names is None else _selected(x, names, inputs)
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        reason = " ".join(str(error).split())
        raise InputError("surrogate.not_numbers", inputs=inputs, reason=reason) from None
    if points.shape == (0,):
        return points.reshape(0, len(inputs))
    if points.ndim != 2 or points.shape[1] != len(inputs):
        raise InputError(
            "surrogate.other_shape", shape=points.shape, count=len(inputs), inputs=inputs
        )
    return points


def values_of(x: Points, names: Iterable[str]) -> dict[str, float]:
    """Read the values of one named point that it has, such as a mapping or a row of a frame.

    Raises InputError if it has no names, several rows, or a value that is no number.
    """
    known = [*x.index] if hasattr(x, "to_frame") else _names_of(x)
    if known is None:
        raise InputError("surrogate.no_spectrum", kind=type(x).__name__)
    found = {name: np.ravel(_numbers(x[name])) for name in names if name in known}
    if any(values.size != 1 for values in found.values()):
        raise InputError("surrogate.several_points", rows=max(map(len, found.values())))
    return {name: float(values[0]) for name, values in found.items()}


def among(values: np.ndarray, usable: np.ndarray, axis: int = -1) -> np.ndarray:
    """Insert NaN along an axis of values of usable points, so that it has all points."""
    if usable.all():
        return values
    moved = np.moveaxis(values, axis, 0)
    whole = np.full((len(usable), *moved.shape[1:]), np.nan)
    whole[usable] = moved
    return np.moveaxis(whole, 0, axis)


def _names_of(x: Points) -> list[Hashable] | None:
    """Return the names of columns; None for an array, and for a frame with numbers as names."""
    if isinstance(x, Mapping):
        return [*x]
    of_dtype = getattr(getattr(x, "dtype", None), "names", None)
    found = (of_dtype, getattr(x, "column_names", None), getattr(x, "columns", None))
    names = next(([*each] for each in found if each is not None), None)
    return None if names == [*range(len(names or ()))] else names


def _selected(x: Points, names: Sequence[Hashable], inputs: Sequence[str]) -> np.ndarray:
    if missing := [name for name in inputs if name not in names]:
        raise InputError("surrogate.no_columns", missing=missing, known=[*map(str, names)])
    if twice := [name for name in inputs if names.count(name) > 1]:
        raise InputError("surrogate.columns_twice", twice=twice)
    return np.column_stack([_numbers(x[name]) for name in inputs])


def _numbers(values: Any) -> np.ndarray:
    is_pandas = hasattr(values, "isna")
    found = values.to_numpy(na_value=np.nan) if is_pandas else np.asarray(values)
    if found.dtype.kind not in REAL:
        raise TypeError(f"values of type {found.dtype}")
    return found.astype(np.float64, copy=False)
