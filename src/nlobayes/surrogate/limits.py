"""The range of the train rows: of each input, of the size of masses, of the length of mixings."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import NamedTuple

import numpy as np

NEUTRALINO, CHARGINO = 4, 2
"""Components of a row of N, and of a row of U or V."""
WITHOUT_UNIT = ("", "1")
ENERGIES = ("GeV", "TeV")
LENGTH_TOLERANCE = 0.01
"""How far rounded mixings may be from the lengths of the train rows."""
NARROW = 0.01
"""A gap around zero of less than this share of the largest value is none."""

Limits = Mapping[str, Sequence[float]]
"""Smallest and largest value among the train rows, by quantity."""


class Derived(NamedTuple):
    """A quantity that is limited beside the inputs: its name, and the columns of its length.

    A length of one column is the size of an energy. No change of signs changes it.
    """

    name: str
    columns: list[int]

    def of(self, points: np.ndarray) -> np.ndarray:
        """Compute it at points (point, input)."""
        if len(self.columns) == 1:
            return np.abs(points[:, self.columns[0]])
        with np.errstate(over="ignore"):
            length: np.ndarray = np.sqrt(np.square(points[:, self.columns]).sum(axis=1))
        return length


class Bounds(NamedTuple):
    """Limits as arrays: of inputs (input,), of what is derived, and changes of signs that are free.

    Axes of `changes` are (way, input): true where the sign changes.
    """

    low: np.ndarray
    high: np.ndarray
    derived: list[tuple[Derived, Sequence[float]]]
    changes: np.ndarray

    def allow(self, points: np.ndarray) -> np.ndarray:
        """Find which points (point, input) are within, after some change of signs."""
        points = np.asarray(points, np.float64)
        kept, changed = ((self.low <= x) & (x <= self.high) for x in (points, -points))
        answer: np.ndarray = np.logical_and.reduce(kept, axis=1)
        if not answer.all():
            for change in self.changes:
                answer |= np.where(change, changed, kept).all(axis=1)
        for what, (low, high) in self.derived:
            values = what.of(points)
            answer &= (low <= values) & (values <= high)
        return answer


def mixing_rows(
    names: Sequence[str], units: Mapping[str, str], limited: Container[str] = ()
) -> list[list[str]]:
    """Find inputs that are rows of a mixing matrix: without unit, alike but for 1, 2 (and 3, 4).

    Two such inputs may be anything. They count where `limited`, quantities that have limits, has
    their length, as `fit_limits` gives it.
    """
    pairs = [row for row in _pairs(names, units) if _length(row, names).name in limited]
    return _rows(names, units, NEUTRALINO) + pairs


def fit_limits(
    train: np.ndarray, names: Sequence[str], units: Mapping[str, str]
) -> dict[str, tuple[float, float]]:
    """Take the range of each quantity of the train rows (row, input).

    Two inputs without unit are a row of mixings if all train rows have the length 1 there.
    """
    train = np.asarray(train, np.float64)
    pairs = [_length(row, names) for row in _pairs(names, units)]
    unit = {one.name for one in pairs if np.abs(one.of(train) - 1).max() < LENGTH_TOLERANCE}
    limits = {
        what: (float(values.min()), float(values.max()))
        for what, values in quantities(train, names, units, unit).items()
    }
    for row in mixing_rows(names, units, unit):
        what = _length(row, names).name
        low, high = limits[what]
        limits[what] = (low - LENGTH_TOLERANCE, high + LENGTH_TOLERANCE)
    return limits


def bounds_of(
    limits: Limits,
    names: Sequence[str],
    units: Mapping[str, str],
    signs: Sequence[Sequence[int]] = (),
) -> Bounds:
    """Make bounds of the limits of inputs and of what is derived from them.

    `signs` are groups of inputs, by position, that may change sign together, as a feature map
    declares them.
    """
    low, high = np.array([limits[name] for name in names]).T
    derived = [(one, limits[one.name]) for one in _derived(names, units, limits)]
    return Bounds(low, high, derived, _changes(signs, len(names)))


def within(
    limits: Limits,
    points: np.ndarray,
    names: Sequence[str],
    units: Mapping[str, str],
    signs: Sequence[Sequence[int]] = (),
) -> np.ndarray:
    """Find which points (point, input) exceed the limits in nothing; `signs` as in `bounds_of`."""
    return bounds_of(limits, names, units, signs).allow(points)


def gaps(limits: Limits, names: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Find inputs with values of both signs of which none is small, and between which none lies."""
    found = {}
    for name in names:
        smallest, largest = limits.get(f"|{name}|", (0.0, 0.0))
        if limits[name][0] < 0 < limits[name][1] and smallest > NARROW * largest:
            found[name] = (-smallest, smallest)
    return found


def quantities(
    points: np.ndarray,
    names: Sequence[str],
    units: Mapping[str, str],
    limited: Container[str] = (),
) -> dict[str, np.ndarray]:
    """Name what is limited of points (point, input), each (point,).

    The sign of a mass is a phase: a scan from -900 to 900 GeV may have none below 46 GeV, so that
    the size of what is an energy has limits of its own. Rows of mixings have a length.
    """
    points = np.asarray(points, np.float64)
    found = {name: points[:, column] for column, name in enumerate(names)}
    return found | {one.name: one.of(points) for one in _derived(names, units, limited)}


def _derived(
    names: Sequence[str], units: Mapping[str, str], limited: Container[str]
) -> list[Derived]:
    energies = [column for column, name in enumerate(names) if units.get(name) in ENERGIES]
    sizes = [Derived(f"|{names[column]}|", [column]) for column in energies]
    return sizes + [_length(row, names) for row in mixing_rows(names, units, limited)]


def _changes(signs: Sequence[Sequence[int]], inputs: int) -> np.ndarray:
    """Combine changes of signs in all ways (way, input): true where the sign changes."""
    ways = np.zeros((1, inputs), bool)
    for group in signs:
        ways = np.concatenate([ways, ways ^ np.isin(np.arange(inputs), group)])
    return ways


def _rows(names: Sequence[str], units: Mapping[str, str], count: int) -> list[list[str]]:
    """Find inputs without unit that are alike but for 1 to `count`."""
    stems = dict.fromkeys(name[:-1] for name in names if len(name) > 1)
    rows = ([f"{stem}{number + 1}" for number in range(count)] for stem in stems)
    free = {name for name in names if units.get(name, "") in WITHOUT_UNIT}
    return [row for row in rows if free.issuperset(row)]


def _pairs(names: Sequence[str], units: Mapping[str, str]) -> list[list[str]]:
    """Find two inputs that may be a row of U or V: none is alike but for 3."""
    third = str(CHARGINO + 1)
    return [row for row in _rows(names, units, CHARGINO) if f"{row[0][:-1]}{third}" not in names]


def _length(row: Sequence[str], names: Sequence[str]) -> Derived:
    return Derived(f"length of {', '.join(row)}", [names.index(name) for name in row])
