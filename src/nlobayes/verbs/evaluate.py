"""Score predictions and their error bars, beside the deep-ensemble baseline."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
import xarray as xr

from nlobayes.artifacts.contents import read_dataset
from nlobayes.artifacts.files import write_csv, write_json
from nlobayes.artifacts.netcdf import read_groups
from nlobayes.assessment import tables
from nlobayes.assessment.noise import PredictiveNoise, fit_noise
from nlobayes.assessment.scores import evaluate as score
from nlobayes.errors import InputError
from nlobayes.study.jobs import EvaluateJob, read_job
from nlobayes.types import Dataset

SPLITS = {"train": 0, "val": 1, "test": 2}


def evaluate(
    spec: Annotated[str, typer.Option(help="Job specification: JSON text or a file.")],
    predictions: Annotated[Path, typer.Option(help="Predictions to score.")],
    dataset: Annotated[Path, typer.Option(help="Dataset that was predicted.")],
    out: Annotated[Path, typer.Option(help="Scores to write (JSON).")],
    plots: Annotated[Path, typer.Option(help="Folder for the tables behind the figures.")],
) -> None:
    """Fit the predictive noise on validation rows, score every split, write the tables."""
    job = read_job(EvaluateJob, spec)
    groups, data = read_groups(predictions, "predictions"), read_dataset(dataset)
    _check_same_points(groups["points"], data, predictions, dataset)
    draws = groups["predictions"]["f"].values
    rows = tables.Rows(data.split, np.log10(data.observed), np.abs(data.inputs[:, 0]))
    posterior = draws.reshape(-1, draws.shape[-1]).astype(np.float64)
    members = groups["baseline"]["f"].values.astype(np.float64)
    scores, noise = _score(posterior, rows, job)
    scores["baseline"], _ = _score(members, rows, job)
    scores["baseline"]["members"] = _members(members, rows)
    rng = np.random.default_rng(job.seed)
    write_csv(plots / "predictions.csv", tables.predictions(posterior, rows, noise))
    write_csv(plots / "coverage.csv", tables.coverage(posterior, rows, noise))
    write_csv(plots / "cases.csv", tables.cases(posterior, rows, noise, rng))
    write_json(out, scores)


def _check_same_points(points: xr.Dataset, data: Dataset, predictions: Path, path: Path) -> None:
    for name in ("observed", "split"):
        if not np.array_equal(points[name].values, getattr(data, name)):
            raise InputError(f"{predictions} predicts another dataset than {path}; predict it anew")


def _score(
    draws: np.ndarray, rows: tables.Rows, job: EvaluateJob
) -> tuple[dict[str, Any], PredictiveNoise]:
    held = rows.split == SPLITS["val"]
    noise = fit_noise(draws[:, held], rows.observed[held], family=job.noise)
    scores: dict[str, Any] = {}
    for name, label in SPLITS.items():
        chosen = rows.split == label
        rng = np.random.default_rng([job.seed, label])
        scores[name] = score(draws[:, chosen], rows.observed[chosen], noise, rng)
    scores["predictive_noise"] = {**noise._asdict(), "fitted_on": "val"}
    return scores, noise


def _members(members: np.ndarray, rows: tables.Rows) -> dict[str, list[float]]:
    test = rows.split == SPLITS["test"]
    error = members[:, test] - rows.observed[test]
    return {"rmse_log10_test": [float(rmse) for rmse in np.sqrt(np.mean(error**2, axis=1))]}
