"""The range of the train rows: of each input, of the size of masses, of the length of mixings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

MIXINGS = 4
WITHOUT_UNIT = ("", "1")
ENERGIES = ("GeV", "TeV")
LENGTH_TOLERANCE = 0.01
"""How far rounded mixings may be from the lengths of the train rows."""
NARROW = 0.01
"""A gap around zero of less than this share of the largest value is none."""

Limits = Mapping[str, Sequence[float]]
"""Smallest and largest value among the train rows, by quantity."""


def mixing_rows(names: Sequence[str], units: Mapping[str, str]) -> list[list[str]]:
    """Find inputs that are rows of a mixing matrix: four without unit, alike but for 1, 2, 3, 4."""
    stems = dict.fromkeys(name[:-1] for name in names if len(name) > 1)
    rows = ([f"{stem}{number + 1}" for number in range(MIXINGS)] for stem in stems)
    free = {name for name in names if units.get(name, "") in WITHOUT_UNIT}
    return [row for row in rows if free.issuperset(row)]


def fit_limits(
    train: np.ndarray, names: Sequence[str], units: Mapping[str, str]
) -> dict[str, tuple[float, float]]:
    """Take the range of each quantity of the train rows (row, input)."""
    limits = {
        what: (float(values.min()), float(values.max()))
        for what, values in quantities(train, names, units).items()
    }
    for row in mixing_rows(names, units):
        low, high = limits[_length(row)]
        limits[_length(row)] = (low - LENGTH_TOLERANCE, high + LENGTH_TOLERANCE)
    return limits


def within(
    limits: Limits, points: np.ndarray, names: Sequence[str], units: Mapping[str, str]
) -> np.ndarray:
    """Find which points (point, input) exceed the limits in nothing."""
    answer = np.ones(len(points), bool)
    for what, values in quantities(points, names, units).items():
        low, high = limits[what]
        answer &= (low <= values) & (values <= high)
    return answer


def gaps(limits: Limits, names: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Find inputs with values of both signs of which none is small, and between which none lies."""
    found = {}
    for name in names:
        smallest, largest = limits.get(f"|{name}|", (0.0, 0.0))
        if limits[name][0] < 0 < limits[name][1] and smallest > NARROW * largest:
            found[name] = (-smallest, smallest)
    return found


def quantities(
    points: np.ndarray, names: Sequence[str], units: Mapping[str, str]
) -> dict[str, np.ndarray]:
    """Name what is limited of points (point, input), each (point,).

    The sign of a mass is a phase: a scan from -900 to 900 GeV may have none below 46 GeV, so that
    the size of what is an energy has limits of its own. Rows of mixings have a length.
    """
    points = np.asarray(points, np.float64)
    found = {name: points[:, column] for column, name in enumerate(names)}
    energies = [name for name in names if units.get(name) in ENERGIES]
    sizes = {f"|{name}|": np.abs(found[name]) for name in energies}
    with np.errstate(over="ignore"):
        lengths = {
            _length(row): np.sqrt(np.sum([np.square(found[name]) for name in row], axis=0))
            for row in mixing_rows(names, units)
        }
    return found | sizes | lengths


def _length(row: Sequence[str]) -> str:
    return f"length of {', '.join(row)}"
