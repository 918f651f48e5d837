"""Values to groups and back: the one place that knows the group, name and dims of everything."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from nlobayes.artifacts.netcdf import Groups, read_attrs, read_groups, write_groups
from nlobayes.types import Dataset, Exported, Named, Start

Attrs = Mapping[str, Any]

ROW_FACTS = ("scale_uncertainty", "error")
"""What is known of the target of each row, where it is: names of a dataset and of its file."""


def write_dataset(path: Path, dataset: Dataset, attrs: Attrs) -> None:
    """Write a dataset."""
    names = {
        "input": list(dataset.input_names),
        "feature": list(dataset.feature_names),
    }
    groups = {
        "inputs": _group({"inputs": (("point", "input"), dataset.inputs)}, names, "input"),
        "network": _group(
            {
                "features": (("point", "feature"), dataset.features),
                "target": (("point",), dataset.target),
            },
            names,
            "feature",
        ),
        "observed": _observed(dataset),
        "rows": xr.Dataset(
            {
                "split": (("point",), dataset.split, {"flags": "0 train, 1 val, 2 test"}),
                "reference": (("reference_point",), dataset.reference),
            }
        ),
    }
    content = {"transforms": dataset.transforms, "units": dataset.units}
    write_groups(path, "dataset", groups, {**attrs, **content, "target": dataset.target_name})


def read_dataset(path: Path) -> Dataset:
    """Read a dataset."""
    groups, attrs = read_groups(path, "dataset"), read_attrs(path)
    network, observed = groups["network"], groups["observed"]
    return Dataset(
        inputs=groups["inputs"]["inputs"].values,
        features=network["features"].values,
        target=network["target"].values,
        observed=observed["observed"].values,
        split=groups["rows"]["split"].values,
        reference=groups["rows"]["reference"].values,
        input_names=tuple(map(str, groups["inputs"]["input"].values)),
        feature_names=tuple(map(str, network["feature"].values)),
        target_name=attrs["target"],
        transforms=attrs["transforms"],
        units=attrs["units"],
        **{name: observed[name].values for name in ROW_FACTS if name in observed},
    )


def _observed(dataset: Dataset) -> xr.Dataset:
    columns = {name: getattr(dataset, name) for name in ("observed", *ROW_FACTS)}
    return xr.Dataset(
        {n: (("point",), column) for n, column in columns.items() if column is not None}
    )


def write_start(path: Path, start: Start, attrs: Attrs) -> None:
    """Write the MAP of one chain."""
    groups = {
        "posterior": named_group(start.variables, ()),
        "state": xr.Dataset({"position": (("parameter",), start.position)}),
        "history": xr.Dataset(
            {  # the longest first: only what lies behind it tells that the end of a file is lost
                "path": (("snapshot", "parameter"), start.path),
                "path_epoch": (("snapshot",), start.path_epochs),
                "loss": (("epoch",), start.loss),
                "validation_rmse": (("epoch",), start.validation_rmse),
            }
        ),
    }
    write_groups(path, "start", groups, {**attrs, "chain": start.chain})


def read_start(path: Path) -> Start:
    """Read the MAP of one chain."""
    groups, attrs = read_groups(path, "start"), read_attrs(path)
    history = groups["history"]
    return Start(
        chain=int(attrs["chain"]),
        position=groups["state"]["position"].values,
        variables=_unname(groups["posterior"], ()),
        loss=history["loss"].values,
        validation_rmse=history["validation_rmse"].values,
        path_epochs=history["path_epoch"].values,
        path=history["path"].values,
    )


def observed_groups(dataset: Dataset, rows: np.ndarray) -> Groups:
    """Give the data that a posterior was conditioned on, errors in units of the network."""
    names = {"feature": list(dataset.feature_names)}
    observed = {"target": (("point",), dataset.target[rows])}
    if dataset.error is not None:
        error = dataset.error[rows] / dataset.transforms["target"]["sd"]
        observed["error"] = (("point",), error)
    return {
        "observed_data": xr.Dataset(observed),
        "constant_data": _group(
            {"features": (("point", "feature"), dataset.features[rows])}, names, "feature"
        ),
        "predictions_constant_data": _group(
            {"features": (("reference_point", "feature"), dataset.features[dataset.reference])},
            names,
            "feature",
        ),
    }


def read_variables(group: xr.Dataset) -> Named:
    """Take the named weights and noise of a posterior group, each with axes (chain, draw, ...)."""
    return _unname(group, ("chain", "draw"))


def predictions_groups(
    functions: np.ndarray, baseline: np.ndarray, dataset: Dataset, draws: xr.Dataset
) -> Groups:
    """Label predictions (chain, draw, point) and those of the baseline (member, point)."""
    coords = {"chain": draws["chain"].values, "draw": draws["draw"].values}
    return {
        "predictions": xr.Dataset({"f": (("chain", "draw", "point"), functions)}, coords),
        "baseline": xr.Dataset({"f": (("member", "point"), baseline)}),
        "points": xr.Dataset(
            {"observed": (("point",), dataset.observed), "split": (("point",), dataset.split)}
        ),
    }


def write_surrogate(path: Path, exported: Exported, dataset: Dataset, attrs: Attrs) -> None:
    """Write a surrogate; `surrogate_file` reads it."""
    drawn = {
        name: (("draw", *(f"{name}_{axis}" for axis in range(values.ndim - 1))), values)
        for name, values in exported.variables.items()
    }
    inputs = {"input": list(dataset.input_names), "bound": ["smallest", "largest"]}
    names = {**inputs, "feature": list(dataset.feature_names)}
    domain = {
        "features": (("row", "feature"), exported.features),
        "limits": (("input", "bound"), exported.limits),
        "typical": (("input",), exported.typical),
    }
    noise = {
        "residual": (("node",), exported.residual),
        "probability": (("node",), exported.probability),
    }
    groups = {
        "posterior": xr.Dataset(drawn),
        "noise": xr.Dataset(noise),
        "domain": xr.Dataset(domain, names),
    }
    write_groups(path, "surrogate", groups, {**exported.facts, **attrs})


def named_group(
    named: Named, leading: tuple[str, ...], coords: Mapping[str, Any] | None = None
) -> xr.Dataset:
    """Label arrays with the leading dims before their own."""
    dims = {name: (*leading, *own) for name, own in named.dims.items()}
    used = {dim for name in named.values for dim in dims[name]}
    labels = {dim: list(label) for dim, label in named.coords.items() if dim in used}
    variables = {name: (dims[name], values) for name, values in named.values.items()}
    return xr.Dataset(variables, {**labels, **(coords or {})})


def _group(variables: dict[str, Any], names: dict[str, list[str]], dim: str) -> xr.Dataset:
    return xr.Dataset(variables, {dim: names[dim]})


def _unname(group: xr.Dataset, leading: tuple[str, ...]) -> Named:
    names = [str(name) for name in group.data_vars]
    return Named(
        {name: group[name].values for name in names},
        {name: tuple(map(str, group[name].dims[len(leading) :])) for name in names},
        {str(dim): group[dim].values for dim in group.coords if dim not in leading},
    )
