"""Warm-up of a chain group by the command: segments, chain groups, refused continuations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlobayes import builder
from nlobayes.artifacts.contents import read_map, write_map
from nlobayes.artifacts.netcdf import open_artifact, read_attrs
from nlobayes.commands.pipeline.warmup import warmup
from nlobayes.study.jobs import WarmupJob
from nlobayes.study.read_jobs import read_job
from nlobayes.types import Dataset
from tests.refusals import refused
from tests.unit.artifacts.opened import read_checkpoint

WarmUp = Callable[..., Path]


def test_two_pieces_equal_one_warmup_bit_for_bit(
    warm_up: WarmUp, tmp_path: Path, starts: list[Path]
) -> None:
    """State, tuned parameters, adaptation, and the stats of every step."""
    whole = warm_up(tmp_path / "whole.nc", start=starts)
    first = warm_up(tmp_path / "first.nc", start=starts, segments=2)
    second = warm_up(tmp_path / "second.nc", previous=first, segments=2)
    expected, found = read_checkpoint(whole), read_checkpoint(second)
    assert (read_checkpoint(first).next_step, found.next_step) == (20, 40)
    assert found.chains == expected.chains == (0, 1)
    for name in ("state", "tuned", "adaptation"):
        assert_same_bits(getattr(found, name), getattr(expected, name))
    stats = [
        open_artifact(path, "warmup").groups["warmup_sample_stats"]
        for path in (whole, first, second)
    ]
    assert stats[1].sizes == stats[2].sizes == {"chain": 2, "draw": 20}
    assert stats[2].identical(stats[0].isel(draw=slice(20, None)))
    assert stats[1].identical(stats[0].isel(draw=slice(20)))


def assert_same_bits(one: dict[str, np.ndarray], two: dict[str, np.ndarray]) -> None:
    assert one.keys() == two.keys()
    for name, array in one.items():
        assert (array.dtype, array.shape) == (two[name].dtype, two[name].shape), name
        assert array.tobytes() == two[name].tobytes(), name


def test_a_warmup_begins_at_its_maps_and_learns(
    warm_up: WarmUp, tmp_path: Path, starts: list[Path]
) -> None:
    end = read_checkpoint(warm_up(tmp_path / "out.nc", start=starts))
    for row, path in enumerate(starts):
        assert not np.array_equal(end.state["position"][row], read_map(path).position)
    assert (end.tuned["step_size"] > 1e-3).all()
    stats = open_artifact(tmp_path / "out.nc", "warmup").groups["warmup_sample_stats"]
    np.testing.assert_allclose(stats["step_size"][:, 0], 1e-3, rtol=1e-6)
    assert len(np.unique(stats["step_size"])) > 40
    assert len(np.unique(end.state["position"][:, 0])) == len(starts)


def test_the_state_has_the_density_of_its_position(
    warm_up: WarmUp, tmp_path: Path, starts: list[Path], job: Callable[..., str], dataset: Dataset
) -> None:
    end = read_checkpoint(warm_up(tmp_path / "out.nc", start=starts))
    model = builder.build_model(read_job(WarmupJob, job()).model, dataset)
    for position, found in zip(end.state["position"], end.state["logdensity"], strict=True):
        np.testing.assert_allclose(found, model.logdensity_fn(position), rtol=1e-10)


def test_a_chain_group_of_one_chain_is_that_chain_of_a_larger_chain_group(
    warm_up: WarmUp, tmp_path: Path, starts: list[Path]
) -> None:
    """Its keys follow from its number, not from its place; equal within rounding, 20 steps on."""
    both = warm_up(tmp_path / "both.nc", start=starts, segments=2)
    alone = warm_up(tmp_path / "alone.nc", start=starts[1:], segments=2)
    expected, found = (
        open_artifact(path, "warmup").groups["warmup_sample_stats"].sel(chain=1)
        for path in (both, alone)
    )
    np.testing.assert_array_equal(found["n_steps"], expected["n_steps"])
    for name in ("lp", "energy", "acceptance_rate", "step_size"):
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-6, atol=1e-8)


def test_a_warmup_states_its_origin_and_its_frozen_parameters(
    warm_up: WarmUp, tmp_path: Path, starts: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    made = read_attrs(warm_up(tmp_path / "out.nc", start=starts))
    assert (made["verb"], made["exact"], made["chains"]) == ("warmup", True, [0, 1])
    assert made["spec"]["warmup"]["kind"] == "windows"
    printed = capsys.readouterr()
    assert printed.out == ""
    for chain in (0, 1):
        assert f"chain {chain}, frozen: step_size " in printed.err


def test_a_map_of_another_network_is_refused_with_its_file(
    warm_up: WarmUp, tmp_path: Path, starts: list[Path]
) -> None:
    """15 parameters of a hidden layer of 2, for one of 3."""
    with refused("builder.other_network", received=15, expected=22) as caught:
        warm_up(tmp_path / "out.nc", start=starts, hidden=3)
    assert str(starts[0]) in str(caught.value.where)
    assert not (tmp_path / "out.nc").exists()


@pytest.mark.parametrize(
    ("change", "code", "shapes"),
    [
        ({"hidden": 3}, "inference.array_unlike", {"found": (2, 15), "expected": (2, 22)}),
        (
            {"mass_matrix": "dense"},
            "inference.array_unlike",
            {"found": (2, 15), "expected": (2, 15, 15)},
        ),
        ({"kernel": {"kind": "random_walk"}}, "inference.array_too_many", {"found": (2, 15)}),
    ],
    ids=["network", "mass matrix", "kernel"],
)
@pytest.mark.by_day(1)
def test_a_piece_of_another_specification_is_refused_with_its_file(
    warm_up: WarmUp,
    tmp_path: Path,
    starts: list[Path],
    change: dict[str, Any],
    code: str,
    shapes: dict[str, Any],
) -> None:
    first = warm_up(tmp_path / "first.nc", start=starts, segments=2)
    with refused(code, where=first) as caught:
        warm_up(tmp_path / "out.nc", previous=first, segments=2, **change)
    assert {side: caught.value.fields[side][0] for side in shapes} == shapes
    assert not (tmp_path / "out.nc").exists()


def test_a_map_without_density_is_refused_with_its_chain(
    warm_up: WarmUp, tmp_path: Path, starts: list[Path]
) -> None:
    broken = read_map(starts[1])
    broken.position[3] = np.nan
    write_map(tmp_path / "broken.nc", broken, {})
    where = f"{tmp_path / 'broken.nc'}: the MAP of chain 1"
    with refused("builder.no_density", where=where):
        warm_up(tmp_path / "out.nc", start=[starts[0], tmp_path / "broken.nc"])
    assert not (tmp_path / "out.nc").exists()


def test_chains_that_share_a_start_differ_by_their_number(
    job: Callable[..., str], dataset_path: Path, starts: list[Path], tmp_path: Path
) -> None:
    warmup(job(), dataset_path, tmp_path / "w.nc", [starts[1], starts[1]], None, 0, [2, 3])
    assert read_attrs(tmp_path / "w.nc")["chains"] == [2, 3]
    lp = open_artifact(tmp_path / "w.nc", "warmup").groups["warmup_sample_stats"]["lp"].values
    assert (lp[0] != lp[1]).mean() > 0.9  # one start, two keys


@pytest.mark.parametrize("given", ["neither", "both"])
def test_a_warmup_begins_in_one_way(
    tmp_path: Path,
    dataset_path: Path,
    starts: list[Path],
    warmed: Path,
    job: Callable[..., str],
    given: str,
) -> None:
    options: dict[str, Any] = {"start": starts, "previous": warmed} if given == "both" else {}
    with refused("commands.start_or_previous", where="warmup"):
        warmup(job(), dataset_path, tmp_path / "out.nc", **options)
    assert not (tmp_path / "out.nc").exists()


def test_a_warmup_does_not_go_on_after_its_end(
    warm_up: WarmUp, tmp_path: Path, starts: list[Path]
) -> None:
    whole = warm_up(tmp_path / "whole.nc", start=starts)
    with refused("commands.no_segment_left", where=whole, made=40, steps=40):
        warm_up(tmp_path / "out.nc", previous=whole)
    assert not (tmp_path / "out.nc").exists()


def test_a_chain_that_is_given_twice_is_refused(
    warm_up: WarmUp, tmp_path: Path, starts: list[Path]
) -> None:
    """Equal numbers have equal keys, so that two copies would look like two chains that agree."""
    with refused("commands.chains_without_maps", maps=2, chains=[0, 0]):
        warm_up(tmp_path / "out.nc", start=[starts[0], starts[0]])
    assert not (tmp_path / "out.nc").exists()
