"""Compute a table with the embedded NLO engine, or for a published toy problem."""

from pathlib import Path
from typing import Annotated

import typer

from nlobayes import provenance
from nlobayes.artifacts.files import write_parquet, write_text
from nlobayes.artifacts.records import write_record
from nlobayes.data.simulators import SIMULATORS
from nlobayes.data.table_files import to_arrow, to_csv_text
from nlobayes.errors import InputError
from nlobayes.study.jobs import SimulateJob, read_job


def simulate(
    spec: Annotated[str, typer.Option(help="Job specification: JSON text or a file.")],
    out: Annotated[Path, typer.Option(help="Table to write: .csv or .parquet.")],
    record: Annotated[Path | None, typer.Option(help="Record of what made it (JSON).")] = None,
) -> None:
    """Compute the table and write it with units, seed and engine in its metadata."""
    job = read_job(SimulateJob, spec)
    if out.suffix not in {".csv", ".parquet"}:
        raise InputError("commands.table_ending", where="--out", path=out)
    table = SIMULATORS[job.source.kind].simulate(**job.source.arguments())
    if "not_compared" in table.metadata:
        rows = table.metadata["not_compared"]
        typer.echo(f"warning: {out}: no other calculation was compared with {rows}", err=True)
    if out.suffix == ".csv":
        write_text(out, to_csv_text(table))
    else:
        write_parquet(out, to_arrow(table))
    write_record(record, provenance.record("simulate", job.model_dump(), {}), [out])
