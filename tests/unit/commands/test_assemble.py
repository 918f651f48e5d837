"""Chains are joined in the given order, with the data that they are conditioned on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.signal import lfilter

from nlobayes.artifacts.netcdf import open_artifact, read_attrs, write_groups
from nlobayes.artifacts.segments import Segment, write_segment
from nlobayes.commands.pipeline.assemble import assemble
from nlobayes.types import Dataset
from tests.refusals import refused
from tests.unit.conftest import ATTRS

MakeBlock = Callable[..., tuple[list[Path], list[Path]]]

Same = Callable[[Path, Path], bool]


def test_draws_are_in_the_order_of_chains_and_segments(
    run: Any, make_segment: Callable[..., Segment]
) -> None:
    groups = open_artifact(run.posterior, "posterior").groups
    for chain in range(3):
        parts = [make_segment((chain,), first, draws=16) for first in (0, 16)]
        expected = np.concatenate([part.function[0] for part in parts])
        np.testing.assert_array_equal(groups["predictions"]["f"].values[chain], expected)
        stored = np.concatenate([part.variables.values["weights_1"][0] for part in parts])
        np.testing.assert_array_equal(groups["posterior"]["weights_1"].values[chain], stored)
    assert groups["posterior"]["draw"].values.tolist() == [3, 7, 11, 15, 19, 23, 27, 31]


def test_the_posterior_holds_its_train_rows(run: Any, dataset: Dataset) -> None:
    groups = open_artifact(run.posterior, "posterior").groups
    train = dataset.split == 0
    np.testing.assert_array_equal(groups["observed_data"]["target"], dataset.target[train])
    np.testing.assert_array_equal(groups["constant_data"]["features"], dataset.features[train])


def test_the_posterior_states_what_its_table_states(run: Any, tmp_path: Path) -> None:
    stated, data = {"sqrt_s_tev": "13.6"}, tmp_path / "dataset.nc"
    attrs = read_attrs(run.dataset) | {"table_metadata": stated}
    write_groups(data, "dataset", open_artifact(run.dataset, "dataset").groups, attrs)
    assemble(data, run.warmups, run.segments, tmp_path / "posterior.nc")
    assert read_attrs(tmp_path / "posterior.nc")["table_metadata"] == stated
    assert read_attrs(run.posterior)["table_metadata"] == {}


@pytest.mark.parametrize(("time", "fewest", "most"), [(1, 1, 1), (16, 7, 10)])
def test_the_time_of_the_chains_decides_which_weights_are_stored(
    run: Any,
    make_segment: Callable[..., Segment],
    make_chain_group: MakeBlock,
    tmp_path: Path,
    time: int,
    fewest: int,
    most: int,
) -> None:
    """By the closed form 9 keeps 90 % at a time of 16. Segments give what a longer one does."""
    warmups, _ = make_chain_group(tmp_path, (0, 1), 0)
    long = make_segment((0, 1), 0, draws=1000, thin=1)
    rho = (time - 1) / (time + 1)
    steps = np.random.default_rng(3).normal(size=long.function.shape)
    chains = lfilter([1.0], [1.0, -rho], steps, axis=1).astype(np.float32)
    whole, attrs = long._replace(function=chains), {**ATTRS, "spec": {"draws": 8, "thin": None}}
    for count in (1, 4):
        paths = [tmp_path / f"{count}_{number}.nc" for number in range(count)]
        for number, path in enumerate(paths):
            first, size = 1000 // count * number, 1000 // count
            write_segment(path, _cut(whole, first, size), attrs)
        assemble(run.dataset, warmups, paths, tmp_path / f"{count}.nc")
    groups = open_artifact(tmp_path / "1.nc", "posterior").groups
    for name, group in open_artifact(tmp_path / "4.nc", "posterior").groups.items():
        assert group.identical(groups[name]), name
    stride = int(groups["posterior"]["draw"][0]) + 1
    assert fewest <= stride <= most
    assert groups["posterior"]["draw"].values.tolist() == [*range(stride - 1, 1000, stride)]
    kept = whole.variables.values["weights_1"][:, stride - 1 :: stride]
    assert groups["posterior"]["weights_1"].values.tobytes() == kept.tobytes()
    np.testing.assert_array_equal(groups["predictions"]["f"].values, chains)


def _cut(segment: Segment, first: int, draws: int) -> Segment:
    """Take some draws of a segment that stores each."""
    chosen = slice(first, first + draws)
    values = {name: array[:, chosen] for name, array in segment.variables.values.items()}
    return segment._replace(
        first_draw=first,
        variables=segment.variables._replace(values=values),
        stats={name: array[:, chosen] for name, array in segment.stats.items()},
        function=segment.function[:, chosen],
        end=segment.end._replace(next_step=first + draws),
    )


@pytest.mark.parametrize("chain_groups", [((0, 1), (2,)), ((0, 1, 2),)])
def test_chains_are_the_same_in_chain_groups_of_any_size(
    run: Any,
    tmp_path: Path,
    make_chain_group: MakeBlock,
    chain_groups: tuple[tuple[int, ...], ...],
    same_but_inputs: Same,
) -> None:
    made = [make_chain_group(tmp_path, chain_group, 2, draws=16) for chain_group in chain_groups]
    warmups, segments = (
        [path for paths in kind for path in paths] for kind in zip(*made, strict=True)
    )
    assemble(run.dataset, warmups, segments, tmp_path / "posterior.nc")
    assert same_but_inputs(tmp_path / "posterior.nc", run.posterior)


@pytest.mark.parametrize(
    ("count", "code", "fields"),
    [
        (1, "artifacts.incomplete_chains", {"chains": (1,)}),
        (2, "artifacts.incomplete_chains", {"chains": (1,)}),
        (3, "artifacts.incomplete_chains", {"chains": (2,)}),
        (4, "artifacts.incomplete_chains", {"chains": (2,)}),
        (5, "artifacts.unequal_parts", {"dim": "chain"}),
    ],
)
def test_unequal_numbers_of_segments_are_refused(
    run: Any, tmp_path: Path, count: int, code: str, fields: dict[str, Any]
) -> None:
    """Two for each of three chains, of which the last are cut off."""
    with refused(code, **fields):
        assemble(run.dataset, run.warmups, run.segments[:count], tmp_path / "posterior.nc")
    assert list(tmp_path.iterdir()) == []


def test_segments_of_another_specification_are_refused(
    run: Any, tmp_path: Path, make_segment: Callable[..., Segment], attrs: dict[str, Any]
) -> None:
    """Chains of another seed or model must not pass for chains of this posterior."""
    other = tmp_path / "other.nc"
    segment = make_segment((2,), 16, draws=16)
    write_segment(other, segment, {**attrs, "spec": {**attrs["spec"], "seed": 2}})
    with refused("commands.segments_of_other_runs", path=other, first=run.segments[0]):
        assemble(run.dataset, run.warmups, [*run.segments[:-1], other], tmp_path / "posterior.nc")
    assert not (tmp_path / "posterior.nc").exists()
