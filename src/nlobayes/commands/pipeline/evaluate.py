"""Score predictions and their error bars, beside the deep-ensemble baseline."""

from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from nlobayes import provenance
from nlobayes.artifacts.contents import read_dataset
from nlobayes.artifacts.files import write_json
from nlobayes.artifacts.netcdf import Groups, read_groups
from nlobayes.artifacts.records import write_record
from nlobayes.artifacts.seals import digests
from nlobayes.commands.shared import class_scores, covariates, output_scores
from nlobayes.commands.shared import predictions as reading
from nlobayes.commands.shared.learned import learned
from nlobayes.commands.shared.stated import score_stated_classes, score_stated_noise
from nlobayes.data.splits import SPLITS, TEST, TRAIN, VALIDATION
from nlobayes.data.transforms import CLASSES, TargetTransform, unstandardise
from nlobayes.evaluation.calibration.conditional import coverage_by_decile, scale_shares
from nlobayes.evaluation.calibration.halves import Held, choose_family, halved_scores
from nlobayes.evaluation.predictive.density import predictive_cdf, predictive_moments
from nlobayes.evaluation.predictive.noise import PredictiveNoise, at_rows
from nlobayes.evaluation.predictive.noise_fit import at_points, fit_noise
from nlobayes.evaluation.scores import linear
from nlobayes.evaluation.scores.of_split import evaluate as score
from nlobayes.evaluation.tables import predictions as tables
from nlobayes.study.jobs import EvaluateJob, read_job
from nlobayes.types import Columns, Dataset


def evaluate(
    spec: Annotated[str, typer.Option(help="Job specification: JSON text or a file.")],
    predictions: Annotated[Path, typer.Option(help="Predictions to score.")],
    dataset: Annotated[Path, typer.Option(help="Dataset that was predicted.")],
    out: Annotated[Path, typer.Option(help="Scores to write (JSON).")],
    record: Annotated[Path | None, typer.Option(help="Record of what made it (JSON).")] = None,
) -> None:
    """Fit the predictive noise on validation rows and score every split."""
    job = read_job(EvaluateJob, spec)
    groups, data = read_groups(predictions, "predictions"), read_dataset(dataset)
    reading.check_same_points(groups["points"], data, predictions, dataset)
    scores = _scores(groups, data, job) | {"learned": learned(data)}
    write_json(out, scores)
    made = provenance.record("evaluate", job.model_dump(), digests([predictions, dataset]))
    write_record(record, made, [out])
    for name, check in scores["calibration_checks"].items():
        said = "passed" if check["passed"] else typer.style("FAILED", fg="red", bold=True)
        typer.echo(f"{said}: {name} {check['value']:.3g} on the test split", err=True)


def _scores(groups: Groups, data: Dataset, job: EvaluateJob) -> dict[str, Any]:
    """Score classes, or each target."""
    if data.transforms["target"]["scale"] == CLASSES:
        return class_scores.score_classes(groups, data, job) | score_stated_classes(groups, data)
    if len(data.target_names) == 1:
        return _score_target(groups, data, job)
    each = output_scores.one_by_one(groups, data)
    return output_scores.join({name: _score_target(one, alone, job) for name, one, alone in each})


def _score_target(groups: Groups, data: Dataset, job: EvaluateJob) -> dict[str, Any]:
    """Score the one target of a dataset."""
    target = TargetTransform(**data.transforms["target"])
    covariate = covariates.of(data, job.covariate)
    rows = reading.rows_of(data, target, covariate.values)
    posterior = reading.draws_of(groups)
    told = Told(rows, data.features, job, target, job.noise)
    halves = _halves(posterior, told)
    told = told._replace(family=halves["family"])
    scores, noise = _score(posterior, told)
    scores["halves"] = halves
    scores["baseline"] = _ensemble(groups["baseline"]["f"].values, told)
    scores["linear"] = _least_squares(data, told)
    scores |= score_stated_noise(groups, data)
    predicted = tables.predictions(posterior, rows, noise, scale=target.scale)
    checks = reading.calibration_checks(predicted, job.calibration)
    scores["calibration_checks"] = _checks_as_json(checks)
    return scores


class Told(NamedTuple):
    """What every posterior or baseline is scored with, the family of the noise included."""

    rows: tables.Rows
    features: np.ndarray
    job: EvaluateJob
    target: TargetTransform
    family: str


def _score(draws: np.ndarray, told: Told) -> tuple[dict[str, Any], PredictiveNoise]:
    rows, features, job, target, family = told
    held = rows.split == VALIDATION
    fitted = fit_noise(
        draws[:, held],
        rows.observed[held],
        family=family,
        features=features[held],
        covariate=rows.covariate[held],
    )
    noise = at_points(fitted, draws, features)
    scores: dict[str, Any] = {}
    for label, name in enumerate(SPLITS):
        chosen = rows.split == label
        rng = np.random.default_rng([job.seed, label])
        predicted, observed, here = draws[:, chosen], rows.observed[chosen], at_rows(noise, chosen)
        mean, _, total_sd = predictive_moments(predicted, here)
        pit, known = predictive_cdf(predicted, observed, here), rows.scale_uncertainty
        scores[name] = {
            **score(predicted, observed, here, rng, scale=target.scale),
            **coverage_by_decile(pit, rows.covariate[chosen]),
            **scale_shares(mean, total_sd, observed, None if known is None else known[chosen]),
        }
    unit = "dex" if target.scale == "log10" else "of the target"
    scores["predictive_noise"] = {**fitted._asdict(), "unit": unit, "fitted_on": "val"}
    return scores, noise


def _halves(draws: np.ndarray, told: Told) -> dict[str, Any]:
    """Score the validation rows by noise that was fitted on the other half, chosen if asked to."""
    rows, features, job, _, family = told
    held = rows.split == VALIDATION
    points = Held(draws[:, held], rows.observed[held], rows.covariate[held], features[held])
    seed = [job.seed, len(SPLITS)]
    if family == "auto":
        return choose_family(points, seed)
    scores = halved_scores(points, np.random.default_rng(seed), family=family)
    return {"family": family, **scores}


def _ensemble(members: np.ndarray, told: Told) -> dict[str, Any]:
    """Score the MAPs as an ensemble, with a noise of its own, and the RMSE of each."""
    members, test = members.astype(np.float64), told.rows.split == TEST
    error = members[:, test] - told.rows.observed[test]
    space = "log10" if told.target.scale == "log10" else "target"
    rmse = [float(value) for value in np.sqrt(np.mean(error**2, axis=1))]
    scores, _ = _score(members, told)
    return scores | {"members": {f"rmse_{space}_test": rmse}}


def _least_squares(data: Dataset, told: Told) -> dict[str, Any]:
    """Score least squares on the features; coefficients in units of the network."""
    train = data.split == TRAIN
    fitted = linear.fit(data.features[train], data.target[train])
    plane = unstandardise(told.target, linear.predict(fitted, data.features))
    scores, _ = _score(plane[np.newaxis], told)
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
