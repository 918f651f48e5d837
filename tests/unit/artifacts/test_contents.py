"""Every value that is written is read back bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from nlobayes.artifacts import contents, predicted
from nlobayes.artifacts.netcdf import open_artifact, read_attrs, write_groups
from nlobayes.types import Dataset, MAPEstimate, NamedArrays, PredictedDraws
from tests.refusals import refused
from tests.unit.conftest import predicted_groups

Same = Callable[[Any, Any], None]
PRECISIONS = (np.float32, np.float64)


def test_a_dataset_is_read_back(
    tmp_path: Path, dataset: Dataset, attrs: dict[str, Any], assert_same_bits: Same
) -> None:
    contents.write_dataset(tmp_path / "out.nc", dataset, attrs)
    assert_same_bits(dataset, contents.read_dataset(tmp_path / "out.nc"))


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_a_start_is_read_back(
    tmp_path: Path,
    make_start: Callable[..., MAPEstimate],
    dtype: type[np.floating[Any]],
    assert_same_bits: Same,
) -> None:
    start = make_start(3, dtype)
    contents.write_map(tmp_path / "out.nc", start, {})
    again = contents.read_map(tmp_path / "out.nc")
    assert_same_bits(start._replace(variables=again.variables), again)
    assert_same_names(start.variables, again.variables, assert_same_bits)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
def test_a_start_whose_end_was_never_stored_is_not_read(
    tmp_path: Path, make_start: Callable[..., MAPEstimate], share: float
) -> None:
    """Zeros would break no structure in its long path, but they do in the arrays after it."""
    rng = np.random.default_rng(6)
    long = rng.normal(size=(50, 2000)).astype(np.float32)
    start = make_start(0)._replace(
        position=long[-1], path=long, path_epochs=np.arange(50, dtype=np.int32)
    )
    path = tmp_path / "out.nc"
    contents.write_map(path, start, {})
    content = path.read_bytes()
    cut = tmp_path / "cut.nc"
    cut.write_bytes(content[: int(share * len(content))].ljust(len(content), b"\0"))
    with refused("artifacts.no_seal", where=cut):
        contents.read_map(cut)


def assert_same_names(one: NamedArrays, two: NamedArrays, assert_same_bits: Same) -> None:
    assert_same_bits(one.values, two.values)
    assert one.dims == two.dims
    assert {dim: [*label] for dim, label in one.coords.items()} == {
        dim: label.tolist() for dim, label in two.coords.items()
    }


def test_the_data_of_a_posterior_are_its_rows(dataset: Dataset, assert_same_bits: Same) -> None:
    train = dataset.split == 0
    groups = contents.observed_groups(dataset, train)
    assert_same_bits(groups["observed_data"]["target"].values, dataset.target[train])
    assert_same_bits(groups["constant_data"]["features"].values, dataset.features[train])
    assert_same_bits(
        groups["predictions_constant_data"]["features"].values, dataset.features[dataset.reference]
    )


def test_the_errors_of_a_posterior_are_in_units_of_the_network(dataset: Dataset) -> None:
    """They are those of its rows; a dataset without errors gives no such variable."""
    train = dataset.split == 0
    error = np.linspace(0, 0.1, len(train))
    observed = contents.observed_groups(dataset._replace(error=error), train)["observed_data"]
    sd = np.log10(dataset.observed[train]).std()
    np.testing.assert_allclose(observed["error"], error[train] / sd, rtol=1e-12)
    assert list(observed) == ["target", "error"]
    assert list(contents.observed_groups(dataset, train)["observed_data"]) == ["target"]


def test_predictions_are_labelled_and_read_back(
    tmp_path: Path, dataset: Dataset, assert_same_bits: Same
) -> None:
    draws = xr.Dataset(coords={"chain": [0, 1], "draw": [3, 7]})
    rng = np.random.default_rng(0)
    functions, members = rng.normal(size=(4, 60)), rng.normal(size=(3, 60))
    posterior = PredictedDraws(functions, "student_t", rng.gamma(1, size=(4, 1)), 4.0)
    baseline = PredictedDraws(members, "student_t", rng.gamma(1, size=(3, 1)), 4.0)
    groups = predicted_groups(posterior, baseline, dataset, draws)
    write_groups(tmp_path / "out.nc", "predictions", groups, {"exact": True})
    again = open_artifact(tmp_path / "out.nc", "predictions").groups
    assert_same_bits(again["predictions"]["f"].values, functions.reshape(2, 2, 60))
    assert again["predictions"]["scale"].dims == ("chain", "draw")
    for group, given in (("predictions", posterior), ("baseline", baseline)):
        read = predicted.read_predicted(again[group])
        assert_same_bits(read.function, given.function)
        assert_same_bits(read.scale, given.scale)
        assert read.family == "student_t"
        assert np.all(read.degrees_of_freedom == 4.0)
    assert_same_bits(again["baseline"]["f"].values, members)
    assert_same_bits(again["points"]["observed"].values, dataset.observed)
    assert again["predictions"]["chain"].values.tolist() == [0, 1]
    assert again["predictions"]["draw"].values.tolist() == [3, 7]
    assert read_attrs(tmp_path / "out.nc") == {"kind": "predictions", "exact": True}
