"""NetCDF files: equal content gives equal bytes, and an incomplete file is never read."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from nlobayes.artifacts.netcdf import Groups, open_artifact, read_attrs, write_groups
from nlobayes.artifacts.schemas import SCHEMAS
from nlobayes.artifacts.seals import SIGNATURE, seal
from tests.refusals import refused

ROWS = 40


def groups_of(kind: str) -> Groups:
    """Make the required groups of a kind of artifact from random numbers."""
    rng = np.random.default_rng(len(kind))
    return {
        group: xr.Dataset(
            {name: (dims, rng.normal(size=[ROWS] * len(dims))) for name, dims in variables.items()}
        )
        for group, variables in SCHEMAS[kind].items()
    }


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole file of the kind `start`."""
    path = tmp_path_factory.mktemp("netcdf") / "start.nc"
    write_groups(path, "start", groups_of("start"), {"spec": {"seed": 1}})
    return path


@pytest.mark.parametrize("kind", SCHEMAS)
def test_groups_are_read_back_bit_for_bit(tmp_path: Path, kind: str) -> None:
    groups = groups_of(kind)
    write_groups(tmp_path / "out.nc", kind, groups, {})
    again = open_artifact(tmp_path / "out.nc", kind).groups
    assert again.keys() == groups.keys()
    for name, group in groups.items():
        xr.testing.assert_identical(again[name], group)


@pytest.mark.parametrize(
    "values",
    [
        np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 5e-324, np.finfo(np.float64).max]),
        np.array([1e-45, 3.4e38, 0.1], np.float32),
        np.array([np.iinfo(np.int64).min, -1, np.iinfo(np.int64).max]),
        np.array([-128, -127, 127], np.int8),
        np.array([-(2**31), 2**31 - 1], np.int32),
        np.array([True, False]),
        np.array(["ln|m|", "N11^2", "σ", ""]),
        np.array(9.96921e36),  # NetCDF's own missing value
    ],
    ids=lambda values: str(values.dtype),
)
def test_every_type_of_value_is_read_back(tmp_path: Path, values: np.ndarray) -> None:
    groups = groups_of("start")
    groups["posterior"] = xr.Dataset({"value": (("row",)[: values.ndim], values)})
    write_groups(tmp_path / "out.nc", "start", groups, {})
    again = open_artifact(tmp_path / "out.nc", "start").groups["posterior"]["value"].values
    assert again.dtype.kind == values.dtype.kind
    if values.dtype.kind == "U":
        assert again.tolist() == values.tolist()
    else:
        assert again.dtype == values.dtype
        assert again.tobytes() == values.tobytes()


def test_equal_content_gives_equal_bytes_whenever_and_wherever(tmp_path: Path) -> None:
    """HDF5 keeps times in seconds."""
    groups, attrs = groups_of("posterior"), {"b": [1], "a": {"y": 1, "x": 2}}
    write_groups(tmp_path / "one.nc", "posterior", groups, attrs)
    time.sleep(1.1)
    turned = {"a": {"x": 2, "y": 1}, "b": [1]}
    write_groups(tmp_path / "elsewhere/two.nc", "posterior", groups, turned)
    one, two = (tmp_path / "one.nc").read_bytes(), (tmp_path / "elsewhere/two.nc").read_bytes()
    assert one == two


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=("Cc", "Cs"))),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab σ"), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=60)
@given(value=JSON)
def test_attributes_are_read_back(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    path = tmp_path_factory.mktemp("attrs") / "out.nc"
    write_groups(path, "start", groups_of("start"), {"value": value})
    again = read_attrs(path)
    assert again == {"kind": "start", "value": value}
    assert type(again["value"]) is type(value)


def test_attributes_that_were_read_can_be_written(tmp_path: Path) -> None:
    attrs = {"spec": {"a": [1]}, "exact": True, "epochs": 3, "step": 0.1, "device": "cpu"}
    write_groups(tmp_path / "one.nc", "start", groups_of("start"), attrs)
    again = read_attrs(tmp_path / "one.nc")
    assert again.pop("kind") == "start"
    write_groups(tmp_path / "two.nc", "start", groups_of("start"), {"inherited": again})
    assert read_attrs(tmp_path / "two.nc")["inherited"] == attrs


def cuts(size: int) -> list[int]:
    """The ends, the borders of HDF5's own blocks, and 30 random places."""
    rng = random.Random(11)
    return [0, 1, 8, 48, 512, size // 2, size - 8, size - 1, *rng.choices(range(size), k=30)]


def test_a_truncated_file_is_never_read(whole: Path, tmp_path: Path) -> None:
    """Each cut has its own file name, because HDF5 may cache the content of a file by name."""
    content = whole.read_bytes()
    for cut in cuts(len(content)):
        path = tmp_path / f"{cut}.nc"
        path.write_bytes(content[:cut])
        code = "artifacts.no_artifact" if cut < len(SIGNATURE) else "artifacts.no_seal"
        for read in (lambda path: open_artifact(path, "start").groups, read_attrs):
            with refused(code, where=path):
                read(path)


def test_a_file_whose_end_was_never_stored_is_not_read(whole: Path, tmp_path: Path) -> None:
    """After a crash of a machine a file may have the right length and zeros in its second half."""
    content = whole.read_bytes()
    path = tmp_path / "start.nc"
    path.write_bytes(content[: len(content) // 2].ljust(len(content), b"\0"))
    with refused("artifacts.no_seal", where=path):
        open_artifact(path, "start")


@pytest.mark.parametrize(
    "content",
    [None, b"", b"m1,sigma\n1,2\n", b'{"kind": "start"}', b"\x89HDF\r\n\x1a\n", b"CDF\x01"],
)
def test_what_is_not_netcdf_is_refused(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "in.nc"
    if content is not None:
        path.write_bytes(content)
        seal(path)
    code = "artifacts.unreadable_artifact" if content is None else "artifacts.not_hdf5"
    with refused(code, path=path):
        open_artifact(path, "start")
    with refused(code, path=path):
        read_attrs(path)


def test_what_is_not_sealed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "in.nc"
    xr.Dataset({"loss": (("epoch",), np.zeros(100))}).to_netcdf(path, engine="netcdf4")
    with refused("artifacts.no_seal", where=path):
        open_artifact(path, "start")


@pytest.mark.parametrize(
    ("form", "code"),
    [("NETCDF3_CLASSIC", "artifacts.not_hdf5"), ("NETCDF4", "artifacts.no_plain_object")],
)
def test_files_of_others_have_no_kind(
    tmp_path: Path, form: Literal["NETCDF3_CLASSIC", "NETCDF4"], code: str
) -> None:
    others = xr.Dataset({"loss": (("epoch",), [1.0])})
    others.to_netcdf(tmp_path / "in.nc", format=form, engine="netcdf4")
    seal(tmp_path / "in.nc")
    with refused(code):
        open_artifact(tmp_path / "in.nc", "start")


@pytest.mark.parametrize("kind", [kind for kind in SCHEMAS if kind != "start"])
def test_another_kind_is_refused(whole: Path, kind: str) -> None:
    with refused("artifacts.other_kind", path=whole, found="start", kind=kind):
        open_artifact(whole, kind)


def test_missing_variables_and_wrong_dims_are_refused(tmp_path: Path) -> None:
    groups = groups_of("segment")
    stats, predictions = groups["sample_stats"], groups["predictions"]
    turned = predictions.rename_dims(reference_point="point")
    path = tmp_path / "out.nc"
    for name in ("lp", "energy"):
        fewer = groups | {"sample_stats": stats.drop_vars(name)}
        with refused("artifacts.no_variable", where=path, variable=f"sample_stats/{name}"):
            write_groups(path, "segment", fewer, {})
    with refused("artifacts.other_dims", where=path, found=("chain", "draw", "point")):
        write_groups(path, "segment", groups | {"predictions": turned}, {})
    assert list(tmp_path.iterdir()) == []


FULL_DISK = """
import json, resource, signal, sys
from pathlib import Path
import numpy as np, xarray as xr
from nlobayes.artifacts.netcdf import write_groups
from nlobayes.artifacts.schemas import SCHEMAS
from nlobayes.errors import InputError
from tests.refusals import refused

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
many = xr.Dataset({"w": (("unit",), np.random.default_rng(0).normal(size=20000))})
state = xr.Dataset({"position": (("parameter",), np.zeros(3))})
names = SCHEMAS["start"]["history"]
history = xr.Dataset({n: (dims, np.zeros([3] * len(dims))) for n, dims in names.items()})
groups = {"posterior": many, "state": state, "history": history}
results = []
for limit in (0, 1, 1000, 100_000, 160_000):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        write_groups(Path(sys.argv[1]), "start", groups, {})
        results.append("written")
    except InputError as error:
        results.append([error.code, str(error.fields["path"])])
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(json.dumps(results))
"""


def test_a_full_disk_is_told_and_keeps_the_old_file(tmp_path: Path) -> None:
    """A limit on the size of files replaces the full disk."""
    path = tmp_path / "out.nc"
    path.write_text("old and whole")
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(path)], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == 5 * [["artifacts.not_written_here", str(path)]]
    assert path.read_text() == "old and whole"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("kind", SCHEMAS)
def test_a_missing_group_is_neither_written_nor_read(tmp_path: Path, kind: str) -> None:
    for name in SCHEMAS[kind]:
        fewer = {group: value for group, value in groups_of(kind).items() if group != name}
        path = tmp_path / f"{name}.nc"
        with refused("artifacts.no_group", where=path, group=name, kind=kind):
            write_groups(path, kind, fewer, {})
        assert not path.exists()
        xr.Dataset(attrs={"kind": kind}).to_netcdf(path, engine="netcdf4")
        for group, value in fewer.items():
            value.to_netcdf(path, mode="a", group=group, engine="netcdf4")
        seal(path)
        with refused("artifacts.no_group", where=path, group=name, kind=kind):
            open_artifact(path, kind)
