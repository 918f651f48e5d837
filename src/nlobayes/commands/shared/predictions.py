"""What several verbs take from predictions and their dataset."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from nlobayes.artifacts.netcdf import Groups, read_attrs, read_groups
from nlobayes.artifacts.predicted import read_plane, read_predicted
from nlobayes.commands.shared import covariates
from nlobayes.errors import InputError
from nlobayes.evaluation.tables import predictions as tables
from nlobayes.evaluation.tasks.task import Choices, Given
from nlobayes.study.presets import CalibrationTolerances
from nlobayes.types import Columns, Dataset


def read_given(predictions: Path, dataset: Path, data: Dataset, column: str) -> Given:
    """Read what was predicted, of this dataset and no other, and the column to show it along.

    Raises
    ------
    InputError
        If the predictions are of another dataset, or it has no such column.
    """
    groups = read_groups(predictions, "predictions")
    check_same_points(groups["points"], data, predictions, dataset)
    return Given(
        data=data,
        covariate=covariates.of(data, column).values,
        posterior=read_predicted(groups["predictions"]),
        baseline=read_predicted(groups["baseline"]),
        chains=groups["predictions"].sizes["chain"],
        sizes=_sizes(groups),
        plane=read_plane(groups),
        approximate=_is_approximate(read_attrs(predictions)),
    )


def _is_approximate(made: Mapping[str, Any]) -> bool:
    """Recognise draws of an approximation: they are not exact, and no check of chains applies."""
    return not made.get("exact", True) and not made.get("checks")


def _sizes(groups: Groups) -> dict[str, np.ndarray]:
    """Take the sizes of the network of each draw, chain after chain, where they are drawn."""
    if "sizes" not in groups:
        return {}
    return {str(name): values.values.ravel() for name, values in groups["sizes"].items()}


def choices(
    seed: int,
    limits: CalibrationTolerances,
    noise: str = "auto",
    image: tuple[int, int] | None = None,
    cases: tuple[int, ...] = (),
) -> Choices:
    """Take how to score, and what to show, from the specification of a job."""
    return Choices(seed, limits.coverage, limits.chi2, noise, image, cases=cases)


def check_same_points(points: xr.Dataset, data: Dataset, predicted: Path, dataset: Path) -> None:
    """Check that predictions are of this dataset.

    Raises
    ------
    InputError
        If targets or splits differ.
    """
    for name in ("observed", "split"):
        if not np.array_equal(points[name].values, getattr(data, name)):
            raise InputError(
                "commands.other_dataset_predicted", predictions=predicted, dataset=dataset
            )


def labels(data: Dataset, covariate: str) -> Columns:
    """Name covariate and target, for the axes of figures."""
    name, scale = data.target_names[0], data.transforms["target"]["scale"]
    unit = data.units.get(name, "")
    return tables.labels(covariate=covariate, target=name, unit=unit, scale=scale)
