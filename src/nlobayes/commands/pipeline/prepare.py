"""Convert a table to a dataset: features, target, splits, and constants of the train rows."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from nlobayes import provenance
from nlobayes.artifacts.contents import write_dataset
from nlobayes.artifacts.seals import digests
from nlobayes.commands.shared.prepared import prepared
from nlobayes.data.statements import complete, spell
from nlobayes.data.table_files import read_table
from nlobayes.errors import InputError
from nlobayes.study.jobs import PrepareJob, read_job


def prepare(
    spec: Annotated[str, typer.Option(help="Job specification: JSON text or a file.")],
    table: Annotated[Path, typer.Option(help="Table to read: text or .parquet.")],
    out: Annotated[Path, typer.Option(help="Dataset to write.")],
) -> None:
    """Check the table, split and transform it, and write the dataset."""
    job = read_job(PrepareJob, spec)
    given = read_table(table, job.most_mb, job.names)
    dataset, warnings = prepared(given, job, table)
    for line in warnings:
        typer.echo(f"warning: {line}", err=True)
    origin = {"table_metadata": _stated(given.metadata, job, str(table))}
    record = provenance.record("prepare", job.model_dump(), digests([table]), **origin)
    write_dataset(out, dataset, record)


def _stated(metadata: Mapping[str, str], job: PrepareJob, source: str) -> dict[str, str]:
    """Combine the statements of the table and of the user on the process."""
    given = spell(job.process.statements()) if job.process else {}
    try:
        return complete(metadata, given, job.features.columns)
    except InputError as error:
        raise error.within(source) from None
