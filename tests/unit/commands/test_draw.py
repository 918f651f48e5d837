"""Draws of chains by the command: segments, a met verdict, and refused continuations."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlobayes import builder
from nlobayes.artifacts.contents import write_dataset
from nlobayes.artifacts.netcdf import open_artifact
from nlobayes.commands.pipeline.assemble import assemble
from nlobayes.study.jobs import WarmupJob
from nlobayes.study.read_jobs import read_job
from nlobayes.types import Dataset
from tests.refusals import refused
from tests.unit.artifacts.opened import read_checkpoint

DrawOn = Callable[..., Path]
DRAWN = ("posterior", "sample_stats", "predictions")

Same = Callable[[Path, Path], bool]


def assert_same_end(one: Path, two: Path) -> None:
    """The states of two chain groups are equal bit for bit."""
    ends = [read_checkpoint(path) for path in (one, two)]
    assert ends[0].chains == ends[1].chains
    assert ends[0].next_step == ends[1].next_step
    for name in ("state", "tuned"):
        expected, found = (getattr(end, name) for end in ends)
        assert expected.keys() == found.keys()
        for key, array in expected.items():
            assert array.dtype == found[key].dtype
            assert array.tobytes() == found[key].tobytes(), key


def test_two_segments_equal_one_of_twice_the_draws(
    draw_on: DrawOn, tmp_path: Path, warmed: Path
) -> None:
    whole = draw_on(tmp_path / "whole.nc", warmed, draws=16)
    first = draw_on(tmp_path / "first.nc", warmed)
    second = draw_on(tmp_path / "second.nc", first)
    assert_same_end(whole, second)
    expected, *found = (open_artifact(path, "segment").groups for path in (whole, first, second))
    for name in DRAWN:
        half = expected[name].sizes["draw"] // 2
        assert found[0][name].identical(expected[name].isel(draw=slice(half))), name
        assert found[1][name].identical(expected[name].isel(draw=slice(half, None))), name


def test_a_segment_begins_where_the_warmup_ended_with_what_it_learned(
    draw_on: DrawOn, tmp_path: Path, warmed: Path
) -> None:
    begin, end = read_checkpoint(warmed), read_checkpoint(draw_on(tmp_path / "out.nc", warmed))
    assert (begin.next_step, end.next_step) == (40, 8)
    assert begin.chains == end.chains == (0, 1)
    assert end.adaptation == {}
    for name, array in begin.tuned.items():
        assert end.tuned[name].tobytes() == array.tobytes()
    stats = open_artifact(tmp_path / "out.nc", "segment").groups["sample_stats"]
    used = np.broadcast_to(begin.tuned["step_size"][:, None], (2, 8))
    np.testing.assert_array_equal(stats["step_size"], used)
    assert stats["draw"].values.tolist() == [*range(8)]
    assert not np.array_equal(end.state["position"], begin.state["position"])


def test_functions_are_those_of_the_weights_that_are_kept(
    draw_on: DrawOn, tmp_path: Path, warmed: Path, dataset: Dataset
) -> None:
    groups = open_artifact(draw_on(tmp_path / "out.nc", warmed), "segment").groups
    kept, features = groups["posterior"], dataset.features[dataset.reference]
    w1, b1, w2, b2 = (
        kept[name].values for name in ("weights_1", "biases_1", "weights_2", "biases_2")
    )
    hidden = np.tanh(np.einsum("pi,cdih->cdph", features, w1) + b1[:, :, None, :])
    expected = np.einsum("cdph,cdho->cdp", hidden, w2) + b2[..., 0][..., None]
    found = groups["predictions"]["f"].sel(draw=kept["draw"]).values
    assert found.shape == (2, 2, 6)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def verdict_of(folder: Path, **content: Any) -> Path:
    path = folder / "verdict.json"
    path.write_text(json.dumps(content))
    return path


def test_nothing_is_drawn_once_the_verdict_is_met(
    draw_on: DrawOn,
    tmp_path: Path,
    warmed: Path,
    dataset_path: Path,
    capsys: pytest.CaptureFixture[str],
    same_but_inputs: Same,
) -> None:
    """The empty segment can be continued, and does not change the posterior."""
    first = draw_on(tmp_path / "first.nc", warmed)
    met = verdict_of(tmp_path, met=True)
    capsys.readouterr()
    empty = draw_on(tmp_path / "empty.nc", first, verdict=met)
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "converged, nothing to draw\n")
    groups = open_artifact(empty, "segment").groups
    assert {groups[name].sizes["draw"] for name in DRAWN} == {0}
    assert_same_end(empty, first)
    again = draw_on(tmp_path / "again.nc", empty, verdict=met)
    for name, segments in (("with", [first, empty, again]), ("without", [first])):
        assemble(dataset_path, [warmed], segments, tmp_path / f"{name}.nc")
    assert same_but_inputs(tmp_path / "with.nc", tmp_path / "without.nc")


def test_draws_go_on_after_empty_segments_as_if_there_were_none(
    draw_on: DrawOn, tmp_path: Path, warmed: Path, same_but_inputs: Same
) -> None:
    first = draw_on(tmp_path / "first.nc", warmed)
    empty = draw_on(tmp_path / "empty.nc", first, verdict=verdict_of(tmp_path, met=True))
    expected, found = (draw_on(tmp_path / f"{p.stem}_on.nc", p) for p in (first, empty))
    assert same_but_inputs(expected, found)


@pytest.mark.parametrize("place", ["warmup", "segment"])
@pytest.mark.parametrize(
    ("change", "code", "name", "shapes"),
    [
        (
            {"hidden": 3},
            "inference.array_unlike",
            "logdensity_grad",
            {"found": (2, 15), "expected": (2, 22)},
        ),
        (
            {"mass_matrix": "dense"},
            "inference.array_unlike",
            "inverse_mass_matrix",
            {"found": (2, 15), "expected": (2, 15, 15)},
        ),
        (
            {"kernel": {"kind": "random_walk"}},
            "inference.array_too_many",
            "logdensity_grad",
            {"found": (2, 15)},
        ),
    ],
    ids=["network", "mass matrix", "kernel"],
)
@pytest.mark.by_day(2)
def test_a_state_of_another_specification_is_refused_with_its_file(
    draw_on: DrawOn,
    tmp_path: Path,
    warmed: Path,
    place: str,
    change: dict[str, Any],
    code: str,
    name: str,
    shapes: dict[str, Any],
) -> None:
    path = warmed if place == "warmup" else draw_on(tmp_path / "first.nc", warmed)
    with refused(code, where=path, name=name) as caught:
        draw_on(tmp_path / "out.nc", path, **change)
    assert {side: caught.value.fields[side][0] for side in shapes} == shapes
    assert not (tmp_path / "out.nc").exists()


def test_chains_that_cannot_move_are_refused_and_nothing_is_written(
    draw_on: DrawOn, tmp_path: Path, warmed: Path, dataset: Dataset
) -> None:
    """Every proposal is rejected where the data are not those of the warm-up."""
    other = dataset._replace(target=1e200 * dataset.target)
    write_dataset(tmp_path / "other.nc", other, {})
    with refused("inference.never_moved", where="draws of chains [0, 1]", chain=0):
        draw_on(tmp_path / "out.nc", warmed, dataset=tmp_path / "other.nc")
    assert not (tmp_path / "out.nc").exists()


@pytest.mark.slow
def test_a_kernel_without_gradient_draws(
    warm_up: Callable[..., Path],
    draw_on: DrawOn,
    tmp_path: Path,
    starts: list[Path],
    job: Callable[..., str],
    dataset: Dataset,
) -> None:
    """The contents of a state depend on the kernel."""
    walk = {"kernel": {"kind": "random_walk"}}
    warmed = warm_up(tmp_path / "warmup.nc", start=starts, **walk)
    end = read_checkpoint(draw_on(tmp_path / "out.nc", warmed, **walk))
    assert end.state.keys() == {"position", "logdensity"}
    model = builder.build_model(read_job(WarmupJob, job()).model, dataset)
    for position, found in zip(end.state["position"], end.state["logdensity"], strict=True):
        np.testing.assert_allclose(found, model.logdensity_fn(position), rtol=1e-10)


def test_draws_wait_for_the_whole_warmup(
    draw_on: DrawOn, warm_up: Callable[..., Path], tmp_path: Path, starts: list[Path]
) -> None:
    half = warm_up(tmp_path / "half.nc", start=starts, segments=2)
    with refused("commands.unfinished_warmup", where=half, made=20, steps=40):
        draw_on(tmp_path / "out.nc", half)
    assert not (tmp_path / "out.nc").exists()
