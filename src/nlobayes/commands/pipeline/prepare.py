"""Convert a table to a dataset: features, target, splits, and constants of the train rows."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from nlobayes.artifacts.contents import DatasetFile
from nlobayes.commands.stage import stage
from nlobayes.data.statements import complete, spell
from nlobayes.data.table_files import read_table
from nlobayes.errors import InputError
from nlobayes.prepared import prepared
from nlobayes.stage_files import File, Stated
from nlobayes.study.jobs import PrepareJob


@stage()
def prepare(
    job: PrepareJob, table: Annotated[Path, File(read=lambda path: path)]
) -> Stated[DatasetFile]:
    """Check the table, split and transform it.

    The table comes as its path: the job states how it is read, and warnings name it.

    Parameters
    ----------
    table
        Table to read: text or .parquet.

    Returns
    -------
    out
        Dataset to write.
    """
    given = read_table(table, job.most_mb, job.names)
    dataset, warnings = prepared(given, job, table)
    for line in warnings:
        typer.echo(f"warning: {line}", err=True)
    return Stated(dataset, {"table_metadata": _stated(given.metadata, job, str(table))})


def _stated(metadata: Mapping[str, str], job: PrepareJob, source: str) -> dict[str, str]:
    """Combine the statements of the table and of the user on the process."""
    given = spell(job.process.statements()) if job.process else {}
    try:
        return complete(metadata, given, job.features.columns)
    except InputError as error:
        raise error.within(source) from None
