"""Compute a table of NLO cross sections with the embedded engine."""

from pathlib import Path
from typing import Annotated

import typer

from nlobayes.artifacts.files import write_parquet, write_text
from nlobayes.data.physics import source
from nlobayes.data.tables import to_arrow, to_csv_text
from nlobayes.errors import InputError
from nlobayes.study.jobs import SimulateJob, read_job


def simulate(
    spec: Annotated[str, typer.Option(help="Job specification: JSON text or a file.")],
    out: Annotated[Path, typer.Option(help="Table to write: .csv or .parquet.")],
) -> None:
    """Compute the table and write it with units, seed and engine in its metadata."""
    job = read_job(SimulateJob, spec).source
    if out.suffix not in {".csv", ".parquet"}:
        raise InputError(f"--out: {out} must end in .csv or .parquet")
    settings = source.Settings(sqrt_s_tev=job.sqrt_s_tev, squark_mass_gev=job.squark_mass_gev)
    table = source.simulate(job.seed, job.points, settings)
    if out.suffix == ".csv":
        write_text(out, to_csv_text(table))
    else:
        write_parquet(out, to_arrow(table))
