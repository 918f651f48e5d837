"""Storage of datasets, MAPs, surrogates and earlier data as NetCDF groups.

Module `predicted` does the same for predictions.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import xarray as xr

from nlobayes.artifacts.netcdf import Artifact, Groups, explain, open_artifact, write_groups
from nlobayes.artifacts.surrogate_file import HELD_OUT, ROWS, noise_group
from nlobayes.stage_files import File
from nlobayes.types import (
    Dataset,
    EarlierData,
    MAPEstimate,
    NamedArrays,
    RowGroups,
    SurrogateContent,
)
from nlobayes.untyped import Document, Facts

Attrs = Facts

ROW_FACTS = ("scale_uncertainty", "error", "relative_to")
"""Optional columns of a dataset, with one entry for each row, and their names in its file."""


def write_dataset(path: Path, dataset: Dataset, attrs: Attrs) -> None:
    """Write a dataset."""
    names = {"input": list(dataset.input_names), "feature": list(dataset.feature_names)}
    groups = {
        "inputs": _group({"inputs": (("point", "input"), dataset.inputs)}, names, "input"),
        "network": _group(
            {
                "features": (("point", "feature"), dataset.features),
                "target": (point_dims(dataset.target), dataset.target),
            },
            names,
            "feature",
        ),
        "observed": _observed(dataset),
        "rows": _rows(dataset),
    }
    content: Document = {"transforms": dataset.transforms, "units": dataset.units}
    if dataset.groups is not None:
        content["groups"] = {"column": dataset.groups.column, "labels": [*dataset.groups.labels]}
    write_groups(
        path, "dataset", groups, {**attrs, **content, "targets": list(dataset.target_names)}
    )


def read_dataset(path: Path) -> Dataset:
    """Read a dataset."""
    return dataset_of(open_artifact(path, "dataset"))


def dataset_of(artifact: Artifact) -> Dataset:
    """Return the dataset of a file that was opened as one."""
    groups, attrs = artifact.groups, artifact.attrs
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
        target_names=tuple(attrs["targets"]),
        transforms=attrs["transforms"],
        units=attrs["units"],
        **{name: observed[name].values for name in ROW_FACTS if name in observed},
        groups=_groups(groups["rows"], attrs),
    )


DatasetFile = Annotated[Dataset, File(dataset_of, write_dataset, kind="dataset")]


def statement_of(attrs: Attrs) -> Document:
    """Select the metadata of the table from the attributes of a dataset or a posterior."""
    return {"table_metadata": attrs.get("table_metadata", {})}


def _rows(dataset: Dataset) -> xr.Dataset:
    rows: Document = {
        "split": (("point",), dataset.split, {"flags": "0 train, 1 val, 2 test"}),
        "reference": (("reference_point",), dataset.reference),
    }
    if dataset.groups is not None:
        rows["group"] = (("point",), dataset.groups.codes)
    return xr.Dataset(rows)


def _groups(rows: xr.Dataset, attrs: Attrs) -> RowGroups | None:
    if "group" not in rows:
        return None
    named = attrs["groups"]
    return RowGroups(named["column"], tuple(named["labels"]), rows["group"].values)


def _observed(dataset: Dataset) -> xr.Dataset:
    columns = {name: getattr(dataset, name) for name in ("observed", *ROW_FACTS)}
    return xr.Dataset(
        {n: (point_dims(column), column) for n, column in columns.items() if column is not None}
    )


def point_dims(values: np.ndarray) -> tuple[str, ...]:
    """Name the axes of an array with one value, or several outputs, for every point."""
    return ("point", "output")[: values.ndim]


def write_map(path: Path, start: MAPEstimate, attrs: Attrs) -> None:
    """Write the MAP of one chain."""
    groups = {
        "posterior": named_group(start.variables, ()),
        "state": xr.Dataset({"position": (("parameter",), start.position)}),
        "history": xr.Dataset(
            {  # the longest array first: the arrays after it reveal a lost end of the file
                "path": (("snapshot", "parameter"), start.path),
                "path_epoch": (("snapshot",), start.path_epochs),
                "loss": (("epoch",), start.loss),
                "validation_rmse": (("epoch",), start.validation_rmse),
            }
        ),
    }
    write_groups(path, "start", groups, {**attrs, "chain": start.chain})


def read_map(path: Path) -> MAPEstimate:
    """Read the MAP of one chain."""
    return map_of(open_artifact(path, "start"))


def map_of(artifact: Artifact) -> MAPEstimate:
    """Return the MAP of a file that was opened as one."""
    groups, history = artifact.groups, artifact.groups["history"]
    return MAPEstimate(
        chain=int(artifact.attrs["chain"]),
        position=groups["state"]["position"].values,
        variables=_unname(groups["posterior"], ()),
        loss=history["loss"].values,
        validation_rmse=history["validation_rmse"].values,
        path_epochs=history["path_epoch"].values,
        path=history["path"].values,
    )


StartFile = Annotated[MAPEstimate, File(map_of, write_map, kind="start")]


def observed_groups(dataset: Dataset, rows: np.ndarray) -> Groups:
    """Return the data that a posterior was conditioned on, with errors in units of the network."""
    names = {"feature": list(dataset.feature_names)}
    target = dataset.target[rows]
    observed = {"target": (point_dims(target), target)}
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
            names | {"reference_point": dataset.reference.tolist()},
            *("feature", "reference_point"),
        ),
    }


def posterior_groups(draws: Groups, dataset: Dataset) -> Groups:
    """Add to draws the rows of f and the train rows, and explain what their variables are."""
    f = draws["predictions"].assign_coords(reference_point=dataset.reference)
    groups = draws | observed_groups(dataset, dataset.split == 0) | {"predictions": f}
    return {name: explain(group) for name, group in groups.items()}


def read_variables(group: xr.Dataset) -> NamedArrays:
    """Read the weights and noise of a posterior group by name, with axes (chain, draw, ...)."""
    return _unname(group, ("chain", "draw"))


def write_surrogate(path: Path, exported: SurrogateContent, dataset: Dataset, attrs: Attrs) -> None:
    """Write a surrogate; `surrogate_file` reads it."""
    drawn = {
        name: (("draw", *(f"{name}_{axis}" for axis in range(values.ndim - 1))), values)
        for name, values in exported.variables.items()
    }
    of_row = {"features": "feature", "target": "output", "error": "output"}
    rows = {n: (("row", of_row[n])[: v.ndim], v) for n, v in exported.rows.items()}
    held_out = {name: (("row",), values) for name, values in exported.held_out.items()}
    inputs = {"input": exported.facts["columns"], "bound": ["smallest", "largest"]}
    names = {**inputs, "feature": list(dataset.feature_names)}
    domain = {
        "features": (("row", "feature"), exported.features),
        "spacing": (("row",), exported.spacing),
        "limits": (("input", "bound"), exported.limits),
        "typical": (("input",), exported.typical),
    }
    noises = {
        noise_group(place): xr.Dataset(
            {
                "residual": (("node",), table.residual),
                "probability": (("bin", "node"), table.probability),
            }
        )
        for place, table in enumerate(exported.noises)
    }
    groups = {
        "posterior": explain(xr.Dataset(drawn)),
        **({ROWS: xr.Dataset(rows)} if rows else {}),
        **({HELD_OUT: xr.Dataset(held_out)} if held_out else {}),
        **noises,
        "domain": xr.Dataset(domain, names),
    }
    write_groups(path, "surrogate", groups, {**exported.facts, **attrs})


SurrogateFile = Annotated[
    tuple[SurrogateContent, Dataset],
    File(
        write=lambda path, made, origin: write_surrogate(path, *made, origin),
        kind="surrogate",
        recorded=True,
    ),
]
"""A surrogate, and the dataset whose features it names."""


def write_earlier(path: Path, earlier: EarlierData, attrs: Attrs) -> None:
    """Write the Gaussian summary of f from earlier data."""
    names = {"input": list(earlier.input_names)}
    points: Document = {"inputs": (("point", "input"), earlier.inputs)}
    if earlier.reference is not None:
        points["reference"] = (("point",), earlier.reference)
    groups = {
        "points": _group(points, names, "input"),
        "site": xr.Dataset(
            {
                "root": (("combination", "point"), earlier.root),
                "observed": (("combination",), earlier.observed),
            }
        ),
    }
    facts = {name: getattr(earlier, name) for name in ("target", "units", "scale")}
    if earlier.relative_to is not None:
        facts["relative_to"] = earlier.relative_to
    write_groups(path, "earlier", groups, {**attrs, **facts})


def read_earlier(path: Path) -> EarlierData:
    """Read the Gaussian summary of f from earlier data."""
    _, groups, attrs, _ = open_artifact(path, "earlier")
    points = groups["points"]
    return EarlierData(
        inputs=points["inputs"].values,
        root=groups["site"]["root"].values,
        observed=groups["site"]["observed"].values,
        input_names=tuple(map(str, points["input"].values)),
        **{name: attrs[name] for name in ("target", "units", "scale")},
        relative_to=attrs.get("relative_to"),
        reference=points["reference"].values if "reference" in points else None,
    )


def named_group(
    named: NamedArrays, leading: tuple[str, ...], coords: Facts | None = None
) -> xr.Dataset:
    """Label arrays with the leading dims, followed by the dims of each array."""
    dims = {name: (*leading, *trailing) for name, trailing in named.dims.items()}
    used = {dim for name in named.values for dim in dims[name]}
    labels = {dim: list(label) for dim, label in named.coords.items() if dim in used}
    variables = {name: (dims[name], values) for name, values in named.values.items()}
    return xr.Dataset(variables, {**labels, **(coords or {})})


def _group(variables: Document, names: dict[str, list[Any]], *dims: str) -> xr.Dataset:
    return xr.Dataset(variables, {dim: names[dim] for dim in dims})


def _unname(group: xr.Dataset, leading: tuple[str, ...]) -> NamedArrays:
    names = [str(name) for name in group.data_vars]
    return NamedArrays(
        {name: group[name].values for name in names},
        {name: tuple(map(str, group[name].dims[len(leading) :])) for name in names},
        {str(dim): group[dim].values for dim in group.coords if dim not in leading},
    )
