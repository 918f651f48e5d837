"""Tabulate what the figures of a run of classes show: its predictions, and its MAPs."""

from pathlib import Path
from typing import Annotated

import typer

from nlobayes.commands.shared.run_tables import RunTables, write_tables
from nlobayes.study.jobs import TabulateJob, read_job


def tabulate_classes(
    spec: Annotated[str, typer.Option(help="Job specification: JSON text or a file.")],
    diagnostics: Annotated[Path, typer.Option(help="Its diagnostics, with the verdict.")],
    predictions: Annotated[Path, typer.Option(help="Its predictions.")],
    evaluation: Annotated[Path, typer.Option(help="Its scores, with the calibration checks.")],
    dataset: Annotated[Path, typer.Option(help="Its dataset.")],
    start: Annotated[list[Path], typer.Option(help="MAP of a chain; once per chain.")],
    plots: Annotated[Path, typer.Option(help="Folder for the tables.")],
    record: Annotated[Path | None, typer.Option(help="Record of what made it (JSON).")] = None,
) -> None:
    """Write the tables behind the figures of one run of classes."""
    job = read_job(TabulateJob, spec)
    inputs = RunTables(diagnostics, predictions, evaluation, dataset, start)
    write_tables("tabulate_classes", job, inputs, plots, record)
