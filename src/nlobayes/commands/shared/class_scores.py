"""The scores of predicted classes, beside those of the ensemble of MAPs."""

from __future__ import annotations

from typing import Any

import numpy as np

from nlobayes.artifacts.contents import read_predicted
from nlobayes.artifacts.netcdf import Groups
from nlobayes.data.splits import SPLITS, TEST
from nlobayes.evaluation.classification.calibration import check
from nlobayes.evaluation.classification.scores import (
    ClassPrediction,
    checked_labels,
    classification_scores,
    predict_classes,
)
from nlobayes.study.jobs import EvaluateJob
from nlobayes.types import Dataset

Scores = dict[str, Any]


def score_classes(groups: Groups, data: Dataset, job: EvaluateJob) -> Scores:
    """Score every split, the MAPs as an ensemble with the accuracy of each, and the calibration."""
    posterior, members = (
        read_predicted(groups[name]).function for name in ("predictions", "baseline")
    )
    each = (predicted_of(member[np.newaxis], data, TEST) for member in members)
    accuracies = [float(np.mean(correct(one, data, TEST))) for one in each]
    tested = predicted_of(posterior, data, TEST)
    limit, rng = job.calibration.coverage, np.random.default_rng(job.seed)
    return {
        **_every_split(posterior, data),
        "baseline": {**_every_split(members, data), "members": {"accuracy_test": accuracies}},
        "calibration_checks": check(
            tested.confidence, correct(tested, data, TEST), rng, ece_tolerance=limit
        ),
    }


def predicted_of(probabilities: np.ndarray, data: Dataset, split: int) -> ClassPrediction:
    """Take what draws (draw, point, class) together say of the points of one split."""
    return predict_classes(probabilities[:, data.split == split])


def correct(predicted: ClassPrediction, data: Dataset, split: int) -> np.ndarray:
    """Tell at which points of a split the most probable class is true."""
    return predicted.predicted == checked_labels(predicted, data.target[data.split == split])


def _every_split(probabilities: np.ndarray, data: Dataset) -> Scores:
    return {
        name: _scores(predicted_of(probabilities, data, split), data.target[data.split == split])
        for split, name in enumerate(SPLITS)
    }


def _scores(predicted: ClassPrediction, labels: np.ndarray) -> Scores:
    """Score one split; what has no value is None, and `undefined` says why."""
    scores = classification_scores(predicted, labels)
    undefined = {name: score for name, score in scores.items() if isinstance(score, str)}
    return {**scores, **dict.fromkeys(undefined), "undefined": undefined}
