"""Storage of the predictions of posteriors, their baselines and rivals as NetCDF groups."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import xarray as xr

from nlobayes.artifacts.contents import Attrs, point_dims
from nlobayes.artifacts.netcdf import Artifact, Groups, write_groups
from nlobayes.stage_files import File
from nlobayes.types import Dataset, Plane, PredictedDraws, Predictions, RivalPrediction

PREDICTED = ("point", "output")
"""Dims of a prediction, after those of the draws."""


def predictions_groups(predictions: Predictions) -> Groups:
    """Label the predictions of a posterior and of its baseline."""
    posterior, baseline, observed, split, chains, draws, sizes, plane = predictions
    samples = {"chain": chains, "draw": draws}
    numbers = {name: ([*samples], values) for name, values in sizes.items()}
    return {
        **({} if plane is None else {"plane": _plane(plane)}),
        "predictions": _predicted(posterior, samples),
        "baseline": _predicted(baseline, {"member": np.arange(len(baseline.function))}),
        "points": _points(observed, split),
        **({"sizes": xr.Dataset(numbers, samples)} if sizes else {}),
    }


def write_predictions(path: Path, predictions: Predictions, attrs: Attrs) -> None:
    """Write predictions of a posterior and of its baseline."""
    write_groups(path, "predictions", predictions_groups(predictions), attrs)


def predictions_of(artifact: Artifact) -> Predictions:
    """Return the predictions of a file that was opened as such."""
    groups = artifact.groups
    drawn, points = groups["predictions"], groups["points"]
    return Predictions(
        read_predicted(drawn),
        read_predicted(groups["baseline"]),
        points["observed"].values,
        points["split"].values,
        drawn["chain"].values,
        drawn["draw"].values,
        {str(name): drawn.values for name, drawn in groups.get("sizes", xr.Dataset()).items()},
        _read_plane(groups["plane"]) if "plane" in groups else None,
    )


PredictionsFile = Annotated[
    Predictions, File(predictions_of, write_predictions, kind="predictions")
]


def _plane(plane: Plane) -> xr.Dataset:
    values = {
        "inputs": (("grid_point", "input"), plane.inputs),
        "probability": (("grid_point", "output"), plane.probability),
        "expected_entropy": (("grid_point",), plane.expected_entropy),
    }
    return xr.Dataset(values, {"input": list(plane.names)})


def _read_plane(group: xr.Dataset) -> Plane:
    names = tuple(map(str, group["input"].values))
    arrays = {name: group[name].values for name in Plane._fields if name in group}
    return Plane(**arrays, names=names)


def _points(observed: np.ndarray, split: np.ndarray) -> xr.Dataset:
    """Label target and split of the points, which identify the dataset of predictions."""
    return xr.Dataset({"observed": (point_dims(observed), observed), "split": (("point",), split)})


def rival_groups(rival: RivalPrediction, dataset: Dataset) -> Groups:
    """Label the predictions of a rival; those of a missing library are left out."""
    points = {"points": _points(dataset.observed, dataset.split)}
    if rival.missing is not None:
        return points
    sd = {} if rival.sd is None else {"sd": (("point",), rival.sd)}
    return points | {"predictions": xr.Dataset({"f": (("draw", "point"), rival.function), **sd})}


class NamedRival(NamedTuple):
    """The predictions of a rival, its name, and target and split of the points."""

    name: str
    prediction: RivalPrediction
    observed: np.ndarray
    split: np.ndarray


def rival_of(artifact: Artifact) -> NamedRival:
    """Return the predictions of a rival from a file of its name."""
    groups, attrs, points = artifact.groups, artifact.attrs, artifact.groups["points"]
    if "predictions" in groups:
        found = groups["predictions"]
        sd = found["sd"].values if "sd" in found else None
        prediction = RivalPrediction(found["f"].values, sd, attrs["facts"])
    else:
        nothing = np.empty((0, points.sizes["point"]))
        prediction = RivalPrediction(nothing, None, {}, str(attrs["missing"]))
    return NamedRival(
        artifact.path.stem, prediction, points["observed"].values, points["split"].values
    )


NamedRivalFile = Annotated[NamedRival, File(rival_of, kind="rival")]


def read_predicted(group: xr.Dataset) -> PredictedDraws:
    """Read the predictions of draws, with the chains one after the other."""
    trailing = [dim for dim in PREDICTED if dim in group["f"].dims]
    arrays = {str(name): _one_after_the_other(values, trailing) for name, values in group.items()}
    return PredictedDraws(function=arrays.pop("f"), family=group.attrs.get("family"), **arrays)


def _predicted(predicted: PredictedDraws, samples: Mapping[str, np.ndarray]) -> xr.Dataset:
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
    return np.expand_dims(flat, tuple(missing))
