"""Artifacts from unknown sources: reading runs no code, and too large claims are refused."""

from __future__ import annotations

from pathlib import Path

import h5py
import netCDF4
import numpy as np
import pytest
import xarray as xr

from nlobayes.artifacts.netcdf import open_artifact, read_attrs, write_groups
from nlobayes.artifacts.plain_hdf5 import MOST_OBJECTS, open_plain
from nlobayes.artifacts.schemas import SCHEMAS
from nlobayes.artifacts.seals import seal
from tests.refusals import refused

GROUP = next(iter(SCHEMAS["start"]))


def write_honest(path: Path) -> Path:
    """Write an artifact of the kind `start` with a further variable of text."""
    groups = {
        group: xr.Dataset({n: (dims, np.ones([3] * len(dims))) for n, dims in variables.items()})
        for group, variables in SCHEMAS["start"].items()
    }
    texts = xr.Dataset({"names": ("name", np.array(["a", "bc"], dtype=object))})
    write_groups(path, "start", {**groups, "texts": texts}, {"spec": {"seed": 1}})
    return path


def add_vlen(group: netCDF4.Group) -> None:
    rows = group.createVLType(np.int64, "odd_t")
    group.createVariable("odd", rows, ("odd",))[0] = np.arange(3)


def add_compound(group: netCDF4.Group) -> None:
    pair = group.createCompoundType(np.dtype([("x", "f8"), ("y", "i4")]), "odd_t")
    group.createVariable("odd", pair, ("odd",))


def add_enum(group: netCDF4.Group) -> None:
    yes_or_no = group.createEnumType(np.int8, "odd_t", {"no": 0, "yes": 1})
    group.createVariable("odd", yes_or_no, ("odd",), fill_value=0)


def add_huge(group: netCDF4.Group) -> None:
    group.createDimension("vast", 10**12)
    group.createVariable("odd", "f8", ("vast",), chunksizes=(1024,), zlib=True)


def add_compressed(group: netCDF4.Group) -> None:
    group.createDimension("long", 10**7)
    group.createVariable("odd", "f8", ("long",), zlib=True)[:] = 0


def add_text_without_values(group: netCDF4.Group) -> None:
    group.createVariable("odd", str, ("odd",))


def add_many_attributes(group: netCDF4.Group) -> None:
    group.setncatts({f"a{number}": 1 for number in range(MOST_OBJECTS + 1)})


HOSTILE = {
    add_text_without_values: "artifacts.no_values",
    add_many_attributes: "artifacts.too_many_attributes",
    add_vlen: "artifacts.other_values",
    add_compound: "artifacts.other_values",
    add_enum: "artifacts.other_values",
    add_huge: "artifacts.packed_array",
    add_compressed: "artifacts.packed_array",
}


@pytest.fixture(params=HOSTILE, ids=lambda add: add.__name__.removeprefix("add_"))
def hostile(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, str]:
    """A sealed artifact with a further variable of a type that is never written, and its error."""
    path = write_honest(tmp_path / "hostile.nc")
    with netCDF4.Dataset(path, "a") as file:
        file[GROUP].createDimension("odd", 2)
        request.param(file[GROUP])
    seal(path)
    return path, HOSTILE[request.param]


def test_an_honest_artifact_passes(tmp_path: Path) -> None:
    path = write_honest(tmp_path / "honest.nc")
    with open_plain(path):
        pass


@pytest.mark.parametrize("read_elsewhere", [True, False])
def test_what_claims_more_than_it_holds_is_refused(
    hostile: tuple[Path, str], read_elsewhere: bool
) -> None:
    path, code = hostile
    with refused(code, where=path), open_plain(path, read_elsewhere=read_elsewhere):
        pass


def test_attributes_of_arrays_are_read_by_netcdf_libraries_alone(tmp_path: Path) -> None:
    """One of a compound type is refused for them; a file that only h5py opens ignores it."""
    path = write_honest(tmp_path / "odd.nc")
    with h5py.File(path, "a") as file:
        file["texts/names"].attrs["odd"] = np.zeros(1, [("x", "f8"), ("y", "i4")])
    seal(path)
    with refused("artifacts.other_values", where=path), open_plain(path):
        pass
    with open_plain(path, read_elsewhere=False) as plain:
        assert "texts/names" in plain.arrays
    with h5py.File(path, "a") as file:
        file["texts/names"].attrs["scale_factor"] = 2.0
    with (
        refused("artifacts.packing_attribute", where=path),
        open_plain(path, read_elsewhere=False),
    ):
        pass


def test_a_hostile_artifact_is_refused_when_it_is_read(hostile: tuple[Path, str]) -> None:
    path, code = hostile
    with refused(code, where=path):
        open_artifact(path, "start")


def test_reading_an_artifact_unpickles_nothing(tmp_path: Path, forbid_unpickling: None) -> None:
    path = write_honest(tmp_path / "honest.nc")
    assert open_artifact(path, "start").groups["texts"]["names"].values.tolist() == ["a", "bc"]
    assert read_attrs(path)["spec"] == {"seed": 1}
