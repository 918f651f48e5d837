"""Convert a table to a dataset: features, target, splits, and constants of the train rows."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from nlobayes import provenance
from nlobayes.artifacts.contents import write_dataset
from nlobayes.artifacts.seals import digests
from nlobayes.commands.shared.requests import request_of, rows_kept
from nlobayes.data.datasets import Choices, constant_features, make_dataset
from nlobayes.data.headers import named_columns
from nlobayes.data.plausibility import doubtful_rows, repeated_rows
from nlobayes.data.requests import check_request
from nlobayes.data.row_groups import groups_of
from nlobayes.data.statements import complete, spell
from nlobayes.data.tables import Selection, read_table, select
from nlobayes.data.units import declare_units
from nlobayes.errors import InputError
from nlobayes.study.jobs import PrepareJob, read_job
from nlobayes.types import Table


def prepare(
    spec: Annotated[str, typer.Option(help="Job specification: JSON text or a file.")],
    table: Annotated[Path, typer.Option(help="Table to read: text or .parquet.")],
    out: Annotated[Path, typer.Option(help="Dataset to write.")],
) -> None:
    """Check the table, split and transform it, and write the dataset."""
    job = read_job(PrepareJob, spec)
    inputs = job.features.columns
    given = rows_kept(read_table(table, job.most_mb, job.names), job, table)
    check_request(given, request_of(job), str(table))
    columns = declare_units(given, job.units, source=str(table))
    selection = _select(columns, job, str(table))
    try:
        groups = groups_of(given, job.groups) if job.groups else None
        dataset = make_dataset(selection, inputs, job.target.columns, _choices(job), groups)
    except InputError as error:
        raise error.within(table) from None
    constant = [f"{name!r} is {value:.6g}" for name, value in constant_features(dataset).items()]
    if constant and job.features.constant == "reject":
        raise InputError("data.constant_features", where=table, features=named_columns(constant))
    _warn(selection, inputs, constant, str(table))
    origin = {"table_metadata": _stated(columns.metadata, job, str(table))}
    record = provenance.record("prepare", job.model_dump(), digests([table]), **origin)
    write_dataset(out, dataset, record)


def _select(columns: Table, job: PrepareJob, source: str) -> Selection:
    """Select the requested columns, in the requested units."""
    features, target = job.features, job.target
    wanted = {**features.units_of_columns, **dict.fromkeys(target.columns, target.unit)}
    return select(
        columns,
        features.columns,
        target.columns,
        wanted,
        source=source,
        duplicates=job.duplicates,
        variations=target.scale_variations,
        relative_error=target.relative_error,
        relative_to=next(iter(target.reference_columns), None),
        error=target.error,
    )


def _choices(job: PrepareJob) -> Choices:
    """Make the settings of the dataset from the specification of the job."""
    features, target, split = job.features, job.target, job.split
    return Choices(
        feature_map=features.map,
        standardise_features=features.standardise,
        target_scale=target.scale,
        standardise_target=target.standardise,
        split=(split.train, split.validation, split.test),
        shuffle=split.shuffle,
        seed=split.seed,
        reference_points=job.reference_points,
        train_from=split.train_from,
        validation_from=split.validation_from,
        relative_to=target.relative_to.arguments() if target.relative_to else None,
        per_class=split.per_class,
        components=features.components,
        theory=target.theory.by_source if target.theory else None,
    )


def _stated(metadata: Mapping[str, str], job: PrepareJob, source: str) -> dict[str, str]:
    """Combine the statements of the table and of the user on the process."""
    given = spell(job.process.statements()) if job.process else {}
    try:
        return complete(metadata, given, job.features.columns)
    except InputError as error:
        raise error.within(source) from None


def _warn(
    selection: Selection, columns: Sequence[str], constant: Sequence[str], source: str
) -> None:
    """Warn of rows that repeat another one or are physically doubtful, and of constant features."""
    repeats, _ = repeated_rows(np.column_stack([selection.inputs, selection.target]))
    named = dict(zip(columns, selection.inputs.T, strict=True))
    doubts = {"an earlier row repeated": repeats} | doubtful_rows(named, selection.units)
    for what, rows in doubts.items():
        if rows.size:
            rows_in_words = f"{rows.size} of {len(selection.target)} rows, first row {rows[0] + 1}"
            typer.echo(f"warning: {source}: {what} in {rows_in_words}", err=True)
    if constant:
        values = ", ".join(named_columns(constant))
        other = "points with another value lie outside the domain"
        typer.echo(f"warning: {source}: {values} in every train row; {other}", err=True)
