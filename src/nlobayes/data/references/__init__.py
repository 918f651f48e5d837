"""What a target is learned relative to: a known cross section; the network learns the rest.

Each kind of reference is a file, and no other list exists. Settings of a reference are plain
values, which datasets and surrogates store; the name of its kind is one of their keys.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from nlobayes.errors import InputError
from nlobayes.families import Family
from nlobayes.untyped import Array, Document, Facts

Settings = Facts


class Reference(ABC):
    """A reference with its settings; `unit` is that of the target, empty before a table is read."""

    name: str
    """Name in errors."""
    in_words: str
    """Name beside that of the target."""
    meaning: str
    """Description for users of a surrogate."""
    columns: tuple[str, ...]
    """Columns that points must have."""
    unit: str
    behind: tuple[str, ...] = ()
    """Those of them that are no inputs of the network, and come after these."""

    @abstractmethod
    def at(self, named: Mapping[str, Array]) -> Array:
        """Compute the reference (point,) at named columns of NumPy or JAX, in its unit.

        It is NaN outside the domain.
        """

    @abstractmethod
    def allowed(self, which: str) -> str:
        """Describe the points whose reference is a `positive` or a `finite` number."""

    def check_units(self, units: Mapping[str, str]) -> None:
        """Refuse columns or targets in units that it cannot take or give."""
        del units

    def check_version(self) -> None:
        """Refuse settings of another version of what computes it, if it has versions."""
        return

    def values(self, points: np.ndarray, names: Sequence[str], scale: str) -> np.ndarray:
        """Compute the reference of points (point, column) with these column names; shape (point,).

        It is NaN outside the domain, and on the scale log10 where it is not positive.
        """
        named = dict(zip(names, np.asarray(points, np.float64).T, strict=True))
        values = self.at(named)
        known = np.isfinite(values) & ((values > 0) | (scale != "log10"))
        return np.where(known, values, np.nan)

    def needs(self, scale: str) -> str:
        """Describe the points that have a reference on this scale."""
        return self.allowed("positive" if scale == "log10" else "finite")

    def check_rows(self, values: np.ndarray, scale: str) -> None:
        """Refuse rows without a reference (row,).

        Raises InputError if there are any; the error counts them and names the first.
        """
        bad = np.flatnonzero(np.isnan(values)) + 1
        if bad.size:
            raise InputError(
                "references.no_reference",
                what=self.name,
                count=bad.size,
                total=len(values),
                rows=[*bad[:5].tolist(), *(["..."] if bad.size > 5 else [])],
                allowed=self.needs(scale),
            )

    def check_left(self, left: np.ndarray, scaled: np.ndarray) -> None:
        """Refuse a target that is the reference itself, times or plus a constant.

        `scaled` is the target of the train rows on its scale, and `left` what the network learns of
        it, both (row,) or (row, output).

        Raises InputError if nothing is left of the first target.
        """
        first, known = (np.atleast_2d(values.T)[0] for values in (left, scaled))
        if np.ptp(first) <= 1e-9 * np.abs(known).max(initial=0.0):
            raise InputError("references.nothing_left", what=self.name)


class ReferenceKind(Protocol):
    """Interface that the file of a kind implements."""

    def build(self, **settings: Any) -> Reference:
        """Build a reference."""
        ...

    def facts(self) -> Document:
        """State what computes it, for files; empty if the settings state all."""
        ...

    def is_whole(self, settings: Settings) -> bool:
        """Return whether settings from a file, with their unit, are complete and allowed."""
        ...


REFERENCES: Family[ReferenceKind] = Family(__name__, __file__)


def make_reference(settings: Settings) -> Reference:
    """Build the reference of these settings."""
    return _kind_of(settings).build(**settings)


def completed(settings: Settings, unit: str) -> Document:
    """Add the unit of the reference, and what computes it, to settings."""
    return {**settings, **_kind_of(settings).facts(), "unit": unit}


def is_reference(value: Any) -> bool:
    """Return whether a value from a file holds complete settings of a reference."""
    is_one = isinstance(value, dict) and isinstance(value.get("unit"), str)
    return is_one and any(key in REFERENCES for key in value) and _kind_of(value).is_whole(value)


def columns_behind(settings: Settings | None) -> tuple[str, ...]:
    """Name the columns that points must have after the inputs of the network."""
    return () if settings is None else make_reference(settings).behind


def _kind_of(settings: Settings) -> ReferenceKind:
    return REFERENCES[next(key for key in settings if key in REFERENCES)]
