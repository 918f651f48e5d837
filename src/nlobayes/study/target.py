"""The target of a dataset: its columns, scale, errors, reference and theory errors."""

from __future__ import annotations

from itertools import chain
from typing import Annotated, Literal

from pydantic import Field, model_validator

from nlobayes.errors import InputError
from nlobayes.settings.values import Frozen
from nlobayes.study.references import Reference


class Theory(Frozen):
    """Columns of theory errors of the target, each learned as its ratio to the target."""

    scale: Annotated[tuple[str, ...], Field(min_length=2)] | None = None
    """Columns with the cross section at half and at twice the scale, or the six others of seven
    points, in any order."""
    scale_errors: tuple[str, str] | None = None
    """Instead of `scale`: columns with the errors of scale up and down, whatever their signs."""
    pdf: str | None = None
    """Column with the absolute error of the parton distributions."""
    alpha_s: tuple[str, str] | None = None
    """Columns with the cross section at the upper and the lower alpha_s, in either order."""
    combined: str | tuple[str, str] | None = None
    """Column with an error that combines several sources, or two with those up and down."""

    @property
    def by_source(self) -> dict[str, tuple[str, ...]]:
        """Names of the columns by source of error; sources without columns are left out."""
        named = {source: getattr(self, source) or () for source in type(self).model_fields}
        return {
            source: (columns,) if isinstance(columns, str) else columns
            for source, columns in named.items()
            if columns
        }

    @property
    def signed(self) -> tuple[str, ...]:
        """Names of the columns whose signs do not count."""
        named = self.by_source
        return (*named.get("scale_errors", ()), *named.get("combined", ()))

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, source by source."""
        return tuple(chain.from_iterable(self.by_source.values()))

    @model_validator(mode="after")
    def _names_a_column(self) -> Theory:
        if not self.columns:
            raise InputError("study.no_theory", sources=[*Theory.model_fields])
        if self.scale and self.scale_errors:
            raise InputError("study.scale_twice")
        return self


class Target(Frozen):
    """Column that is learned, and the scale on which it is learned."""

    column: str | tuple[str, ...] = "sigma_pb"
    """Column of the table, or a list of columns that are learned together."""
    unit: str = "pb"
    """Unit in which it is stored and reported; empty for a target without one."""
    scale: Literal["log10", "identity", "classes"] = "log10"
    """Scale on which the network learns, and on which errors are additive; `classes` are whole
    numbers that name one class each."""
    scale_variations: tuple[str, ...] = ()
    """Columns with the cross section at other scales: errors are compared with their spread."""
    relative_error: str | None = None
    """Column with the numerical error of each target, in units of the target."""
    error: Annotated[str | None, Field(exclude_if=lambda error: error is None)] = None
    """Column with the standard deviation of each target, in its unit, for scale `identity`."""
    relative_to: Reference | None = None
    """Known part (docs/statistics.md) of the target: `{column: lo_pb}`, or `{calculation:
    born}`. The network learns log10(target / reference), or target - reference on scale
    `identity`."""
    theory: Annotated[Theory | None, Field(exclude_if=lambda theory: theory is None)] = None
    """Theory errors that are learned with the target, as ratios: `{scale: [scale_up,
    scale_down]}`, also `pdf`, `alpha_s` and `combined`."""
    standardise: bool = True
    """Centre and scale the target with the train rows."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, those of theory errors last."""
        named = (self.column,) if isinstance(self.column, str) else self.column
        return named if self.theory is None else (*named, *self.theory.columns)

    @model_validator(mode="after")
    def _fits_its_columns(self) -> Target:
        if not self.column:
            raise InputError("study.no_target")
        if self.theory is not None and (not isinstance(self.column, str) or self.scale != "log10"):
            raise InputError("study.theory_of_one_log10", column=self.column, scale=self.scale)
        self._check_errors()
        alone = [n for n in ("scale_variations", "relative_error", "error") if getattr(self, n)]
        if alone and (len(self.columns) > 1 or self.scale == "classes"):
            raise InputError("study.of_one_column", key=alone[0])
        if len(self.columns) > 1 and self.scale == "classes":
            raise InputError("study.classes_of_columns", columns=list(self.columns))
        self._check_reference()
        return self

    def _check_errors(self) -> None:
        if self.error and self.relative_error:
            raise InputError("study.two_errors", keys=["relative_error", "error"])
        if self.error and self.scale == "log10":
            raise InputError("study.error_of_log10", column=self.error)

    def _check_reference(self) -> None:
        several = not isinstance(self.column, str)
        if self.relative_to is not None and (several or self.scale == "classes"):
            received = "classes" if self.scale == "classes" else list(self.columns)
            raise InputError("references.of_one_target", received=received)
        if itself := {*self.reference_columns} & {*self.columns}:
            raise InputError("references.of_itself", column=itself.pop())

    @property
    def reference_columns(self) -> tuple[str, ...]:
        """Names of the columns that the target is learned relative to: one, or none."""
        return self.relative_to.columns_behind if self.relative_to else ()
