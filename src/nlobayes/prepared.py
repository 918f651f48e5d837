"""A table and the settings of a dataset: a look before a study runs, the dataset, and warnings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from nlobayes.data.column_names import named_columns
from nlobayes.data.dataset_of_table import Choices, constant_features, make_dataset
from nlobayes.data.plausibility import doubtful_rows, repeated_rows
from nlobayes.data.request_checks import check_request, declare_units
from nlobayes.data.row_groups import groups_of
from nlobayes.data.selection import Request, Selection, add_sums, keep_rows, select
from nlobayes.data.splits import Split, StatedSplit
from nlobayes.data.table_files import PREVIEWED_ROWS, preview_table
from nlobayes.errors import InputError
from nlobayes.study.datasets import Features, SplitByColumn
from nlobayes.study.jobs import PrepareJob
from nlobayes.study.target import Target
from nlobayes.types import Dataset, Table


class Prepared(NamedTuple):
    """A dataset, and the warnings of its rows and features; each begins with the table."""

    dataset: Dataset
    warnings: list[str]


def preview(job: PrepareJob, path: Path) -> None:
    """Check the header of a table and its first targets.

    Raises InputError with all settings of the dataset that the table does not satisfy.
    """
    table = preview_table(path, _checked_columns(job), job.most_mb, job.names)
    whole = all(len(column) < PREVIEWED_ROWS for column in table.columns.values())
    kept = _rows_kept(table, job, path, whole=whole)
    check_request(kept, _request_of(job), str(path))
    if whole:
        try:
            _split(job, kept).labels(kept.columns[job.target.columns[0]])
        except InputError as error:
            raise error.within("split").within(path) from None


def prepared(table: Table, job: PrepareJob, path: Path) -> Prepared:
    """Check a table that was read from `path`, split and transform it.

    Raises InputError if the table does not have what the job requests, or its rows cannot be
    learned.
    """
    given = _rows_kept(table, job, path)
    request = _request_of(job)
    check_request(given, request, str(path))
    declared = declare_units(given, job.units, source=str(path))
    selection = select(declared, request, str(path), job.duplicates)
    inputs = job.features.columns
    try:
        groups = groups_of(given, job.groups) if job.groups else None
        dataset = make_dataset(selection, inputs, job.target.columns, _choices(job, given), groups)
    except InputError as error:
        raise error.within(path) from None
    constant = [f"{name!r} is {value:.6g}" for name, value in constant_features(dataset).items()]
    if constant and job.features.constant == "reject":
        raise InputError("data.constant_features", where=path, features=named_columns(constant))
    warnings = [f"{path}: {line}" for line in _doubts(selection, inputs, constant)]
    return Prepared(dataset, warnings)


def _choices(job: PrepareJob, table: Table) -> Choices:
    """Make the settings of the dataset from the specification of the job."""
    features, target = job.features, job.target
    return Choices(
        feature_map=features.map,
        standardise_features=features.standardise,
        target_scale=target.scale,
        standardise_target=target.standardise,
        split=_split(job, table),
        reference_points=job.reference_points,
        relative_to=target.relative_to.arguments() if target.relative_to else None,
        components=features.components,
        theory=target.theory.by_source if target.theory else None,
    )


def _split(job: PrepareJob, table: Table) -> Split | StatedSplit:
    if isinstance(job.split, SplitByColumn):
        return StatedSplit(job.split.column, table.columns[job.split.column])
    return Split(**job.split.model_dump())


def _doubts(selection: Selection, columns: Sequence[str], constant: Sequence[str]) -> Iterator[str]:
    """Yield the rows that repeat another one or are physically doubtful, and constant features."""
    repeats, _ = repeated_rows(np.column_stack([selection.inputs, selection.target]))
    named = dict(zip(columns, selection.inputs.T, strict=True))
    doubts = {"an earlier row repeated": repeats} | doubtful_rows(named, selection.units)
    for what, rows in doubts.items():
        if rows.size:
            rows_in_words = f"{rows.size} of {len(selection.target)} rows, first row {rows[0] + 1}"
            yield f"{what} in {rows_in_words}"
    if constant:
        values = ", ".join(named_columns(constant))
        other = "points with another value lie outside the domain"
        yield f"{values} in every train row; {other}"


def _rows_kept(table: Table, job: PrepareJob, path: Path, *, whole: bool = True) -> Table:
    """Add the sums, and select the rows that a dataset keeps; `whole` as for `keep_rows`.

    Raises InputError if a column of a sum or of the filter is missing, or no row is kept.
    """
    try:
        table = add_sums(table, job.sums, job.units)
        if job.rows is None:
            return table
        return keep_rows(table, job.rows.column, job.rows.among, job.rows.above, whole=whole)
    except InputError as error:
        raise error.within(path) from None


def _checked_columns(job: PrepareJob) -> tuple[str, ...]:
    """Return the columns whose values are checked."""
    groups = (job.groups,) if job.groups else ()
    rows = (job.rows.column,) if job.rows else ()
    split = (job.split.column,) if isinstance(job.split, SplitByColumn) else ()
    parts = (name for weights in job.sums.values() for name in weights)
    return (*job.target.columns, *job.target.reference_columns, *groups, *rows, *split, *parts)


def _request_of(job: PrepareJob) -> Request:
    """Make the request to the table from the job of `prepare`."""
    features, target = job.features, job.target
    return Request(
        features=features.columns,
        targets=target.columns,
        units={**features.units_of_columns, **dict.fromkeys(target.columns, target.unit)},
        declared=job.units,
        variations=target.scale_variations,
        signed=target.theory.signed if target.theory else (),
        relative_error=target.relative_error,
        error=target.error,
        reference=next(iter(target.reference_columns), None),
        groups=job.groups,
        split=job.split.column if isinstance(job.split, SplitByColumn) else None,
        feature_map=features.map,
        target_scale=target.scale,
        components=features.components,
        defaults={"features.columns": Features().columns, "target.column": Target().columns},
    )
