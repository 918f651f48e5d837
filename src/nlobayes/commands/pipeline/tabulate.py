"""Tabulate what the figures of a run show: its chains, and its predictions."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from nlobayes import provenance
from nlobayes.artifacts.contents import read_dataset
from nlobayes.artifacts.files import read_json, write_csv
from nlobayes.artifacts.netcdf import Groups, read_groups
from nlobayes.artifacts.records import write_record
from nlobayes.artifacts.seals import digests
from nlobayes.commands.shared import chain_tables as chains
from nlobayes.commands.shared import covariates
from nlobayes.commands.shared import predictions as reading
from nlobayes.commands.shared.covariates import Covariate
from nlobayes.data.transforms import TargetTransform
from nlobayes.diagnostics import verdict
from nlobayes.errors import InputError
from nlobayes.evaluation.predictive.fitted import FittedNoise
from nlobayes.evaluation.predictive.noise_fit import at_points
from nlobayes.evaluation.tables import predictions as prediction_tables
from nlobayes.study.jobs import TabulateJob, read_job
from nlobayes.types import Columns, Dataset


def tabulate(
    spec: Annotated[str, typer.Option(help="Job specification: JSON text or a file.")],
    posterior: Annotated[Path, typer.Option(help="Posterior of the run.")],
    diagnostics: Annotated[Path, typer.Option(help="Its diagnostics, with the verdict.")],
    predictions: Annotated[Path, typer.Option(help="Its predictions.")],
    evaluation: Annotated[Path, typer.Option(help="Its scores, with the fitted noise.")],
    dataset: Annotated[Path, typer.Option(help="Its dataset.")],
    start: Annotated[list[Path], typer.Option(help="MAP of a chain; once per chain.")],
    plots: Annotated[Path, typer.Option(help="Folder for the tables.")],
    record: Annotated[Path | None, typer.Option(help="Record of what made it (JSON).")] = None,
) -> None:
    """Write the tables behind the figures of one run."""
    job = read_job(TabulateJob, spec)
    data = read_dataset(dataset)
    covariate = covariates.of(data, job.covariate)
    checks = read_json(diagnostics, "checks")["checks"]
    groups = read_groups(predictions, "predictions")
    reading.check_same_points(groups["points"], data, predictions, dataset)
    written = {
        "verdict": verdict.table(checks),
        **chains.of_chains(job.keep_every, read_groups(posterior, "posterior"), covariate),
        **chains.of_starts(start),
        "labels": reading.labels(data, covariate.label),
        **_of_predictions(job, groups, data, covariate, _noise(evaluation)),
    }
    for name, table in written.items():
        write_csv(plots / f"{name}.csv", table)
    read = [posterior, diagnostics, predictions, evaluation, dataset, *start]
    made = provenance.record("tabulate", job.model_dump(), digests(read))
    write_record(record, made, [plots / f"{name}.csv" for name in written])


def _of_predictions(
    job: TabulateJob, groups: Groups, data: Dataset, covariate: Covariate, fitted: FittedNoise
) -> dict[str, Columns]:
    target = TargetTransform(**data.transforms["target"])
    rows = reading.rows_of(data, target, covariate.values)
    draws = reading.draws_of(groups)
    noise = at_points(fitted, draws, data.features)
    predicted = prediction_tables.predictions(draws, rows, noise, scale=target.scale)
    rng = np.random.default_rng(job.seed)
    return {
        "predictions": predicted,
        "coverage": prediction_tables.coverage(predicted, draws, noise),
        "levels": prediction_tables.levels(predicted),
        "pit": prediction_tables.pit(predicted),
        "conditional": prediction_tables.conditional(predicted),
        "deciles": prediction_tables.deciles(draws, rows, noise, rng, scale=target.scale),
        "cases": prediction_tables.cases(draws, rows, noise, rng),
        "calibration_checks": reading.calibration_checks(predicted, job.calibration),
    }


def _noise(evaluation: Path) -> FittedNoise:
    """Take the noise that `evaluate` fitted on the validation rows."""
    fitted = read_json(evaluation, "predictive_noise")["predictive_noise"]
    try:
        return FittedNoise(**{name: fitted[name] for name in FittedNoise._fields})
    except (KeyError, TypeError):
        raise InputError(
            f"{evaluation}: predictive_noise is {fitted!r}, must have {FittedNoise._fields}; "
            "evaluate the run again"
        ) from None
