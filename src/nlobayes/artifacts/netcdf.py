"""NetCDF4 files of groups: equal content gives equal bytes, and reading checks the kind."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import netCDF4
import xarray as xr

from nlobayes.artifacts.files import write_atomically
from nlobayes.artifacts.places import remedy, stated_place
from nlobayes.artifacts.plain_hdf5 import check_plain
from nlobayes.artifacts.schemas import SCHEMAS, decode, encode
from nlobayes.artifacts.seals import check_seal, seal
from nlobayes.errors import InputError
from nlobayes.types import File

Groups = dict[str, xr.Dataset]

AS_WRITTEN: dict[str, Any] = {
    "engine": "netcdf4",
    "mask_and_scale": False,
    "decode_times": False,
}
"""Options that read the stored values unchanged, whatever the attributes of a variable."""

OWN = ("kind", "place")
"""Attributes of the file itself, which are never copied from another file."""


def write_groups(path: Path, kind: str, groups: Groups, attrs: Mapping[str, Any]) -> None:
    """Write the groups of one artifact; attributes that are not text or numbers become JSON.

    A result also gets the attribute `place`.
    """
    _check(groups, kind, attrs.get("form"), path)
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


def read_groups(path: Path, kind: str) -> Groups:
    """Read all groups of an artifact into memory.

    Raises
    ------
    InputError
        If the file is missing, unreadable, not what was written, or not of this kind.
    """
    check_seal(path)
    check_plain(path)
    try:
        with netCDF4.Dataset(path) as file:
            found, form = (file.__dict__.get(name) for name in ("kind", "form"))
            names = list(file.groups)
        groups = {name: xr.load_dataset(path, group=name, **AS_WRITTEN) for name in names}
    except (OSError, RuntimeError, ValueError) as error:
        raise _not_netcdf(path, error) from error
    if found != kind:
        raise InputError("artifacts.other_kind", path=path, found=found, kind=kind)
    _check(groups, kind, form, path)
    return groups


def read_attrs(path: Path) -> dict[str, Any]:
    """Read the attributes of an artifact, with JSON decoded; errors as in `read_groups`."""
    check_seal(path)
    check_plain(path)
    try:
        with netCDF4.Dataset(path) as file:
            return {name: decode(value) for name, value in file.__dict__.items()}
    except (OSError, RuntimeError, ValueError) as error:
        raise _not_netcdf(path, error) from error


def groups_file(kind: str) -> File:
    """Describe the files of a kind as what a stage reads and writes."""
    return File(
        lambda path: read_groups(path, kind),
        lambda path, groups, origin: write_groups(path, kind, groups, origin),
    )


PosteriorFile = Annotated[Groups, groups_file("posterior")]
ThinnedFile = Annotated[Groups, groups_file("thinned")]
PredictionsFile = Annotated[Groups, groups_file("predictions")]


def _not_netcdf(path: Path, error: Exception) -> InputError:
    return InputError("artifacts.not_netcdf", path=path, reason=str(error), remedy=remedy(path))


def _check(groups: Groups, kind: str, form: Any, path: Path) -> None:
    schema = SCHEMAS.get(f"{kind}/{form}") if form else SCHEMAS[kind]
    advice = remedy(path)
    if schema is None:
        raise InputError("artifacts.no_form", where=path, kind=kind, form=form, remedy=advice)
    for group, variables in schema.items():
        if group not in groups:
            raise InputError(
                "artifacts.no_group",
                where=path,
                group=group,
                kind=kind,
                groups=[*schema],
                remedy=advice,
            )
        for name, dims in variables.items():
            _check_dims(groups[group], f"{group}/{name}", dims, path)


def _check_dims(group: xr.Dataset, place: str, dims: tuple[str, ...], path: Path) -> None:
    """Check the dims of the variable `group/name`, after which a dim `output` may follow."""
    name = place.partition("/")[2]
    if name not in group:
        raise InputError("artifacts.no_variable", where=path, variable=place, remedy=remedy(path))
    found = group.variables[name].dims
    if found not in (dims, (*dims, "output")):
        raise InputError(
            "artifacts.other_dims",
            where=path,
            variable=place,
            found=found,
            dims=dims,
            remedy=remedy(path),
        )
