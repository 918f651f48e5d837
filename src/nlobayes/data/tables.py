"""Tables of points: reading from CSV or parquet, exact encoding, selection and checks.

A column is an array of float64, or of text if any of its cells is not a number. Row numbers in
messages count the data rows from 1.
"""

from __future__ import annotations

import csv
import io
import math
import stat
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from nlobayes.data.cells import hint_of, is_number, is_numeric
from nlobayes.data.csv_text import preview_csv, read_csv
from nlobayes.data.formats import READ_ERRORS, is_parquet, unreadable
from nlobayes.data.headers import check_header, check_known
from nlobayes.data.parquet_table import preview_parquet, read_parquet
from nlobayes.data.plausibility import check_magnitude, check_relative_error, repeated_rows
from nlobayes.data.units import in_unit
from nlobayes.errors import InputError
from nlobayes.types import Table

PREVIEWED_ROWS = 100_000
"""Rows of a preview; errors of a target usually show in the first rows of a long table."""


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


def read_table(path: Path, most_mb: float | None = None, names: Sequence[str] = ()) -> Table:
    """Read a table from text, compressed by gzip or not, or from parquet.

    Parameters
    ----------
    path
        File to read.
    most_mb
        Largest size when unpacked in MB; None sets no limit.
    names
        Header cells of a text table without a header.

    Raises
    ------
    InputError
        If there is no such file, it cannot be read as a whole, its header is not usable, it has no
        rows, or it is larger than `most_mb` MB when unpacked.
    """
    table = _read(read_parquet, read_csv, path, most_mb, names)
    if not all(len(column) for column in table.columns.values()):
        raise InputError("data.no_rows", where=path)
    return table


def preview_table(
    path: Path,
    columns: Collection[str],
    most_mb: float | None = None,
    names: Sequence[str] = (),
) -> Table:
    """Read names and units of all columns, and the first `PREVIEWED_ROWS` of the given `columns`.

    The other columns are left empty.

    Raises
    ------
    InputError
        As `read_table`, for the part that is read.
    """
    return _read(preview_parquet, preview_csv, path, most_mb, names, columns, PREVIEWED_ROWS)


def _read(
    parquet: Callable[..., Table],
    text: Callable[..., Table],
    path: Path,
    most_mb: float | None,
    *arguments: Any,
) -> Table:
    read = parquet if is_parquet(path) else text
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise OSError("not a regular file")
        return read(path, math.inf if most_mb is None else most_mb * 1e6, *arguments)
    except InputError:
        raise
    except READ_ERRORS as error:
        raise unreadable(error, path) from None


def to_csv_text(table: Table) -> str:
    """Encode a table as CSV from which all numbers are read back bit for bit.

    Raises
    ------
    InputError
        If a name, a unit or an entry of the metadata would not be read back unchanged.
    """
    _check_writable(table)
    text = io.StringIO()
    text.writelines(f"# {key}: {value}\n" for key, value in table.metadata.items())
    writer = csv.writer(text, lineterminator="\n")
    units = [table.units.get(name, "") for name in table.columns]
    writer.writerow(f"{n}:{u}" if u else n for n, u in zip(table.columns, units, strict=True))
    writer.writerows(zip(*(column.tolist() for column in table.columns.values()), strict=True))
    return text.getvalue()


def to_arrow(table: Table) -> pa.Table:
    """Encode a table for parquet, units and metadata included."""
    arrays = [pa.array(column) for column in table.columns.values()]
    fields = [
        pa.field(name, array.type, metadata={"unit": table.units.get(name, "")})
        for name, array in zip(table.columns, arrays, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields, metadata=table.metadata))


def select(
    table: Table,
    features: Sequence[str],
    targets: Sequence[str],
    units: Mapping[str, str],
    *,
    source: str,
    duplicates: Literal["reject", "keep"] = "reject",
    variations: Sequence[str] = (),
    relative_error: str | None = None,
    relative_to: str | None = None,
    error: str | None = None,
) -> Selection:
    """Select the features and the targets of a table, checked and in the requested units.

    Parameters
    ----------
    table
        Columns and their units.
    features
        Names of the input columns, in order.
    targets
        Names of the target columns, in order.
    units
        Unit in which a selected column is requested; columns not named stay as they are.
    source
        Name of the table in messages: its path.
    duplicates
        Whether rows that agree in every selected column are refused.
    variations
        Names of columns with the target at other scales, returned in the unit of the target.
    relative_error
        Name of the column with the numerical error of the target in units of the target.
    relative_to
        Name of the column that the target is learned relative to, returned in the unit of the
        target.
    error
        Name of the column with the standard deviation of the target, returned in its unit.

    Raises
    ------
    InputError
        If a column is missing, requested twice, not numeric, not finite, or too large or small in
        its unit, a unit is not known or cannot be converted, rows are duplicates and these are
        refused, or values cannot be relative errors.
    """
    names = [*features, *targets]
    further = [*variations, *(name for name in (relative_error, relative_to, error) if name)]
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
    own, inputs = selected[targets[0]], len(features)
    target = rows[:, inputs] if len(targets) == 1 else rows[:, inputs:]
    varied = [_variation(table, name, own, source) for name in variations]
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
    negative = np.flatnonzero(errors < 0)
    if negative.size:
        raise InputError(
            "data.sd_negative",
            where=source,
            name=name,
            count=negative.size,
            total=errors.size,
            row=negative[0] + 1,
        )
    return errors


def _variation(table: Table, name: str, unit: str, source: str) -> np.ndarray:
    own = table.units.get(name, "")
    return in_unit(finite_numbers(table, name, source), name, (own, unit), source)


def _check_writable(table: Table) -> None:
    check_header(list(table.columns), "table to write")
    for position, name in enumerate(table.columns, start=1):
        if is_numeric(name):
            raise InputError(
                "data.header_cell", where="table to write", position=position, name=name
            )
    units = list(table.units.values())
    for text in (*table.columns, *units, *table.metadata, *table.metadata.values()):
        if not text.isprintable() or text != text.strip():
            raise InputError("data.text_not_writable", text=text)
    for name in (*table.columns, *table.metadata):
        if ":" in name or name.startswith("#"):
            raise InputError("data.name_not_writable", name=name)


def check_requested_names(names: Sequence[str], units: Mapping[str, str], source: str) -> None:
    """Refuse repeated names, a target without features, and units of columns not requested.

    Raises
    ------
    InputError
        If there is one.
    """
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

    Raises
    ------
    InputError
        If the column is missing, not numeric or not finite; the error names the first such row.
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
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise InputError(
            "data.not_finite",
            where=source,
            name=name,
            count=bad.size,
            total=values.size,
            row=bad[0] + 1,
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
