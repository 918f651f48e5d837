"""What a dataset takes from a table: columns and rows, all checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np

from nlobayes.data.cells import hint_of, is_number
from nlobayes.data.column_names import check_known
from nlobayes.data.plausibility import check_magnitude, check_relative_error, repeated_rows
from nlobayes.data.units import in_unit
from nlobayes.errors import InputError
from nlobayes.types import Table

MOST_NAMED = 20
"""Most values of a column that a message names."""


class Request(NamedTuple):
    """Columns, units and maps that a dataset requests from a table."""

    features: Sequence[str]
    """Names of columns, in order."""
    targets: Sequence[str]
    """Names of columns, in order."""
    units: Mapping[str, str] = MappingProxyType({})
    """Unit in which a feature or a target is requested; columns not named stay as they are."""
    declared: Mapping[str, str] = MappingProxyType({})
    """Unit of each column that does not name its own."""
    variations: Sequence[str] = ()
    """Names of columns with the target at other scales, returned in its unit."""
    signed: Sequence[str] = ()
    """Names of targets whose sign does not count: theory errors up and down."""
    relative_error: str | None = None
    """Name of the column with the numerical error of the target, in units of the target."""
    error: str | None = None
    """Name of the column with the standard deviation of the target, returned in its unit."""
    reference: str | None = None
    """Name of the column that the target is learned relative to, returned in the unit of the
    target."""
    groups: str | None = None
    """Name of the column that names groups of rows."""
    split: str | None = None
    """Name of the column that states the split of each row."""
    feature_map: str = "raw"
    target_scale: str = "identity"
    components: int | None = None
    """Number of principal components that replace the features; None keeps the features."""
    defaults: Mapping[str, Sequence[str]] = MappingProxyType({})
    """Column names that are requested by default, not by the user, by key."""


class Selection(NamedTuple):
    """Inputs (row, feature), target (row,) of a table and its variations (row, variation).

    Several targets have axes (row, output).

    `units` has the unit of each input and of the target. `relative_error` (row,) is the numerical
    error of the target in units of the target. `reference` (row,) is what the target is learned
    relative to, and `error` (row,) its standard deviation, both in the unit of the target.
    """

    inputs: np.ndarray
    target: np.ndarray
    units: dict[str, str]
    variations: np.ndarray | None = None
    relative_error: np.ndarray | None = None
    reference: np.ndarray | None = None
    error: np.ndarray | None = None


def select(
    table: Table, request: Request, source: str, duplicates: Literal["reject", "keep"] = "reject"
) -> Selection:
    """Select the features and the targets of a table, checked and in the requested units.

    Rows that agree in every selected column are refused, or kept as `duplicates` states. `source`
    is the name of the table in messages: its path.

    Raises InputError if a column is missing, requested twice, not numeric, not finite, or too large
    or small in its unit, a unit is not known or cannot be converted, rows are duplicates and these
    are refused, or values cannot be relative errors.
    """
    names, units = [*request.features, *request.targets], request.units
    relative_error, relative_to, error = request.relative_error, request.reference, request.error
    further = [*request.variations, *(one for one in (relative_error, relative_to, error) if one)]
    check_requested_names([*names, *further], units, source)
    columns = {name: finite_numbers(table, name, source) for name in names}
    for name, unit in units.items():
        columns[name] = in_unit(columns[name], name, (table.units.get(name, ""), unit), source)
    for name, values in columns.items():
        check_magnitude(values, name, source)
    rows = np.column_stack(list(columns.values()))
    if duplicates == "reject":
        _check_no_duplicates(rows, source)
    selected = {name: units.get(name, "") or table.units.get(name, "") for name in names}
    own, inputs = selected[request.targets[0]], len(request.features)
    target = rows[:, inputs] if len(request.targets) == 1 else rows[:, inputs:]
    varied = [_variation(table, name, own, source) for name in request.variations]
    return Selection(
        rows[:, :inputs],
        target,
        selected,
        np.column_stack(varied) if varied else None,
        _relative_error(table, relative_error, target, source) if relative_error else None,
        _variation(table, relative_to, own, source) if relative_to else None,
        _error(table, error, own, source) if error else None,
    )


def _relative_error(table: Table, name: str, target: np.ndarray, source: str) -> np.ndarray:
    errors = finite_numbers(table, name, source)
    check_relative_error(errors, target, name, table.units.get(name, ""), source)
    return errors


def _error(table: Table, name: str, unit: str, source: str) -> np.ndarray:
    errors = _variation(table, name, unit, source)
    if (negative := errors < 0).any():
        raise InputError(
            "data.sd_negative",
            where=source,
            name=name,
            count=negative.sum(),
            total=negative.size,
            row=negative.argmax() + 1,
        )
    return errors


def _variation(table: Table, name: str, unit: str, source: str) -> np.ndarray:
    own = table.units.get(name, "")
    return in_unit(finite_numbers(table, name, source), name, (own, unit), source)


def check_requested_names(names: Sequence[str], units: Mapping[str, str], source: str) -> None:
    """Refuse repeated names, a target without features, and units of columns not requested."""
    repeated = [name for position, name in enumerate(names) if name in names[:position]]
    if repeated:
        raise InputError("data.column_requested_twice", where=source, name=repeated[0])
    if len(names) < 2:
        raise InputError("data.no_features", where=source)
    unused = [name for name in units if name not in names]
    if unused:
        raise InputError("data.unit_of_unselected", where=source, name=unused[0], selected=[*names])


def finite_numbers(table: Table, name: str, source: str) -> np.ndarray:
    """Return a column as finite numbers.

    Raises InputError if the column is missing, not numeric or not finite; the error names the first
    such row.
    """
    check_known(table.columns, name, source)
    values = table.columns[name]
    if not np.issubdtype(values.dtype, np.number):
        row = next((i for i, cell in enumerate(values) if not is_number(str(cell))), 0)
        cell = str(values[row])
        hint = f" ({why})" if (why := hint_of(cell)) else ""
        raise InputError(
            "data.not_numeric", where=source, name=name, row=row + 1, cell=cell, hint=hint
        )
    if (bad := ~np.isfinite(values)).any():
        raise InputError(
            "data.not_finite",
            where=source,
            name=name,
            count=bad.sum(),
            total=bad.size,
            row=bad.argmax() + 1,
        )
    return values.astype(np.float64)


def _check_no_duplicates(rows: np.ndarray, source: str) -> None:
    repeats, originals = repeated_rows(rows)
    if repeats.size:
        raise InputError(
            "data.repeated_rows",
            where=source,
            count=repeats.size,
            total=len(rows),
            row=repeats[0] + 1,
            earlier=originals[0] + 1,
        )


def keep_rows(
    table: Table,
    column: str,
    among: Sequence[float | str],
    above: float | None = None,
    *,
    whole: bool = True,
) -> Table:
    """Select the rows whose column has one of the values; columns that were not read stay empty.

    Raises InputError if the column is missing or not of numbers, or no row has one of the values.

    Parameters
    ----------
    table
        Columns and their units.
    column
        Name of a column of numbers or of text.
    among
        The values.
    above
        Instead of `among`: a number that the value of a row must exceed.
    whole
        Whether the table has all of its rows, so that every value must occur.
    """
    check_known(table.columns, column, "rows.column")
    values = table.columns[column]
    if above is not None:
        values = finite_numbers(table, column, "rows.column")
        if whole and not np.any(values > above):
            raise InputError("data.no_row_above", where="rows.above", column=column, above=above)
        return _rows_of(table, values > above)
    wanted = [one for one in among if isinstance(one, str) == (values.dtype.kind != "f")]
    absent = [one for one in among if one not in wanted or not np.any(values == one)]
    if absent and whole:
        raise InputError(
            "data.no_such_rows",
            where="rows.among",
            column=column,
            absent=absent,
            known=np.unique(values)[:MOST_NAMED].tolist(),
        )
    return _rows_of(table, np.isin(values, wanted))


def _rows_of(table: Table, kept: np.ndarray) -> Table:
    """Select rows by a mark for each (row,); columns that were not read stay empty."""
    columns = {name: cells[kept] if len(cells) else cells for name, cells in table.columns.items()}
    return table._replace(columns=columns)


def add_sums(
    table: Table, sums: Mapping[str, Mapping[str, float]], declared: Mapping[str, str]
) -> Table:
    """Add columns, each a sum of columns of numbers of one unit with weights.

    Columns that were not read give an empty sum. `declared` has units of columns that name none.

    Raises InputError if a part is missing or of text, the parts differ in their unit, or the table
    has a column of the name of a sum.
    """
    columns, units = dict(table.columns), dict(table.units)
    for name, weights in sums.items():
        if name in table.columns:
            raise InputError("data.sum_exists", where="sums", name=name)
        for part in weights:
            check_known(table.columns, part, "sums")
        if len(found := {units.get(part) or declared.get(part, "") for part in weights}) > 1:
            raise InputError("data.sum_of_units", where=f"sums.{name}", units=sorted(found))
        parts = [weight * finite_numbers(table, part, "sums") for part, weight in weights.items()]
        columns[name], units[name] = np.sum(parts, axis=0), found.pop()
    return table._replace(columns=columns, units=units)
