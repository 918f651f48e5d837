"""Score predictions and their error bars, beside the deep-ensemble baseline."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
import xarray as xr

from nlobayes import provenance
from nlobayes.artifacts.contents import read_dataset
from nlobayes.artifacts.files import write_csv, write_json
from nlobayes.artifacts.netcdf import read_groups
from nlobayes.artifacts.records import write_record
from nlobayes.artifacts.seals import digests
from nlobayes.assessment import linear
from nlobayes.assessment.conditional import distance_to_training, scale_shares
from nlobayes.assessment.noise import PredictiveNoise, fit_noise, predictive_moments
from nlobayes.assessment.scores import evaluate as score
from nlobayes.assessment.tables import Columns
from nlobayes.assessment.tables import predictions as tables
from nlobayes.data.splits import SPLITS, TEST, TRAIN, VALIDATION
from nlobayes.data.transforms import TargetTransform, apply_scale, unstandardise
from nlobayes.errors import InputError
from nlobayes.study.jobs import EvaluateJob, read_job
from nlobayes.types import Dataset
from nlobayes.verbs import covariates


def evaluate(
    spec: Annotated[str, typer.Option(help="Job specification: JSON text or a file.")],
    predictions: Annotated[Path, typer.Option(help="Predictions to score.")],
    dataset: Annotated[Path, typer.Option(help="Dataset that was predicted.")],
    out: Annotated[Path, typer.Option(help="Scores to write (JSON).")],
    plots: Annotated[Path, typer.Option(help="Folder for the tables behind the figures.")],
    record: Annotated[Path | None, typer.Option(help="Record of what made it (JSON).")] = None,
) -> None:
    """Fit the predictive noise on validation rows, score every split, write the tables."""
    job = read_job(EvaluateJob, spec)
    groups, data = read_groups(predictions, "predictions"), read_dataset(dataset)
    _check_same_points(groups["points"], data, predictions, dataset)
    target = TargetTransform(**data.transforms["target"])
    covariate = covariates.of(data, job.covariate)
    rows = _rows(data, target, covariate.values)
    draws = groups["predictions"]["f"].values
    posterior = draws.reshape(-1, draws.shape[-1]).astype(np.float64)
    scores, noise = _score(posterior, rows, job, target)
    scores["baseline"] = _ensemble(groups["baseline"]["f"].values, rows, job, target)
    scores["linear"] = _least_squares(data, rows, job, target)
    written = _tables(posterior, rows, noise, job, target.scale)
    written = {"labels": _labels(data, covariate.label, target), **written}
    for name, table in written.items():
        write_csv(plots / f"{name}.csv", table)
    scores["calibration_checks"] = _checks_as_json(written["calibration_checks"])
    write_json(out, scores)
    made = provenance.record("evaluate", job.model_dump(), digests([predictions, dataset]))
    write_record(record, made, [out, *(plots / f"{name}.csv" for name in written)])
    for name, check in scores["calibration_checks"].items():
        said = "passed" if check["passed"] else typer.style("FAILED", fg="red", bold=True)
        typer.echo(f"{said}: {name} {check['value']:.3g} on the test split", err=True)


def _labels(data: Dataset, covariate: str, target: TargetTransform) -> Columns:
    name, unit = data.target_name, data.units.get(data.target_name, "")
    return tables.labels(covariate=covariate, target=name, unit=unit, scale=target.scale)


def _tables(
    draws: np.ndarray, rows: tables.Rows, noise: PredictiveNoise, job: EvaluateJob, scale: str
) -> dict[str, Columns]:
    predicted, limits = tables.predictions(draws, rows, noise, scale=scale), job.calibration
    tolerances = {"coverage_tolerance": limits.coverage, "chi2_tolerance": limits.chi2}
    rng = np.random.default_rng(job.seed)
    return {
        "predictions": predicted,
        "coverage": tables.coverage(predicted),
        "levels": tables.levels(predicted),
        "pit": tables.pit(predicted),
        "conditional": tables.conditional(predicted),
        "deciles": tables.deciles(draws, rows, noise, rng, scale=scale),
        "cases": tables.cases(draws, rows, noise, rng),
        "calibration_checks": tables.calibration_checks(predicted, **tolerances),
    }


def _rows(data: Dataset, target: TargetTransform, covariate: np.ndarray) -> tables.Rows:
    return tables.Rows(
        split=data.split,
        observed=apply_scale(target, data.observed),
        covariate=covariate,
        distance=distance_to_training(data.features, data.features[data.split == TRAIN]),
        scale_uncertainty=data.scale_uncertainty,
    )


def _check_same_points(points: xr.Dataset, data: Dataset, predictions: Path, path: Path) -> None:
    for name in ("observed", "split"):
        if not np.array_equal(points[name].values, getattr(data, name)):
            raise InputError(f"{predictions} predicts another dataset than {path}; predict it anew")


def _score(
    draws: np.ndarray, rows: tables.Rows, job: EvaluateJob, target: TargetTransform
) -> tuple[dict[str, Any], PredictiveNoise]:
    held = rows.split == VALIDATION
    noise = fit_noise(draws[:, held], rows.observed[held], family=job.noise)
    scores: dict[str, Any] = {}
    for label, name in enumerate(SPLITS):
        chosen = rows.split == label
        rng = np.random.default_rng([job.seed, label])
        predicted, observed = draws[:, chosen], rows.observed[chosen]
        mean, _, total_sd = predictive_moments(predicted, noise)
        known = rows.scale_uncertainty
        scores[name] = {
            **score(predicted, observed, noise, rng, scale=target.scale),
            **scale_shares(mean, total_sd, observed, None if known is None else known[chosen]),
        }
    unit = "dex" if target.scale == "log10" else "of the target"
    scores["predictive_noise"] = {**noise._asdict(), "unit": unit, "fitted_on": "val"}
    return scores, noise


def _ensemble(
    members: np.ndarray, rows: tables.Rows, job: EvaluateJob, target: TargetTransform
) -> dict[str, Any]:
    """Score the MAPs as an ensemble, with a noise of its own, and the RMSE of each."""
    members, test = members.astype(np.float64), rows.split == TEST
    error = members[:, test] - rows.observed[test]
    space = "log10" if target.scale == "log10" else "target"
    rmse = [float(value) for value in np.sqrt(np.mean(error**2, axis=1))]
    scores, _ = _score(members, rows, job, target)
    return scores | {"members": {f"rmse_{space}_test": rmse}}


def _least_squares(
    data: Dataset, rows: tables.Rows, job: EvaluateJob, target: TargetTransform
) -> dict[str, Any]:
    """Score least squares on the features; coefficients in units of the network."""
    train = data.split == TRAIN
    fitted = linear.fit(data.features[train], data.target[train])
    plane = unstandardise(target, linear.predict(fitted, data.features))
    scores, _ = _score(plane[np.newaxis], rows, job, target)
    named = zip(("intercept", *data.feature_names), *fitted[:2], strict=True)
    coefficients = {
        name: {"value": _plain(value), "standard_error": _plain(error)}
        for name, value, error in named
    }
    return scores | {"coefficients": coefficients}


def _checks_as_json(checks: Columns) -> dict[str, Any]:
    rows = [dict(zip(checks, row, strict=True)) for row in zip(*checks.values(), strict=True)]
    return {
        str(row.pop("check")): {name: _plain(value) for name, value in row.items()} for row in rows
    }


def _plain(value: Any) -> Any:
    if isinstance(value, np.bool_ | bool):
        return bool(value)
    return float(value) if np.isfinite(value) else None
