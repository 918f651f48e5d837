"""Plausibility checks of tables: columns that contradict their names, rows worth a warning."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from nlobayes.data.units import CROSS_SECTION, UNITS
from nlobayes.errors import InputError

Z_MASS_GEV, W_MASS_GEV = 91.1876, 80.379
LARGEST_CROSS_SECTION_MB = 200
"""Limit above the total cross section of two protons: 110.6 mb at 13 TeV (TOTEM,
arXiv:1712.06153)."""
MOST_CORRELATED = 0.9
"""Largest correlation of numerical errors with their target; theory errors are above it."""
FEWEST_ROWS = 10
"""Fewest rows for which a correlation is checked."""
LENGTH_TOLERANCE = 0.01
"""Largest deviation of a row of mixings from length 1; files round them to some digits."""
MAGNITUDES = (1e-100, 1e100)
"""Limits of the largest value of a column; squares of such values neither vanish nor overflow."""
MASS = re.compile(r"m[1-4]|mc[12]")
MIXING = re.compile(r"(n)([1-4])[1-4]|([uv])([12])[12]")
Z_MASS = {"GeV": Z_MASS_GEV, "TeV": Z_MASS_GEV / 1000}


def check_relative_error(
    errors: np.ndarray, target: np.ndarray, name: str, unit: str, source: str
) -> None:
    """Refuse a column whose values cannot be relative numerical errors.

    Raises InputError if it has a unit, has values below 0 or above 1, or follows the target: the
    correlation of the two, or of their logarithms, is above `MOST_CORRELATED`.
    """
    if unit not in ("", "1"):
        raise InputError("data.error_with_unit", where=source, name=name, unit=unit)
    _check_share(errors, target, name, source)
    _check_independent(errors, target, name, source)


def check_magnitude(values: np.ndarray, name: str, source: str) -> None:
    """Refuse a column whose squares would overflow, or would all vanish.

    Raises InputError if its largest value is neither 0 nor within `MAGNITUDES`.
    """
    largest = float(np.abs(values).max(initial=0.0))
    low, high = MAGNITUDES
    if largest and not low <= largest <= high:
        raise InputError(
            "data.magnitude", where=source, name=name, largest=largest, low=low, high=high
        )


def repeated_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find rows that repeat an earlier one, and the index of that earlier row, both from 0."""
    _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    original = first[inverse.reshape(-1)]
    repeats = np.flatnonzero(original != np.arange(len(rows)))
    return repeats, original[repeats]


def doubtful_rows(
    columns: Mapping[str, np.ndarray], units: Mapping[str, str]
) -> dict[str, np.ndarray]:
    """Find physically implausible rows of electroweakinos, by the reason for the doubt.

    Columns are recognised by their names. Doubtful are masses m1 to m4, mc1 and mc2 whose sum is
    below the mass of the boson that produces them (a single mass counts twice). Doubtful are
    mixings n11 to n44, and u11 to v22 beside mc1 or mc2, outside [-1, 1] or, if the row is
    complete, not of length 1. Doubtful are cross sections above the total one of two protons.
    """
    masses = {  # in units of the Z mass
        name: np.abs(values) / Z_MASS[units[name]]
        for name, values in columns.items()
        if MASS.fullmatch(name) and units.get(name) in Z_MASS
    }
    mixings: dict[str, list[np.ndarray]] = {}
    for name, values in columns.items():
        if (found := MIXING.fullmatch(name)) and (found[1] or f"mc{found[4]}" in columns):
            mixings.setdefault(name[:2], []).append(values)
    doubts = dict(_doubted_mixing(row, values) for row, values in mixings.items())
    if 0 < len(masses) < 3:
        names = [*masses] * (3 - len(masses))
        boson, mass = ("W", W_MASS_GEV) if _is_charged(names) else ("Z", Z_MASS_GEV)
        what = f"{' + '.join(f'|{name}|' for name in names)} below the {boson} mass, {mass} GeV"
        lightest = np.sum([np.minimum(masses[name], 1) for name in names], axis=0)
        doubts[what] = lightest < mass / Z_MASS_GEV
    what = f"a cross section above {LARGEST_CROSS_SECTION_MB} mb, more than all collisions have"
    doubts[what] = _too_large(columns, units)
    return {what: np.flatnonzero(rows) for what, rows in doubts.items() if np.any(rows)}


def _too_large(columns: Mapping[str, np.ndarray], units: Mapping[str, str]) -> np.ndarray:
    found = np.zeros(1, bool)
    for name, values in columns.items():
        kind, exponent = UNITS.get(units.get(name, ""), ("", 0))
        if kind == CROSS_SECTION:
            found = found | (np.abs(values) > LARGEST_CROSS_SECTION_MB * 10.0 ** (9 - exponent))
    return found


def _is_charged(names: list[str]) -> bool:
    """Return whether exactly one of two masses is that of a chargino."""
    return sum(name.startswith("mc") for name in names) == 1


def _doubted_mixing(row: str, values: list[np.ndarray]) -> tuple[str, np.ndarray]:
    letter, number = row[0], row[1]
    who = f"neutralino {number}" if letter == "n" else f"chargino {number} ({letter.upper()})"
    what = f"mixings of {who} outside [-1, 1] or not of length 1"
    doubted = np.max(np.abs(values), axis=0) > 1 + LENGTH_TOLERANCE
    if len(values) == (4 if letter == "n" else 2):
        doubted |= np.abs(np.linalg.norm(np.clip(values, -2, 2), axis=0) - 1) > LENGTH_TOLERANCE
    return what, doubted


def _check_share(errors: np.ndarray, target: np.ndarray, name: str, source: str) -> None:
    """Refuse errors that are negative or above 1."""
    negative, large = errors[errors < 0], errors[errors > 1]
    if negative.size:
        raise InputError(
            "data.error_negative",
            where=source,
            name=name,
            count=negative.size,
            total=errors.size,
            extreme=negative.min(),
            correlation=_correlation(errors, target),
        )
    if large.size:
        raise InputError(
            "data.error_above_one",
            where=source,
            name=name,
            count=large.size,
            total=errors.size,
            extreme=large.max(),
            correlation=_correlation(errors, target),
        )


def _check_independent(errors: np.ndarray, target: np.ndarray, name: str, source: str) -> None:
    """Refuse errors that rise with the target, on either scale."""
    correlation = _correlation(errors, target)
    if correlation > MOST_CORRELATED:
        raise InputError(
            "data.error_follows_target", where=source, name=name, correlation=correlation
        )
    positive = (errors > 0) & (target > 0)
    correlation = _correlation(np.log(errors[positive]), np.log(target[positive]))
    if correlation > MOST_CORRELATED:
        raise InputError(
            "data.error_follows_logarithm", where=source, name=name, correlation=correlation
        )


def _correlation(one: np.ndarray, other: np.ndarray) -> float:
    """Return the correlation of two columns; 0 for too few rows or a constant column."""
    if one.size < FEWEST_ROWS:
        return 0.0
    scaled = [values / np.abs(values).max(initial=1e-300) for values in (one, other)]
    if not all(map(np.ptp, scaled)):
        return 0.0
    return float(np.corrcoef(*scaled)[0, 1])
