"""Tabulate what the figures of a run of classes show: its chains, and its predictions."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from nlobayes import provenance
from nlobayes.artifacts.contents import read_dataset, read_predicted
from nlobayes.artifacts.files import read_json, write_csv
from nlobayes.artifacts.netcdf import read_groups
from nlobayes.artifacts.records import write_record
from nlobayes.artifacts.seals import digests
from nlobayes.commands.shared import chain_tables as chains
from nlobayes.commands.shared import class_scores, covariates
from nlobayes.commands.shared import predictions as reading
from nlobayes.data.splits import SPLITS
from nlobayes.diagnostics import verdict
from nlobayes.evaluation.classification.calibration import reliability_table
from nlobayes.evaluation.classification.decisions import (
    confusion_matrix,
    confusion_table,
    threshold_table,
)
from nlobayes.evaluation.classification.scores import checked_labels
from nlobayes.study.jobs import TabulateJob, read_job
from nlobayes.types import Columns, Dataset

THRESHOLDS = np.arange(100) / 100


def tabulate_classes(
    spec: Annotated[str, typer.Option(help="Job specification: JSON text or a file.")],
    posterior: Annotated[Path, typer.Option(help="Posterior of the run.")],
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
    data = read_dataset(dataset)
    covariate = covariates.of(data, job.covariate)
    groups = read_groups(predictions, "predictions")
    reading.check_same_points(groups["points"], data, predictions, dataset)
    checks = read_json(evaluation, "calibration_checks")["calibration_checks"]
    written = {
        "verdict": verdict.table(read_json(diagnostics, "checks")["checks"]),
        **chains.of_chains(job.thin, read_groups(posterior, "posterior"), covariate),
        **chains.of_starts(start),
        "labels": reading.labels(data, covariate.label),
        "calibration_checks": _checks(checks),
        "classes": _classes(data),
        **_of_predictions(read_predicted(groups["predictions"]).function, data),
    }
    for name, table in written.items():
        write_csv(plots / f"{name}.csv", table)
    read = [posterior, diagnostics, predictions, evaluation, dataset, *start]
    made = provenance.record("tabulate_classes", job.model_dump(), digests(read))
    write_record(record, made, [plots / f"{name}.csv" for name in written])


def _checks(checks: dict[str, dict[str, float | bool | None]]) -> Columns:
    columns: Columns = {"check": np.array([*checks])}
    for name in ("value", "low", "high"):
        columns[name] = np.array([check[name] for check in checks.values()], dtype=np.float64)
    return columns | {"passed": np.array([bool(check["passed"]) for check in checks.values()])}


def _classes(data: Dataset) -> Columns:
    labels = data.transforms["target"]["labels"]
    return {"class": np.arange(len(labels)), "name": np.array([f"{label:g}" for label in labels])}


def _of_predictions(probabilities: np.ndarray, data: Dataset) -> dict[str, Columns]:
    of_splits = [_of_split(probabilities, data, split) for split in range(len(SPLITS))]
    return {
        table: _one_below_the_other([found[table] for found in of_splits]) for table in of_splits[0]
    }


def _of_split(probabilities: np.ndarray, data: Dataset, split: int) -> dict[str, Columns]:
    predicted = class_scores.predicted_of(probabilities, data, split)
    labels = checked_labels(predicted, data.target[data.split == split])
    confidence, correct = predicted.confidence, predicted.predicted == labels
    matrix = confusion_matrix(labels, predicted.predicted, probabilities.shape[2])
    return {
        "confusion": confusion_table(matrix),
        "reliability": reliability_table(confidence, correct),
        "thresholds": threshold_table(confidence, correct, THRESHOLDS),
    }


def _one_below_the_other(parts: list[Columns]) -> Columns:
    """Join the tables of the splits, their names in a column of its own."""
    rows = [len(next(iter(part.values()))) for part in parts]
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return {"split": np.repeat(SPLITS, rows), **joined}
