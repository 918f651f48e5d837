"""Tabulate the data of the figures of a run: its predictions and its MAPs."""

from pathlib import Path
from typing import Annotated

import typer

from nlobayes import provenance
from nlobayes.artifacts.contents import dataset_of
from nlobayes.artifacts.files import read_json, write_csv
from nlobayes.artifacts.netcdf import open_artifact
from nlobayes.artifacts.records import write_record
from nlobayes.artifacts.seals import digests
from nlobayes.commands.shared import chain_tables as chains
from nlobayes.commands.shared import covariates
from nlobayes.commands.shared import predictions as reading
from nlobayes.commands.shared.cases import points_of
from nlobayes.diagnostics import verdict
from nlobayes.errors import InputError
from nlobayes.evaluation.tasks import task_of
from nlobayes.study.jobs import TabulateJob, read_job


def tabulate(
    spec: Annotated[str, typer.Option(help="Job specification: JSON text or a file.")],
    diagnostics: Annotated[Path, typer.Option(help="Its diagnostics, with the verdict.")],
    predictions: Annotated[Path, typer.Option(help="Its predictions.")],
    evaluation: Annotated[Path, typer.Option(help="Its scores, with the calibration checks.")],
    dataset: Annotated[Path, typer.Option(help="Its dataset.")],
    start: Annotated[list[Path], typer.Option(help="MAP of a chain; once per chain.")],
    plots: Annotated[Path, typer.Option(help="Folder for the tables.")],
    record: Annotated[Path | None, typer.Option(help="Record of what made it (JSON).")] = None,
) -> None:
    """Write the tables behind the figures of one run, of numbers or of classes."""
    job = read_job(TabulateJob, spec)
    source, predicted = open_artifact(dataset, "dataset"), open_artifact(predictions, "predictions")
    data = dataset_of(source)
    task = task_of(data)
    given = reading.read_given(predicted, dataset, data, job.covariate)
    covariate = covariates.of(data, job.covariate)
    cases = points_of(job.cases, data)
    choices = reading.choices(job.seed, job.calibration, image=job.image, cases=cases)
    checks = read_json(diagnostics, "checks")["checks"]
    scores = read_json(evaluation, *task.NEEDS)
    try:
        of_predictions = task.tables(given, choices, scores)
    except InputError as error:
        raise error.within(f"{evaluation}, {predictions}") from None
    written = {
        "verdict": verdict.table(checks),
        **chains.of_starts(start),
        "labels": reading.labels(data, covariate.label),
        **of_predictions,
    }
    for name, table in written.items():
        write_csv(plots / f"{name}.csv", table)
    inputs = digests([diagnostics, predicted, evaluation, source, *start])
    made = provenance.record("tabulate", job.model_dump(), inputs)
    write_record(record, made, [plots / f"{name}.csv" for name in written])
