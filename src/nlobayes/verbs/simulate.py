"""Compute a table with the embedded NLO engine, or of a published toy problem."""

from pathlib import Path
from typing import Annotated

import typer

from nlobayes.artifacts.files import write_parquet, write_text
from nlobayes.data.physics import source
from nlobayes.data.tables import to_arrow, to_csv_text
from nlobayes.data.toys import simulate_toy
from nlobayes.errors import InputError
from nlobayes.study.jobs import SimulateJob, read_job
from nlobayes.study.presets import SimulatedSource, ToySource
from nlobayes.types import Table


def simulate(
    spec: Annotated[str, typer.Option(help="Job specification: JSON text or a file.")],
    out: Annotated[Path, typer.Option(help="Table to write: .csv or .parquet.")],
) -> None:
    """Compute the table and write it with units, seed and engine in its metadata."""
    job = read_job(SimulateJob, spec).source
    if out.suffix not in {".csv", ".parquet"}:
        raise InputError(f"--out: {out} must end in .csv or .parquet")
    table = _simulate(job)
    if out.suffix == ".csv":
        write_text(out, to_csv_text(table))
    else:
        write_parquet(out, to_arrow(table))


def _simulate(job: SimulatedSource | ToySource) -> Table:
    if isinstance(job, ToySource):
        return simulate_toy(job.name, job.seed)
    settings = source.Settings(sqrt_s_tev=job.sqrt_s_tev, squark_mass_gev=job.squark_mass_gev)
    return source.simulate(job.seed, job.points, settings)
