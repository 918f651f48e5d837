"""Chain groups are read back bit for bit, and their segments join in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlobayes.artifacts import chains, contents
from nlobayes.artifacts import segments as segment_files
from nlobayes.artifacts.netcdf import open_artifact, read_attrs
from nlobayes.artifacts.segments import Checkpoint, Segment, WarmupSegment
from nlobayes.types import NamedArrays
from tests.refusals import refused
from tests.unit.artifacts.opened import assemble, draws, read_checkpoint

Blocks = Sequence[Sequence[int]]
MakeBlocks = Callable[..., tuple[list[Path], list[Path]]]
MakeBlock = Callable[..., tuple[list[Path], list[Path]]]
MakeCheckpoint = Callable[..., Checkpoint]
MakeSegment = Callable[..., Segment]
MakeStats = Callable[..., dict[str, np.ndarray]]
Same = Callable[[Any, Any], None]
Dtype = type[np.floating[Any]]

PRECISIONS = (np.float32, np.float64)
BLOCKS = ((2,), (4, 1, 3))


@pytest.mark.parametrize("chain_group", BLOCKS)
@pytest.mark.parametrize("dtype", PRECISIONS)
def test_a_piece_of_a_warmup_is_read_back(
    tmp_path: Path,
    make_checkpoint: MakeCheckpoint,
    make_stats: MakeStats,
    assert_same_bits: Same,
    dtype: Dtype,
    chain_group: tuple[int, ...],
) -> None:
    """These are arrays that an unfinished warm-up stores."""
    path, end = tmp_path / "out.nc", make_checkpoint(chain_group, 8, dtype, adapting=True)
    stats = make_stats(chain_group, 5, 3, dtype)
    segment_files.write_warmup(path, WarmupSegment(5, stats, end), {})
    assert_same_bits(read_checkpoint(path), end)
    written = open_artifact(path, "warmup").groups["warmup_sample_stats"]
    assert written["chain"].values.tolist() == [*chain_group]
    assert written["draw"].values.tolist() == [5, 6, 7]
    assert_same_bits({name: written[name].values for name in stats}, stats)


@pytest.mark.parametrize("chain_group", BLOCKS)
@pytest.mark.parametrize("dtype", PRECISIONS)
def test_a_segment_is_read_back(
    tmp_path: Path,
    make_segment: MakeSegment,
    assert_same_bits: Same,
    dtype: Dtype,
    chain_group: tuple[int, ...],
) -> None:
    path, segment = tmp_path / "out.nc", make_segment(chain_group, 8, dtype=dtype)
    segment_files.write_segment(path, segment, {})
    assert_same_bits(read_checkpoint(path), segment.end)
    groups = open_artifact(path, "segment").groups
    assert_same_bits(groups["predictions"]["f"].values, segment.function)
    stats = groups["sample_stats"]
    assert_same_bits({name: stats[name].values for name in segment.stats}, segment.stats)
    again = contents.read_variables(groups["posterior"])
    assert again.dims == segment.variables.dims
    assert_same_bits(again.values, segment.variables.values)
    for name in ("posterior", "sample_stats", "predictions"):
        assert groups[name]["chain"].values.tolist() == [*chain_group]
    assert groups["posterior"]["draw"].values.tolist() == [11, 15]
    assert groups["sample_stats"]["draw"].values.tolist() == [*range(8, 16)]
    assert groups["predictions"]["draw"].values.tolist() == [*range(8, 16)]


def test_arrays_of_any_shape_and_type_are_read_back(
    tmp_path: Path, make_segment: MakeSegment, assert_same_bits: Same
) -> None:
    """A dense mass matrix, several temperatures, buffers and counters, names with dots."""
    rng, segment = np.random.default_rng(6), make_segment((0, 1), 0)
    tuned = {
        **segment.end.tuned,
        "inverse_mass_matrix": rng.normal(size=(2, 15, 15)),
        "mass.sigma": rng.normal(size=(2, 15, 3)).astype(np.float32),
        "ladder": rng.uniform(size=(2, 4)),
        "none": np.empty((2, 0)),
    }
    state = {
        **segment.end.state,
        "replicas.position": rng.normal(size=(2, 4, 15)),
        "moved": np.array([True, False]),
        "count": np.array([2**31 - 1, -1], np.int32),
        "words": np.array([[1, 2**32 - 1], [0, 3]], np.uint32),
    }
    changed = segment.end._replace(tuned=tuned, state=state)
    stats = {**segment.stats, "swaps": rng.uniform(size=(2, 8, 3))}
    segment_files.write_segment(tmp_path / "out.nc", segment._replace(end=changed, stats=stats), {})
    assert_same_bits(read_checkpoint(tmp_path / "out.nc"), changed)
    written = open_artifact(tmp_path / "out.nc", "segment").groups["sample_stats"]["swaps"]
    assert_same_bits(written.values, stats["swaps"])
    assert written.dims[:2] == ("chain", "draw")


def test_equal_values_give_equal_bytes(tmp_path: Path, make_chain_group: MakeBlock) -> None:
    for name in ("one", "two"):
        make_chain_group(tmp_path / name, (0, 1), warmups=2)
    written = sorted(path.relative_to(tmp_path / "one") for path in tmp_path.glob("one/**/*.nc"))
    assert len(written) == 6
    for path in written:
        one, two = (tmp_path / name / path for name in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()


def join_by_hand(parts: Sequence[Segment]) -> Segment:
    """Segments after each other, along their draws."""

    def along_draws(dictionaries: Sequence[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
        return {
            name: np.concatenate([part[name] for part in dictionaries], axis=1)
            for name in dictionaries[0]
        }

    first, last = parts[0], parts[-1]
    named: NamedArrays = first.variables._replace(
        values=along_draws([part.variables.values for part in parts])
    )
    return first._replace(
        variables=named,
        stats=along_draws([part.stats for part in parts]),
        function=np.concatenate([part.function for part in parts], axis=1),
        end=last.end,
    )


@pytest.mark.parametrize("chain_groups", [((2,), (0,), (1,)), ((2,), (0, 1)), ((2, 0, 1),)])
def test_chain_groups_and_pieces_join_in_order(
    tmp_path: Path,
    make_chain_groups: MakeBlocks,
    make_segment: MakeSegment,
    make_stats: MakeStats,
    assert_same_bits: Same,
    chain_groups: Blocks,
) -> None:
    """Chains are in the order of the chain groups, however they are grouped."""
    groups = assemble(*make_chain_groups(tmp_path, chain_groups, segments=3, warmups=2))
    whole = join_by_hand([make_segment((2, 0, 1), first) for first in (0, 8, 16)])
    assert_same_bits(groups["predictions"]["f"].values, whole.function)
    stats, posterior = groups["all_sample_stats"], groups["posterior"]
    assert_same_bits({name: stats[name].values for name in whole.stats}, whole.stats)
    assert_same_bits(contents.read_variables(posterior).values, whole.variables.values)
    warmed, parts = groups["warmup_sample_stats"], [make_stats((2, 0, 1), n, 5) for n in (0, 5)]
    for name in parts[0]:
        expected = np.concatenate([part[name] for part in parts], axis=1)
        assert_same_bits(warmed[name].values, expected)
    for group in groups.values():
        assert group["chain"].values.tolist() == [2, 0, 1]
    assert posterior["draw"].values.tolist() == [3, 7, 11, 15, 19, 23]
    assert stats["draw"].values.tolist() == [*range(24)]
    stored = groups["sample_stats"]
    assert stored["draw"].values.tolist() == posterior["draw"].values.tolist()
    thinned = {n: values[:, 3::4] for n, values in whole.stats.items() if n != "energy"}
    assert_same_bits({str(name): values.values for name, values in stored.items()}, thinned)
    assert warmed["draw"].values.tolist() == [*range(10)]


def test_one_long_segment_equals_its_pieces(
    tmp_path: Path, make_chain_group: MakeBlock, make_segment: MakeSegment
) -> None:
    """The numbers of draws go on from segment to segment."""
    warmups, pieces = make_chain_group(tmp_path, (0, 1), 2)
    joined = assemble(warmups, pieces)
    long = join_by_hand([make_segment((0, 1), first) for first in (0, 8)])
    segment_files.write_segment(tmp_path / "long.nc", long, {})
    whole = assemble(warmups, [tmp_path / "long.nc"])
    for name, group in whole.items():
        assert group.identical(joined[name]), name


def test_segments_of_no_draws_end_where_the_one_before_ended(
    tmp_path: Path, make_chain_group: MakeBlock, assert_same_bits: Same
) -> None:
    """They have no draws, can be continued from, and are skipped."""
    warmups, segments = make_chain_group(tmp_path, (0, 1), 2)
    empty, again = tmp_path / "empty.nc", tmp_path / "again.nc"
    nothing = segment_files.empty_segment(open_artifact(segments[1], "segment"))
    segment_files.write_segment(empty, nothing, {"verb": "draw"})
    nothing = segment_files.empty_segment(open_artifact(empty, "segment"))
    segment_files.write_segment(again, nothing, {"verb": "draw"})
    end = read_checkpoint(segments[1])
    for path in (empty, again):
        assert_same_bits(read_checkpoint(path), end)
        assert read_attrs(path)["verb"] == "draw"
        groups = open_artifact(path, "segment").groups
        assert {groups[name].sizes["draw"] for name in chains.DRAWN} == {0}
    expected = assemble(warmups, segments)
    found = assemble(warmups, [*segments, empty, again])
    for name, group in expected.items():
        assert found[name].identical(group), name
    before, after = (draws(paths) for paths in (segments, [*segments, empty, again]))
    assert all(after[name].identical(group) for name, group in before.items())


def test_no_segment_of_no_draws_follows_a_warmup(
    tmp_path: Path, make_chain_group: MakeBlock
) -> None:
    """Chains that drew nothing have not converged."""
    (warmup,), _ = make_chain_group(tmp_path, (0,))
    with refused("artifacts.other_kind", path=warmup, found="warmup", kind="segment"):
        segment_files.empty_segment(open_artifact(warmup, "segment"))
    assert not (tmp_path / "empty.nc").exists()


@pytest.mark.parametrize("chain_groups", [((2,), (0, 1)), ((2, 0, 1),)])
def test_draws_so_far_are_those_of_the_posterior(
    tmp_path: Path,
    make_chain_groups: MakeBlocks,
    make_segment: MakeSegment,
    assert_same_bits: Same,
    chain_groups: Blocks,
) -> None:
    warmups, segments = make_chain_groups(tmp_path, chain_groups, segments=2)
    found, posterior = draws(segments), assemble(warmups, segments)
    assert found.keys() == {"posterior", "sample_stats", "all_sample_stats", "predictions"}
    assert all(group.identical(posterior[name]) for name, group in found.items())
    whole = join_by_hand([make_segment((2, 0, 1), first) for first in (0, 8)])
    assert_same_bits(found["predictions"]["f"].values, whole.function)
