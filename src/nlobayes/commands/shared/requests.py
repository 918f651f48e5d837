"""Hold a table against what a dataset asks of it: before a study is run, and before it is read."""

from __future__ import annotations

from pathlib import Path

from nlobayes.data.requests import Request, check_request, check_rows_of_splits
from nlobayes.data.tables import PREVIEWED_ROWS, preview_table
from nlobayes.errors import InputError
from nlobayes.study.datasets import Features, Target
from nlobayes.study.jobs import PrepareJob


def preview(job: PrepareJob, path: Path) -> None:
    """Check the header of a table and its first targets.

    Raises
    ------
    InputError
        Naming all that the dataset asks for and the table cannot give.
    """
    table = preview_table(path, _judged(job), job.most_mb)
    check_request(table, request_of(job), str(path))
    rows = len(table.columns[job.target.columns[0]])
    split = job.split
    sizes = (split.train, split.validation, split.test)
    if rows < PREVIEWED_ROWS:
        try:
            check_rows_of_splits(rows, sizes, split.train_from, split.validation_from)
        except InputError as error:
            raise error.within("split").within(path) from None


def _judged(job: PrepareJob) -> tuple[str, ...]:
    """Name the columns whose values are judged."""
    groups = (job.groups,) if job.groups else ()
    return (*job.target.columns, *job.target.reference_columns, *groups)


def request_of(job: PrepareJob) -> Request:
    """Take from the job of `prepare` what it asks of the table."""
    features, target = job.features, job.target
    return Request(
        features=features.columns,
        targets=target.columns,
        variations=target.scale_variations,
        relative_error=target.relative_error,
        declared=job.units,
        feature_units=features.units_of_columns,
        target_unit=target.unit,
        feature_map=features.map,
        target_scale=target.scale,
        reference=next(iter(target.reference_columns), None),
        groups=job.groups,
        defaults={"features.columns": Features().columns, "target.column": Target().columns},
    )
