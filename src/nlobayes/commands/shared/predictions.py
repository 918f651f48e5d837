"""Reading predictions and their dataset for scores and tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from nlobayes.artifacts.netcdf import Artifact, Groups
from nlobayes.artifacts.predicted import read_plane, read_predicted
from nlobayes.commands.shared import covariates
from nlobayes.errors import InputError
from nlobayes.evaluation.tables import predictions as tables
from nlobayes.evaluation.tasks.task import Choices, Given
from nlobayes.study.presets import CalibrationTolerances
from nlobayes.types import Columns, Dataset


def read_given(predicted: Artifact, dataset: Path, data: Dataset, column: str) -> Given:
    """Take predictions of this dataset, and the column along which to show them.

    Raises
    ------
    InputError
        If the predictions are of another dataset, or the dataset has no such column.
    """
    groups = predicted.groups
    check_same_points(groups["points"], data, predicted.path, dataset)
    return Given(
        data=data,
        covariate=covariates.of(data, column).values,
        posterior=read_predicted(groups["predictions"]),
        baseline=read_predicted(groups["baseline"]),
        chains=groups["predictions"].sizes["chain"],
        sizes=_sizes(groups),
        plane=read_plane(groups),
        approximate=_is_approximate(predicted.attrs),
    )


def _is_approximate(made: Mapping[str, Any]) -> bool:
    """Return whether draws are approximate: neither exact nor with checks of convergence."""
    return not made.get("exact", True) and not made.get("checks")


def _sizes(groups: Groups) -> dict[str, np.ndarray]:
    """Return the network sizes of the draws, chain after chain; empty if the size is fixed."""
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
    """Make the settings of scores and tables from the specification of a job."""
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
    """Return the labels of covariate and target for the axes of figures."""
    name, scale = data.target_names[0], data.transforms["target"]["scale"]
    unit = data.units.get(name, "")
    return tables.labels(covariate=covariate, target=name, unit=unit, scale=scale)
