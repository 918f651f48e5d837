"""The range of the train rows: limits of inputs, of absolute masses and of lengths of mixings."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import NamedTuple

import numpy as np

NEUTRALINO, CHARGINO = 4, 2
"""Components of a row of N, and of a row of U or V."""
WITHOUT_UNIT = ("", "1")
ENERGIES = ("GeV", "TeV")
LENGTH_TOLERANCE = 0.01
"""Tolerance of the lengths of mixings, because mixings are rounded."""
NARROW = 0.01
"""Smallest gap around zero, as a share of the largest value."""

Limits = Mapping[str, Sequence[float]]
"""Smallest and largest value among the train rows, by quantity."""


class DerivedQuantity(NamedTuple):
    """A further quantity with limits: the length of a vector of columns.

    The length of one column is the absolute value of an energy. Changes of sign have no effect.
    """

    name: str
    columns: list[int]

    def of(self, points: np.ndarray) -> np.ndarray:
        """Compute the quantity (point,) at points (point, input)."""
        if len(self.columns) == 1:
            return np.abs(points[:, self.columns[0]])
        with np.errstate(over="ignore"):
            length: np.ndarray = np.sqrt(np.square(points[:, self.columns]).sum(axis=1))
        return length


class Bounds(NamedTuple):
    """Limits of inputs (input,) and of derived quantities, and the allowed changes of sign.

    Axes of `changes` are (way, input): true where the sign changes.
    """

    low: np.ndarray
    high: np.ndarray
    derived: list[tuple[DerivedQuantity, Sequence[float]]]
    changes: np.ndarray

    def allow(self, points: np.ndarray) -> np.ndarray:
        """Mark the points (point, input) that are within the limits for an allowed sign change."""
        points = np.asarray(points, np.float64)
        kept, changed = ((self.low <= x) & (x <= self.high) for x in (points, -points))
        answer: np.ndarray = np.logical_and.reduce(kept, axis=1)
        if not answer.all():
            for change in self.changes:
                answer |= np.where(change, changed, kept).all(axis=1)
        for quantity, (low, high) in self.derived:
            values = quantity.of(points)
            answer &= (low <= values) & (values <= high)
        return answer

    def describe(self, point: np.ndarray, names: Sequence[str]) -> str:
        """Describe the first quantity of a point (input,) that is out of its limits, if one is.

        Lengths come before inputs, and these before their absolute values.
        """
        ways = (np.where(change, -point, point) for change in self.changes)
        listed = [*zip(self.low, self.high, strict=True)]
        of_inputs = [[*filter(None, map(_beyond, names, way.tolist(), listed))] for way in ways]
        sizes, lengths = (
            [
                _beyond(quantity.name, float(quantity.of(point[np.newaxis])[0]), limits)
                for quantity, limits in self.derived
                if (len(quantity.columns) > 1) == is_length
            ]
            for is_length in (False, True)
        )
        of_input = min(of_inputs, key=len)[0] if all(of_inputs) else ""
        return next(filter(None, [*lengths, of_input, *sizes]), "")


def _beyond(name: str, value: float, limits: Sequence[float]) -> str:
    low, high = limits
    return (
        ""
        if low <= value <= high
        else f"{name} is {value:.6g}, train rows have {low:.6g} to {high:.6g}"
    )


def mixing_rows(
    names: Sequence[str], units: Mapping[str, str], limited: Container[str] = ()
) -> list[list[str]]:
    """Find rows of mixing matrices: inputs without unit whose names differ only in 1, 2 (3, 4).

    Two such inputs need not be mixings. They count as a row only if `limited`, the names of
    quantities with limits, contains their length, as in the result of `fit_limits`.
    """
    pairs = [row for row in _pairs(names, units) if _length(row, names).name in limited]
    return _rows(names, units, NEUTRALINO) + pairs


def fit_limits(
    train: np.ndarray, names: Sequence[str], units: Mapping[str, str]
) -> dict[str, tuple[float, float]]:
    """Compute the range of each quantity of the train rows (row, input).

    Two inputs without unit are a row of mixings if their length is 1 in all train rows.
    """
    train = np.asarray(train, np.float64)
    pairs = [_length(row, names) for row in _pairs(names, units)]
    unit = {pair.name for pair in pairs if np.abs(pair.of(train) - 1).max() < LENGTH_TOLERANCE}
    limits = {
        quantity: (float(values.min()), float(values.max()))
        for quantity, values in quantities(train, names, units, unit).items()
    }
    for row in mixing_rows(names, units, unit):
        length = _length(row, names).name
        low, high = limits[length]
        limits[length] = (low - LENGTH_TOLERANCE, high + LENGTH_TOLERANCE)
    return limits


def bounds_of(
    limits: Limits,
    names: Sequence[str],
    units: Mapping[str, str],
    signs: Sequence[Sequence[int]] = (),
) -> Bounds:
    """Make bounds from the limits of inputs and of quantities derived from them.

    `signs` are groups of inputs, by position, that may change sign together, as a feature map
    declares them.
    """
    low, high = np.array([limits[name] for name in names]).T
    derived = [(each, limits[each.name]) for each in _derived(names, units, limits)]
    return Bounds(low, high, derived, _changes(signs, len(names)))


def gaps(limits: Limits, names: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Find inputs with values of both signs, and return the interval around zero without values."""
    found = {}
    for name in names:
        smallest, largest = limits.get(f"|{name}|", (0.0, 0.0))
        if limits[name][0] < 0 < limits[name][1] and smallest > NARROW * largest:
            found[name] = (-smallest, smallest)
    return found


def quantities(
    points: np.ndarray, names: Sequence[str], units: Mapping[str, str], limited: Container[str] = ()
) -> dict[str, np.ndarray]:
    """Compute all quantities with limits at points (point, input), each (point,), by name.

    The sign of a mass is a phase: a scan from -900 to 900 GeV may have no absolute mass below
    46 GeV. The absolute value of an energy therefore has its own limits, as has the length of a row
    of mixings.
    """
    points = np.asarray(points, np.float64)
    inputs = {name: points[:, column] for column, name in enumerate(names)}
    return inputs | {each.name: each.of(points) for each in _derived(names, units, limited)}


def _derived(
    names: Sequence[str], units: Mapping[str, str], limited: Container[str]
) -> list[DerivedQuantity]:
    energies = [column for column, name in enumerate(names) if units.get(name) in ENERGIES]
    sizes = [DerivedQuantity(f"|{names[column]}|", [column]) for column in energies]
    return sizes + [_length(row, names) for row in mixing_rows(names, units, limited)]


def _changes(signs: Sequence[Sequence[int]], inputs: int) -> np.ndarray:
    """List all combinations of sign changes (way, input): true where the sign changes."""
    ways = np.zeros((1, inputs), bool)
    for group in signs:
        ways = np.concatenate([ways, ways ^ np.isin(np.arange(inputs), group)])
    return ways


def _rows(names: Sequence[str], units: Mapping[str, str], count: int) -> list[list[str]]:
    """Find groups of inputs without unit whose names differ only in a last digit 1 to `count`."""
    stems = dict.fromkeys(name[:-1] for name in names if len(name) > 1)
    rows = ([f"{stem}{number + 1}" for number in range(count)] for stem in stems)
    free = {name for name in names if units.get(name, "") in WITHOUT_UNIT}
    return [row for row in rows if free.issuperset(row)]


def _pairs(names: Sequence[str], units: Mapping[str, str]) -> list[list[str]]:
    """Find pairs of inputs that may be a row of U or V: no input has the same name with a 3."""
    third = str(CHARGINO + 1)
    return [row for row in _rows(names, units, CHARGINO) if f"{row[0][:-1]}{third}" not in names]


def _length(row: Sequence[str], names: Sequence[str]) -> DerivedQuantity:
    return DerivedQuantity(f"length of {', '.join(row)}", [names.index(name) for name in row])
