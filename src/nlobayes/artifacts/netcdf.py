"""NetCDF4 files of groups: equal content gives equal bytes, and reading checks the kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import netCDF4
import xarray as xr

from nlobayes.artifacts.files import write_atomically
from nlobayes.artifacts.places import damaged, remedy, stated_place
from nlobayes.artifacts.plain_hdf5 import open_plain
from nlobayes.artifacts.schemas import SCHEMAS, decode, encode
from nlobayes.artifacts.seals import check_seal, seal
from nlobayes.errors import InputError
from nlobayes.stage_files import File
from nlobayes.untyped import Document, Facts

Groups = dict[str, xr.Dataset]


class Artifact(NamedTuple):
    """An artifact that was read and checked once."""

    path: Path
    groups: Groups
    """Its groups by name, in memory."""
    attrs: Document
    """Attributes of the file, with JSON decoded."""
    sha256: str
    """SHA-256 of the bytes that were read."""


MEANINGS = {
    "lp": "log density of the posterior, up to a constant",
    "log_approximation": "log density of the approximation that the draw is from",
    "energy": "minus the log density of position and momentum",
    "acceptance_rate": "mean probability of accepting a proposal",
    "diverging": "whether the step diverged",
    "n_steps": "gradients of the log density in this step",
    "tree_depth": "doublings of the trajectory; 0 without a tree",
    "step_size": "step size of the integrator",
    "noise": "sd of the likelihood's noise, on the scale that the network learns",
    "f": "output of the network at the reference points, on the scale that it learns",
    "target": "target of the network, on the scale that it learns",
    "error": "standard error of the target, on the scale that the network learns",
    "features": "inputs of the network",
}
LAYERS = {
    "weights": "weights from layer {before} (first axis of the matrix) to layer {layer}",
    "biases": "biases of layer {layer}",
}
PARAMETERS = re.compile(r"(weights|biases)_(\d+)")
"""Meanings of variables of posteriors and surrogates, which NetCDF readers show."""

OWN = ("kind", "place")
"""Attributes of the file itself, which are never copied from another file."""


def write_groups(path: Path, kind: str, groups: Groups, attrs: Facts) -> None:
    """Write the groups of one artifact; attributes that are not text or numbers become JSON.

    A result also gets the attribute `place`.
    """
    check_groups(groups, kind, attrs.get("form"), path)
    stated = {"kind": kind, **stated_place(path)}
    copied = {name: encode(value) for name, value in sorted(attrs.items()) if name not in OWN}
    root = xr.Dataset(attrs={**stated, **copied})

    def write(temporary: Path) -> None:
        try:
            root.to_netcdf(temporary, engine="netcdf4", format="NETCDF4")
            for name, group in groups.items():
                plain = {variable: {"_FillValue": None} for variable in group.variables}
                group.to_netcdf(temporary, mode="a", group=name, engine="netcdf4", encoding=plain)
        except RuntimeError as error:  # the NetCDF library reports a full disk so
            raise OSError(str(error)) from error
        seal(temporary)

    write_atomically(path, write)


def open_artifact(
    path: Path, kind: str | None = None, only: Collection[str] | None = None
) -> Artifact:
    """Read an artifact into memory: its attributes, and all groups or `only` those of these names.

    Without a `kind` any kind is read, and required groups and variables are not checked.

    Raises InputError if the file is missing, unreadable, not what was written, or not of this kind.
    """
    sha256 = check_seal(path)
    with open_plain(path):
        pass  # xarray opens it again, once all of it is known to be plain
    try:
        with netCDF4.Dataset(path) as file:
            file.set_auto_maskandscale(False)
            attrs = {name: decode(value) for name, value in file.__dict__.items()}
            names = [name for name in file.groups if only is None or name in only]
            groups = {name: _read(file.groups[name]) for name in names}
    except (OSError, RuntimeError, ValueError) as error:
        raise InputError(
            "artifacts.not_netcdf", path=path, reason=str(error), remedy=remedy(path)
        ) from error
    if kind is not None:
        if attrs.get("kind") != kind:
            raise InputError("artifacts.other_kind", path=path, found=attrs.get("kind"), kind=kind)
        check_groups(groups, kind, attrs.get("form"), path, only)
    return Artifact(path, groups, attrs, sha256)


def read_attrs(path: Path) -> Document:
    """Read the attributes of an artifact alone; errors as in `open_artifact`."""
    return open_artifact(path, only=()).attrs


def groups_file(kind: str) -> File:
    """Describe the files of a kind as what a stage reads and writes."""
    return File(
        lambda artifact: artifact.groups,
        lambda path, groups, origin: write_groups(path, kind, groups, origin),
        kind=kind,
    )


def artifact_file(kind: str) -> File:
    """Describe the files of a kind as what a stage reads with their names and digests."""
    return File(lambda artifact: artifact, kind=kind)


OpenerFile = Annotated[Callable[..., Artifact], File(lambda path: partial(open_artifact, path))]
"""A file of chains, which a stage opens itself, in parts: those of a run together are too large."""
SegmentFile = Annotated[Artifact, artifact_file("segment")]
PosteriorFile = Annotated[Groups, groups_file("posterior")]
ThinnedFile = Annotated[Groups, groups_file("thinned")]
RivalFile = Annotated[Groups, groups_file("rival")]


def _read(group: netCDF4.Group) -> xr.Dataset:
    """Read a group with the stored values unchanged, whatever the attributes of a variable."""
    stored = {
        name: (
            values.dimensions,
            values[...].astype(str) if values.dtype is str else values[...],
            {attribute: values.getncattr(attribute) for attribute in values.ncattrs()},
        )
        for name, values in group.variables.items()
    }
    plain = xr.Dataset(stored, attrs={name: group.getncattr(name) for name in group.ncattrs()})
    return xr.decode_cf(plain, mask_and_scale=False, decode_times=False).load()


def check_groups(
    groups: Groups, kind: str, form: Any, path: Path, only: Collection[str] | None = None
) -> None:
    """Check that the groups, or `only` those of these names, are those of a kind of artifact.

    Raises InputError if a group or a variable is missing, or has other dims.
    """
    schema = SCHEMAS.get(f"{kind}/{form}") if form else SCHEMAS[kind]
    if schema is None:
        raise damaged("artifacts.no_form", path, kind=kind, form=form)
    for group, variables in schema.items():
        if only is not None and group not in only:
            continue
        if group not in groups:
            raise damaged("artifacts.no_group", path, group=group, kind=kind, groups=[*schema])
        for name, dims in variables.items():
            place, found = f"{group}/{name}", groups[group].variables.get(name)
            if found is None:
                raise damaged("artifacts.no_variable", path, variable=place)
            if found.dims not in (dims, (*dims, "output")):
                raise damaged(
                    "artifacts.other_dims", path, variable=place, found=found.dims, dims=dims
                )


def explain(group: xr.Dataset) -> xr.Dataset:
    """Add a long name and the unit 1 to every variable with a known meaning."""
    meanings = {name: meaning for name in group.data_vars if (meaning := _meaning(str(name)))}
    added = {name: {"long_name": text, "units": "1"} for name, text in meanings.items()}
    return group.assign({name: group[name].assign_attrs(attrs) for name, attrs in added.items()})


def _meaning(name: str) -> str | None:
    if match := PARAMETERS.fullmatch(name):
        layer = int(match[2])
        return LAYERS[match[1]].format(before=layer - 1, layer=layer)
    return MEANINGS.get(name)
