"""What several verbs take from predictions and their dataset."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import xarray as xr

from nlobayes.artifacts.netcdf import Groups
from nlobayes.data.splits import TRAIN
from nlobayes.data.transforms import TargetTransform, apply_scale
from nlobayes.errors import InputError
from nlobayes.evaluation.calibration.conditional import distance_to_training
from nlobayes.evaluation.tables import predictions as tables
from nlobayes.evaluation.tables.predictions import Rows
from nlobayes.study.presets import CalibrationTolerances
from nlobayes.types import Columns, Dataset


def draws_of(groups: Groups) -> np.ndarray:
    """Take predictions (draw, point) of all chains."""
    draws = groups["predictions"]["f"].values
    return draws.reshape(-1, draws.shape[-1]).astype(np.float64)


def rows_of(data: Dataset, target: TargetTransform, covariate: np.ndarray) -> Rows:
    """Take what is known of every point, the target on the model scale."""
    return Rows(
        split=data.split,
        observed=apply_scale(target, data.observed),
        covariate=covariate,
        distance=distance_to_training(data.features, data.features[data.split == TRAIN]),
        scale_uncertainty=data.scale_uncertainty,
    )


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
                f"{predicted} predicts another dataset than {dataset}; predict it anew"
            )


def calibration_checks(predicted: Columns, limits: CalibrationTolerances) -> Columns:
    """Check the calibration of predictions on the test split, within tolerances."""
    tolerances = {"coverage_tolerance": limits.coverage, "chi2_tolerance": limits.chi2}
    return tables.calibration_checks(predicted, **tolerances)


def labels(data: Dataset, covariate: str) -> Columns:
    """Say what covariate and target are, for the axes of figures."""
    name, scale = data.target_names[0], data.transforms["target"]["scale"]
    unit = data.units.get(name, "")
    return tables.labels(covariate=covariate, target=name, unit=unit, scale=scale)
