"""Checks of a table against the settings of a dataset, before a study runs and in `prepare`."""

from __future__ import annotations

from pathlib import Path

from nlobayes.data.request_checks import check_request
from nlobayes.data.selection import Request, keep_rows
from nlobayes.data.splits import Split
from nlobayes.data.table_files import PREVIEWED_ROWS, preview_table
from nlobayes.errors import InputError
from nlobayes.study.datasets import Features, Target
from nlobayes.study.jobs import PrepareJob
from nlobayes.types import Table


def preview(job: PrepareJob, path: Path) -> None:
    """Check the header of a table and its first targets.

    Raises
    ------
    InputError
        With all settings of the dataset that the table does not satisfy.
    """
    table = preview_table(path, _checked_columns(job), job.most_mb, job.names)
    whole = all(len(column) < PREVIEWED_ROWS for column in table.columns.values())
    kept = rows_kept(table, job, path, whole=whole)
    check_request(kept, request_of(job), str(path))
    if whole:
        try:
            Split(**job.split.model_dump()).labels(kept.columns[job.target.columns[0]])
        except InputError as error:
            raise error.within("split").within(path) from None


def rows_kept(table: Table, job: PrepareJob, path: Path, *, whole: bool = True) -> Table:
    """Select the rows of a table that a dataset keeps; in a `whole` table every value must occur.

    Raises
    ------
    InputError
        If the column of the filter is missing, or no row has one of its values.
    """
    if job.rows is None:
        return table
    try:
        return keep_rows(table, job.rows.column, job.rows.among, whole=whole)
    except InputError as error:
        raise error.within(path) from None


def _checked_columns(job: PrepareJob) -> tuple[str, ...]:
    """Return the columns whose values are checked."""
    groups = (job.groups,) if job.groups else ()
    rows = (job.rows.column,) if job.rows else ()
    return (*job.target.columns, *job.target.reference_columns, *groups, *rows)


def request_of(job: PrepareJob) -> Request:
    """Make the request to the table from the job of `prepare`."""
    features, target = job.features, job.target
    return Request(
        features=features.columns,
        targets=target.columns,
        units={**features.units_of_columns, **dict.fromkeys(target.columns, target.unit)},
        declared=job.units,
        variations=target.scale_variations,
        relative_error=target.relative_error,
        error=target.error,
        reference=next(iter(target.reference_columns), None),
        groups=job.groups,
        feature_map=features.map,
        target_scale=target.scale,
        components=features.components,
        defaults={"features.columns": Features().columns, "target.column": Target().columns},
    )
