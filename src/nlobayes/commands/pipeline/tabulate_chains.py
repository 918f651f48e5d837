"""Tabulate the data of the figures of chains: traces, convergence, correlations and weights."""

from pathlib import Path
from typing import Annotated

import typer

from nlobayes import provenance
from nlobayes.artifacts.contents import read_dataset
from nlobayes.artifacts.files import write_csv
from nlobayes.artifacts.netcdf import read_groups
from nlobayes.artifacts.records import write_record
from nlobayes.artifacts.seals import digests
from nlobayes.commands.shared import chain_tables, covariates
from nlobayes.study.jobs import TabulateChainsJob, read_job


def tabulate_chains(
    spec: Annotated[str, typer.Option(help="Job specification: JSON text or a file.")],
    posterior: Annotated[Path, typer.Option(help="Posterior of the run.")],
    dataset: Annotated[Path, typer.Option(help="Its dataset.")],
    plots: Annotated[Path, typer.Option(help="Folder for the tables.")],
    record: Annotated[Path | None, typer.Option(help="Record of what made it (JSON).")] = None,
) -> None:
    """Write the tables behind the figures of the chains of one run."""
    job = read_job(TabulateChainsJob, spec)
    covariate = covariates.of(read_dataset(dataset), job.covariate)
    groups = read_groups(posterior, "posterior")
    written = chain_tables.of_chains(job, groups, covariate)
    for name, table in written.items():
        write_csv(plots / f"{name}.csv", table)
    made = provenance.record("tabulate_chains", job.model_dump(), digests([posterior, dataset]))
    write_record(record, made, [plots / f"{name}.csv" for name in written])
