"""Classification: the scores of the posterior and of the ensemble of MAPs, and their tables."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from nlobayes.checks import CalibrationCheck
from nlobayes.data.splits import SPLITS, TEST, TRAIN, UNUSED
from nlobayes.evaluation.calibration.reliability import check, reliability_table
from nlobayes.evaluation.monte_carlo import monte_carlo_errors
from nlobayes.evaluation.run_evaluation import Evaluation, Scores, SplitScores
from nlobayes.evaluation.scores.classification.classes import (
    ClassPrediction,
    checked_labels,
    predict_classes,
)
from nlobayes.evaluation.scores.decisions import confusion_matrix, confusion_table, threshold_table
from nlobayes.evaluation.scores.of_split import evaluate_classes, score_groups
from nlobayes.evaluation.scores.split import OwnScores
from nlobayes.evaluation.tables.class_tables import example_tables, plane_tables
from nlobayes.evaluation.tasks.stated import compare_classes, log_likelihood_of_classes
from nlobayes.evaluation.tasks.task import Choices, ScoringData
from nlobayes.metrics.shown import MONTE_CARLO
from nlobayes.types import Columns, Dataset

SCALES: tuple[str, ...] = ("classes",)
THRESHOLDS = np.arange(100) / 100
log_likelihood = log_likelihood_of_classes
ACCURACY = "accuracy"


def score(given: ScoringData, choices: Choices) -> Evaluation:
    """Score every split, the MAPs as an ensemble with the accuracy of each, and the calibration."""
    data, posterior, members = given.data, given.posterior.function, given.baseline.function
    each = (_predicted(member[np.newaxis], data, TEST) for member in members)
    accuracies = [float(np.mean(_correct(one, data, TEST))) for one in each]
    tested, rng = _predicted(posterior, data, TEST), np.random.default_rng(choices.seed)
    checks = check(
        tested.confidence,
        _correct(tested, data, TEST),
        rng,
        ece_tolerance=choices.coverage_tolerance,
    )
    return {
        **_every_split(posterior, data, choices.own),
        "baseline": {
            **_every_split(members, data, choices.own),
            "members": {"accuracy_test": accuracies},
        },
        "calibration_checks": checks,
        **compare_classes(given),
    }


def measure(given: ScoringData, predicted: np.ndarray, rows: np.ndarray) -> tuple[str, np.ndarray]:
    """Return the share of the rows whose most probable class is true.

    As `regression.measure`, of probabilities (each, point, class).
    """
    correct = predicted[:, rows].argmax(axis=2) == given.data.target[rows]
    return ACCURACY, correct.mean(axis=1)


def tables(given: ScoringData, choices: Choices, scores: Evaluation) -> dict[str, Columns]:
    """Tabulate the checks, the classes, and the confusion matrix."""
    probabilities, data = given.posterior.function, given.data
    of_splits = [_tables_of_split(probabilities, data, split) for split in range(len(SPLITS))]
    return {
        "calibration_checks": _checks(scores["calibration_checks"]),
        "classes": _classes(data),
        **_single_rows(given, choices.image),
        **{name: _stacked([found[name] for found in of_splits]) for name in of_splits[0]},
    }


def _predicted(probabilities: np.ndarray, data: Dataset, split: int) -> ClassPrediction:
    """Combine draws (draw, point, class) into predictions of the points of one split."""
    return predict_classes(probabilities[:, data.split == split])


def _correct(predicted: ClassPrediction, data: Dataset, split: int) -> np.ndarray:
    """Return for each point of a split whether the most probable class is true."""
    return predicted.predicted == checked_labels(predicted, data.target[data.split == split])


def _every_split(probabilities: np.ndarray, data: Dataset, own: OwnScores) -> SplitScores:
    train, val, test = (_one_split(probabilities, data, split, own) for split in range(len(SPLITS)))
    return {"train": train, "val": val, "test": test}


def _one_split(probabilities: np.ndarray, data: Dataset, split: int, own: OwnScores) -> Scores:
    """Score the rows of a split; score held-out rows also in groups, test rows with errors."""

    def some_rows(rows: np.ndarray, code: int = 0) -> Scores:
        del code
        found = predict_classes(probabilities[:, rows])
        return evaluate_classes(found, data.target[rows], own._replace(place=SPLITS[split]))

    chosen = data.split == split
    scores = some_rows(chosen)
    if split == TEST:
        labels, drawn = data.target[chosen], probabilities[:, chosen]
        scores[MONTE_CARLO] = monte_carlo_errors(
            drawn, lambda half: evaluate_classes(predict_classes(half), labels)
        )
    if data.groups is None or split == TRAIN:
        return scores
    return scores | {"groups": score_groups(data.groups, chosen, some_rows)}


def _checks(checks: Mapping[str, CalibrationCheck]) -> Columns:
    found = checks.values()
    return {
        "check": np.array([*checks]),
        "value": np.array([check["value"] for check in found], dtype=np.float64),
        "low": np.array([check["low"] for check in found], dtype=np.float64),
        "high": np.array([check["high"] for check in found], dtype=np.float64),
        "passed": np.array([check["passed"] for check in found], dtype=bool),
    }


def _classes(data: Dataset) -> Columns:
    labels = data.transforms["target"]["labels"]
    return {"class": np.arange(len(labels)), "name": np.array([f"{label:g}" for label in labels])}


def _tables_of_split(probabilities: np.ndarray, data: Dataset, split: int) -> dict[str, Columns]:
    predicted = _predicted(probabilities, data, split)
    labels = checked_labels(predicted, data.target[data.split == split])
    confidence, correct = predicted.confidence, predicted.predicted == labels
    matrix = confusion_matrix(labels, predicted.predicted, probabilities.shape[2])
    return {
        "confusion": confusion_table(matrix),
        "reliability": reliability_table(confidence, correct),
        "thresholds": threshold_table(confidence, correct, THRESHOLDS),
    }


def _single_rows(given: ScoringData, image: tuple[int, int] | None) -> dict[str, Columns]:
    """Tabulate chosen test rows, and the rows of all splits in the plane of their inputs."""
    probabilities, data = given.posterior.function, given.data
    tested, used = np.flatnonzero(data.split == TEST), np.flatnonzero(data.split != UNUSED)
    right = probabilities[:, used].mean(axis=0).argmax(axis=1) == data.target[used]
    known = {"split": np.array(SPLITS)[data.split[used]], "right": right.astype(int)}
    return {
        **example_tables(predict_classes(probabilities[:, tested]), data, tested, image),
        **plane_tables(given.plane, data, used, known),
    }


def _stacked(parts: list[Columns]) -> Columns:
    """Join the tables of the splits, with their names in a column."""
    rows = [len(next(iter(part.values()))) for part in parts]
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return {"split": np.repeat(SPLITS, rows), **joined}
