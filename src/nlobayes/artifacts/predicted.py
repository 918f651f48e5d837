"""Storage of the predictions of posteriors, their baselines and rivals as NetCDF groups."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import xarray as xr

from nlobayes.artifacts.contents import point_dims
from nlobayes.artifacts.netcdf import Groups, open_artifact
from nlobayes.types import Dataset, Plane, Predicted, RivalPrediction

PREDICTED = ("point", "output")
"""Dims of a prediction, after those of the draws."""


def predictions_groups(
    posterior: Predicted,
    baseline: Predicted,
    dataset: Dataset,
    draws: xr.Dataset,
    plane: Plane | None = None,
) -> Groups:
    """Label the predictions of the draws of a posterior, chain after chain, and of its baseline.

    For classes over two inputs, `plane` has the predictions of the posterior on a grid.
    """
    chains = {dim: draws[dim].values for dim in ("chain", "draw")}
    between = {}
    if plane is not None:
        values = {
            "inputs": (("grid_point", "input"), plane.inputs),
            "probability": (("grid_point", "output"), plane.probability),
            "expected_entropy": (("grid_point",), plane.expected_entropy),
        }
        between["plane"] = xr.Dataset(values, {"input": list(dataset.input_names)})
    return {
        **between,
        "predictions": _predicted(posterior, chains),
        "baseline": _predicted(baseline, {"member": np.arange(len(baseline.function))}),
        "points": _predicted_points(dataset),
    }


def read_plane(groups: Groups) -> Plane | None:
    """Read the predictions on a grid; None if the file has none."""
    if "plane" not in groups:
        return None
    return Plane(*(groups["plane"][name].values for name in Plane._fields))


def _predicted_points(dataset: Dataset) -> xr.Dataset:
    """Return the group that identifies the dataset of predictions."""
    observed = {
        "observed": (point_dims(dataset.observed), dataset.observed),
        "split": (("point",), dataset.split),
    }
    return xr.Dataset(observed)


def rival_groups(rival: RivalPrediction, dataset: Dataset) -> Groups:
    """Label the predictions of a rival; those of a missing library are left out."""
    points = {"points": _predicted_points(dataset)}
    if rival.missing is not None:
        return points
    sd = {} if rival.sd is None else {"sd": (("point",), rival.sd)}
    return points | {"predictions": xr.Dataset({"f": (("draw", "point"), rival.function), **sd})}


def read_rival(path: Path) -> tuple[RivalPrediction, xr.Dataset]:
    """Read the predictions of a rival, and their points."""
    _, groups, attrs, _ = open_artifact(path, "rival")
    if "predictions" not in groups:
        nothing = np.empty((0, groups["points"].sizes["point"]))
        return RivalPrediction(nothing, None, {}, str(attrs["missing"])), groups["points"]
    predictions = groups["predictions"]
    sd = predictions["sd"].values if "sd" in predictions else None
    return RivalPrediction(predictions["f"].values, sd, attrs["facts"]), groups["points"]


def read_predicted(group: xr.Dataset) -> Predicted:
    """Read the predictions of draws, with the chains one after the other."""
    trailing = [dim for dim in PREDICTED if dim in group["f"].dims]
    arrays = {str(name): _one_after_the_other(values, trailing) for name, values in group.items()}
    return Predicted(function=arrays.pop("f"), family=group.attrs.get("family"), **arrays)


def _predicted(predicted: Predicted, samples: Mapping[str, np.ndarray]) -> xr.Dataset:
    """Label predictions; noise parameters have no dim along which they are constant."""
    family = {} if predicted.family is None else {"family": predicted.family}
    arrays = {
        "f": predicted.function,
        "scale": predicted.scale,
        "degrees_of_freedom": predicted.degrees_of_freedom,
    }
    ndim = predicted.function.ndim
    labelled = {
        name: _vary(np.asarray(values), samples, ndim)
        for name, values in arrays.items()
        if values is not None
    }
    return xr.Dataset(labelled, dict(samples), attrs=family)


def _vary(
    values: np.ndarray, samples: Mapping[str, np.ndarray], ndim: int
) -> tuple[list[str], np.ndarray]:
    padded = values.reshape((1,) * (ndim - values.ndim) + values.shape)
    first, *rest = padded.shape
    varies = [dim for dim, size in zip(PREDICTED, rest, strict=False) if size > 1]
    sizes = [size for size in rest if size > 1]
    if first == 1 < int(np.prod([len(labels) for labels in samples.values()])):
        return varies, padded.reshape(sizes)
    return [*samples, *varies], padded.reshape([*map(len, samples.values()), *sizes])


def _one_after_the_other(values: xr.DataArray, trailing: list[str]) -> np.ndarray:
    varies = [dim for dim in trailing if dim in values.dims]
    flat = values.values.reshape(-1, *(values.sizes[dim] for dim in varies))
    missing = [place for place, dim in enumerate(trailing, start=1) if dim not in varies]
    return np.expand_dims(flat, missing)
