"""Tabulate what the figures of a run show: its chains, and its predictions."""

from itertools import product
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
import xarray as xr

from nlobayes import provenance
from nlobayes.artifacts.contents import read_dataset, read_start
from nlobayes.artifacts.files import read_json, write_csv
from nlobayes.artifacts.netcdf import Groups, read_groups
from nlobayes.artifacts.records import write_record
from nlobayes.artifacts.seals import digests
from nlobayes.assessment import verdict
from nlobayes.assessment.draws import PosteriorDraws
from nlobayes.assessment.noise_fit import FittedNoise, at_points
from nlobayes.assessment.tables import Columns
from nlobayes.assessment.tables import chains as chain_tables
from nlobayes.assessment.tables import predictions as prediction_tables
from nlobayes.data.transforms import TargetTransform
from nlobayes.errors import InputError
from nlobayes.study.jobs import TabulateJob, read_job
from nlobayes.types import Dataset, Start
from nlobayes.verbs import covariates
from nlobayes.verbs import predictions as reading
from nlobayes.verbs.covariates import Covariate
from nlobayes.verbs.posteriors import posterior_draws


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
        **_of_chains(job, read_groups(posterior, "posterior"), covariate),
        **_of_starts([read_start(path) for path in start]),
        "labels": _labels(data, covariate.label),
        **_of_predictions(job, groups, data, covariate, _noise(evaluation)),
    }
    for name, table in written.items():
        write_csv(plots / f"{name}.csv", table)
    read = [posterior, diagnostics, predictions, evaluation, dataset, *start]
    made = provenance.record("tabulate", job.model_dump(), digests(read))
    write_record(record, made, [plots / f"{name}.csv" for name in written])


def _of_chains(job: TabulateJob, groups: Groups, covariate: Covariate) -> dict[str, Columns]:
    draws, names = posterior_draws(groups), _weight_names(groups["posterior"])
    diverging = groups["sample_stats"]["diverging"].values
    return {
        "trace": chain_tables.trace(draws.log_density, draws.noise),
        "convergence": chain_tables.per_point(draws.function, covariate.at_reference),
        "quantities": chain_tables.quantities(_with_coefficients(draws, names)),
        "autocorrelation": chain_tables.correlations(
            draws.function, draws.log_density, draws.noise
        ),
        "weight_autocorrelation": chain_tables.weight_correlations(draws.weights, job.keep_every),
        "history": chain_tables.history(draws.weights, names, job.keep_every),
        "weight_planes": chain_tables.weight_planes(draws.weights, names),
        "divergences": chain_tables.divergences(draws.function, diverging, covariate.at_reference),
    }


def _of_starts(starts: list[Start]) -> dict[str, Columns]:
    return {
        "loss": chain_tables.losses([s.loss for s in starts], [s.validation_rmse for s in starts])
    }


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
        "coverage": prediction_tables.coverage(predicted),
        "levels": prediction_tables.levels(predicted),
        "pit": prediction_tables.pit(predicted),
        "conditional": prediction_tables.conditional(predicted),
        "deciles": prediction_tables.deciles(draws, rows, noise, rng, scale=target.scale),
        "cases": prediction_tables.cases(draws, rows, noise, rng),
        "calibration_checks": reading.calibration_checks(predicted, job.calibration),
    }


def _labels(data: Dataset, covariate: str) -> Columns:
    name, scale = data.target_name, TargetTransform(**data.transforms["target"]).scale
    unit = data.units.get(name, "")
    return prediction_tables.labels(covariate=covariate, target=name, unit=unit, scale=scale)


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


def _weight_names(posterior: xr.Dataset) -> list[str]:
    """Name every weight in the order of the parameter vector: `weights_1[m1, 0]`."""
    names: list[str] = []
    for name, weights in posterior.items():
        labels: list[Any] = [[str(v) for v in weights[dim].values] for dim in weights.dims[2:]]
        if name != "noise":
            names += [f"{name}[{', '.join(place)}]" for place in product(*labels)]
    return names


def _with_coefficients(draws: PosteriorDraws, names: list[str]) -> PosteriorDraws:
    """Count the weights of a network without hidden layer, which are identified, as quantities."""
    if any(name.startswith("weights_2") for name in names):
        return draws
    weights = np.moveaxis(draws.weights, 2, 0)
    return draws._replace(hyperparameters=dict(zip(names, weights, strict=True)))
