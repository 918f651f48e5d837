"""What designs in declared ranges share: their settings, the map from the unit cube, rejection.

A row of unit length is uniform on the sphere: it is a vector of independent normal numbers divided
by its length (Muller 1959, Comm. ACM 2, 19), each of them the normal quantile of one coordinate.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from nlobayes.designs import DesignSettings, Points
from nlobayes.designs._constraints import Constraint, parse
from nlobayes.errors import InputError
from nlobayes.settings.values import Frozen, Seed

if TYPE_CHECKING:
    import numpy as np

MOST_POINTS = 10_000_000
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,99}")
"""Name of a column, which templates, constraints and headers of tables hold."""
LEAST_SHARE = 1e-3
"""Share of the points of the ranges that must satisfy the constraints."""
TRIALS = 2**16
"""Fewest trials before a region counts as empty, and most at once."""


class Range(Frozen):
    """Range of one column."""

    low: Annotated[float, Field(allow_inf_nan=False)]
    """Smallest value."""
    high: Annotated[float, Field(allow_inf_nan=False)]
    """Largest value."""
    scale: Literal["linear", "log"] = "linear"
    """`linear`: uniform in the value; `log`: uniform in its logarithm."""
    unit: str = ""
    """Unit of the values, such as GeV."""

    @model_validator(mode="after")
    def _increases(self) -> Range:
        if self.low >= self.high:
            raise InputError("designs.range", low=self.low, high=self.high)
        if self.scale == "log" and self.low <= 0:
            raise InputError("designs.log_range", low=self.low)
        return self

    def at(self, uniform: np.ndarray) -> np.ndarray:
        """Map numbers uniform on [0, 1] (point,) to values."""
        import numpy as np

        if self.scale == "log":
            low, high = np.log([self.low, self.high])
            return np.clip(np.exp(low + (high - low) * uniform), self.low, self.high)
        return self.low + (self.high - self.low) * uniform


def _is_constraint(text: str) -> str:
    parse(text)
    return text


class SampledDesign(DesignSettings):
    """A design in declared ranges, with constraints by rejection."""

    points: Annotated[int, Field(ge=1, le=MOST_POINTS, strict=True)]
    """Number of points."""
    seed: Seed = 1
    """Seed of the design."""
    ranges: dict[str, Range] = {}
    """Range of each column: `{m1: {low: 100, high: 2000, scale: log, unit: GeV}}`."""
    constraints: tuple[Annotated[str, AfterValidator(_is_constraint)], ...] = ()
    """Comparisons of sums of columns and numbers that all points satisfy: `m1 + 50 < m2`."""
    unit_rows: tuple[Annotated[tuple[str, ...], Field(min_length=2)], ...] = ()
    """Columns that form a row of unit length, uniform on the sphere: `[[n11, n12, n13, n14]]`."""

    @model_validator(mode="after")
    def _has_its_columns(self) -> SampledDesign:
        if not self.columns:
            raise InputError("designs.no_columns")
        for name in self.columns:
            if not NAME.fullmatch(name):
                raise InputError("designs.name", name=name, pattern=NAME.pattern)
            if self.columns.count(name) > 1:
                raise InputError("designs.column_twice", name=name)
        for each in self._parsed:
            if unknown := sorted(each.columns - {*self.columns}):
                raise InputError(
                    "designs.constraint_column",
                    text=each.text,
                    name=unknown[0],
                    columns=self.columns,
                )
        return self

    @property
    def columns(self) -> tuple[str, ...]:
        """Those with a range, then those of rows of unit length."""
        return (*self.ranges, *(name for row in self.unit_rows for name in row))

    @property
    def units(self) -> dict[str, str]:
        """Units of the ranges, and 1 of the rows of unit length."""
        of_ranges = {name: each.unit for name, each in self.ranges.items() if each.unit}
        return of_ranges | {name: "1" for row in self.unit_rows for name in row}

    @property
    def rows(self) -> int:
        """Number of its points."""
        return self.points

    def random(
        self, count: int, seed: int, taken: Mapping[str, np.ndarray] | None = None
    ) -> Points:
        """Draw independent points, uniform in the ranges, on the spheres and in the constraints.

        Raises InputError if almost no point of the ranges satisfies the constraints.
        """
        import numpy as np

        del taken  # has no share of a region
        rng = np.random.default_rng([seed, 1])  # another stream than that of the design
        return self._accepted(count, lambda trials: rng.random((trials, len(self.columns))))

    @cached_property
    def _parsed(self) -> tuple[Constraint, ...]:
        return tuple(map(parse, self.constraints))

    def _accepted(self, count: int, more: Callable[[int], np.ndarray]) -> Points:
        """Return the first points that satisfy the constraints, of those that `more` adds."""
        import numpy as np

        parts: list[Points] = []
        tried, found = 0, 0
        while found < count or not parts:
            uniform = more(min(max(count, tried), TRIALS))
            parts.append(self._kept(uniform))
            tried, found = tried + len(uniform), found + len(parts[-1][self.columns[0]])
            self._check_region(found, tried)
        joined = {name: np.concatenate([part[name] for part in parts]) for name in self.columns}
        return {name: values[:count] for name, values in joined.items()}

    def _check_region(self, found: int, tried: int) -> None:
        if tried >= TRIALS and found < LEAST_SHARE * tried:
            raise InputError(
                "designs.empty_region",
                where="constraints",
                found=found,
                tried=tried,
                constraints=self.constraints,
            )

    def _kept(self, uniform: np.ndarray) -> Points:
        """Map points of the unit cube (trial, column), and keep those in the constraints."""
        points = self._mapped(uniform)
        for constraint in self._parsed:
            kept = constraint.holds(points)
            points = {name: values[kept] for name, values in points.items()}
        return points

    def _mapped(self, uniform: np.ndarray) -> Points:
        """Map points of the unit cube (trial, column) to values by column."""
        import numpy as np
        from scipy.special import ndtri

        found = {
            name: each.at(values)
            for (name, each), values in zip(self.ranges.items(), uniform.T, strict=False)
        }
        start = len(self.ranges)
        for row in self.unit_rows:
            tiny = np.finfo(float).eps
            normal = ndtri(np.clip(uniform[:, start : start + len(row)], tiny, 1 - tiny))
            unit = normal / np.linalg.norm(normal, axis=1, keepdims=True)
            found |= dict(zip(row, unit.T, strict=True))
            start += len(row)
        return found
