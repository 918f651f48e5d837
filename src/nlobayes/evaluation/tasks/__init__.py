"""The tasks, regression and classification, each with its scores, baselines, checks and tables.

The modules take and return arrays and values; they do not access files.
"""

from __future__ import annotations

import numpy as np

from nlobayes.diagnostics import covariates
from nlobayes.errors import InputError
from nlobayes.evaluation.tasks import classification, regression
from nlobayes.evaluation.tasks.task import ScoringData, Task
from nlobayes.types import Dataset, Predictions
from nlobayes.untyped import Facts

TASKS: tuple[Task, ...] = (regression, classification)


def task_of(data: Dataset) -> Task:
    """Find the task of a dataset by the scale of its target.

    Raises InputError if no task has this scale.
    """
    scale = data.target_scale
    for task in TASKS:
        if scale in task.SCALES:
            return task
    known = [scale for task in TASKS for scale in task.SCALES]
    raise InputError("evaluation.no_task", scale=scale, known=known)


def scoring_data(
    predictions: Predictions, facts: Facts, data: Dataset, covariate: str
) -> ScoringData:
    """Take predictions of a dataset with the facts of their file, and name its covariate.

    Draws are approximate that are neither exact nor have checks of convergence.

    Raises InputError if the predictions are of another dataset, or the dataset has no such column.
    """
    check_same_points(predictions.observed, predictions.split, data, "predictions")
    return ScoringData(
        data=data,
        covariate=covariates.covariate_of(data, covariate).values,
        posterior=predictions.posterior,
        baseline=predictions.baseline,
        chains=len(predictions.chains),
        sizes={name: drawn.ravel() for name, drawn in predictions.sizes.items()},
        plane=predictions.plane,
        approximate=not facts.get("exact", True) and not facts.get("checks"),
    )


def check_same_points(observed: np.ndarray, split: np.ndarray, data: Dataset, where: str) -> None:
    """Check that predictions, which are from `where`, are of this dataset.

    Raises InputError if targets or splits differ.
    """
    if not (np.array_equal(observed, data.observed) and np.array_equal(split, data.split)):
        raise InputError("commands.other_dataset_predicted", predictions=where, dataset="dataset")
