"""Segments that are not of one run, or not in order, are never joined."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from nlobayes.artifacts import segments as segment_files
from nlobayes.artifacts.netcdf import open_artifact, read_attrs, write_groups
from nlobayes.artifacts.segments import Segment
from tests.refusals import refused
from tests.unit.artifacts.opened import assemble, draws, read_checkpoint

MakeBlocks = Callable[..., tuple[list[Path], list[Path]]]
MakeBlock = Callable[..., tuple[list[Path], list[Path]]]
MakeSegment = Callable[..., Segment]


def assemble_segments(warmups: list[Path], segments: list[Path]) -> None:
    assemble(warmups, segments)


def read_draws(warmups: list[Path], segments: list[Path]) -> None:
    del warmups
    draws(segments)


READ = pytest.mark.parametrize("read", [assemble_segments, read_draws])


@READ
@pytest.mark.parametrize(
    ("order", "chains", "draw", "due"),
    [
        ((1, 0, 2, 3), [0, 1], 8, 0),
        ((0, 0, 2, 3), [0, 1], 0, 8),
        ((1, 2, 3), [0, 1], 8, 0),
        ((0, 3, 1, 2), [2], 8, 0),
        ((0, 1, 2, 3, 3), [2], 8, 16),
    ],
    ids=["swapped", "repeated", "missing", "swapped in the second", "repeated last"],
)
@pytest.mark.by_day(4)
def test_segments_out_of_order_are_refused(
    tmp_path: Path,
    make_chain_groups: MakeBlocks,
    read: Callable[..., None],
    order: Sequence[int],
    chains: list[int],
    draw: int,
    due: int,
) -> None:
    """A segment that is counted twice would pass for more draws."""
    warmups, segments = make_chain_groups(tmp_path, ((0, 1), (2,)))
    with refused("artifacts.out_of_order", chains=chains, draw=draw, due=due):
        read(warmups, [segments[place] for place in order])


@pytest.mark.parametrize(("order", "draw", "due"), [((1, 0), 5, 0), ((0, 0), 0, 5), ((1,), 5, 0)])
def test_warmups_out_of_order_are_refused(
    tmp_path: Path, make_chain_group: MakeBlock, order: Sequence[int], draw: int, due: int
) -> None:
    warmups, segments = make_chain_group(tmp_path, (0, 1), warmups=2)
    out_of_order = warmups[order[-1] if due else order[0]]
    with refused("artifacts.out_of_order", where=out_of_order, draw=draw, due=due):
        assemble([warmups[place] for place in order], segments)


@READ
def test_a_chain_that_is_in_two_chain_groups_is_refused(
    tmp_path: Path, make_chain_groups: MakeBlocks, read: Callable[..., None]
) -> None:
    """Two copies of one chain would pass for two chains that agree."""
    pieces = make_chain_groups(tmp_path, ((0, 1), (1, 2)))
    with refused("artifacts.chain_twice", chain_groups=[(0, 1), (1, 2)]):
        read(*pieces)


@pytest.mark.parametrize("lacking", ["warmup", "segment"])
def test_chain_groups_without_warmups_or_segments_are_refused(
    tmp_path: Path, make_chain_group: MakeBlock, lacking: str
) -> None:
    """A chain without a warm-up and a chain without draws are both refused."""
    (warm_a, drawn_a), (warm_b, drawn_b) = (
        make_chain_group(tmp_path, chain_group) for chain_group in ((0,), (1, 2))
    )
    warmups = warm_a if lacking == "warmup" else warm_a + warm_b
    segments = drawn_a if lacking == "segment" else drawn_a + drawn_b
    with refused("artifacts.incomplete_chains", chains=(1, 2)):
        assemble(warmups, segments)


@READ
def test_chain_groups_of_unequal_length_are_refused(
    tmp_path: Path, make_chain_group: MakeBlock, read: Callable[..., None]
) -> None:
    (warm_a, a), (warm_b, b) = (
        make_chain_group(tmp_path, (0,), 2),
        make_chain_group(tmp_path, (1,), 3),
    )
    with refused("artifacts.unequal_parts", dim="chain"):
        read(warm_a + warm_b, a + b)


@READ
@pytest.mark.parametrize(("place", "dim"), [(1, "draw"), (2, "chain")])
@pytest.mark.by_day(2)
def test_segments_of_other_reference_points_are_refused(
    tmp_path: Path,
    make_chain_groups: MakeBlocks,
    read: Callable[..., None],
    place: int,
    dim: str,
) -> None:
    warmups, segments = make_chain_groups(tmp_path, ((0,), (1,)))
    fewer = segments[2:] if place == 2 else segments[1:2]
    for path in fewer:
        cut_reference_points(path)
    with refused("artifacts.unequal_parts", dim=dim):
        read(warmups, segments)


def cut_reference_points(path: Path) -> None:
    """Write the segment again without its last reference point."""
    groups = open_artifact(path, "segment").groups
    groups["predictions"] = groups["predictions"].isel(reference_point=slice(0, -1))
    write_groups(path, "segment", groups, read_attrs(path))


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_truncated_parts_are_refused(
    tmp_path: Path, make_chain_group: MakeBlock, share: float
) -> None:
    warmups, segments = make_chain_group(tmp_path, (0,))
    content = segments[1].read_bytes()
    segments[1].unlink()
    segments[1].write_bytes(content[: int(share * len(content))])
    with refused("artifacts.no_seal", where=segments[1]):
        assemble(warmups, segments)
    with refused("artifacts.no_seal", where=segments[1]):
        read_checkpoint(segments[1])


def test_segments_of_other_samplers_are_refused(
    tmp_path: Path, make_chain_group: MakeBlock, make_segment: MakeSegment
) -> None:
    warmups, (first, second) = make_chain_group(tmp_path, (0,))
    other = make_segment((0,), 8)
    fewer = {name: value for name, value in other.stats.items() if name != "tree_depth"}
    segment_files.write_segment(second, other._replace(stats=fewer), {})
    with refused("artifacts.parts_of_other_variables", dim="draw"):
        assemble(warmups, [first, second])
