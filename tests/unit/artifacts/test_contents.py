"""Every value that is written is read back bit for bit, and chains join in their own order."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlobayes.artifacts import contents
from nlobayes.artifacts.netcdf import read_attrs, read_groups, write_groups
from nlobayes.errors import InputError
from nlobayes.types import ChainState, Dataset, Named, Segment, Start

MakeChain = Callable[..., tuple[Path, list[Path]]]
PRECISIONS = (np.float32, np.float64)


def assert_same_bits(one: Any, two: Any) -> None:
    """Compare values, arrays by type, shape and bytes, however they are nested."""
    if isinstance(one, np.ndarray):
        assert (one.dtype, one.shape) == (two.dtype, two.shape)
        assert one.tobytes() == two.tobytes()
    elif isinstance(one, dict):
        assert one.keys() == two.keys()
        for key in one:
            assert_same_bits(one[key], two[key])
    elif isinstance(one, tuple):
        assert len(one) == len(two)
        for left, right in zip(one, two, strict=True):
            assert_same_bits(left, right)
    else:
        assert one == two


def assert_same_names(one: Named, two: Named) -> None:
    assert_same_bits(one.values, two.values)
    assert one.dims == two.dims
    assert {dim: [*label] for dim, label in one.coords.items()} == {
        dim: label.tolist() for dim, label in two.coords.items()
    }


def test_a_dataset_is_read_back(tmp_path: Path, dataset: Dataset, attrs: dict[str, Any]) -> None:
    contents.write_dataset(tmp_path / "out.nc", dataset, attrs)
    assert_same_bits(dataset, contents.read_dataset(tmp_path / "out.nc"))


def test_a_dataset_of_extreme_numbers_is_read_back(tmp_path: Path, dataset: Dataset) -> None:
    extreme = np.resize([5e-324, -0.0, np.finfo(float).max, 0.1 + 0.2], len(dataset.target))
    changed = dataset._replace(observed=extreme, target=-extreme)
    contents.write_dataset(tmp_path / "out.nc", changed, {})
    assert_same_bits(changed, contents.read_dataset(tmp_path / "out.nc"))


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_a_start_is_read_back(
    tmp_path: Path, make_start: Callable[..., Start], dtype: type[np.floating[Any]]
) -> None:
    start = make_start(3, dtype)
    contents.write_start(tmp_path / "out.nc", start, {})
    again = contents.read_start(tmp_path / "out.nc")
    assert_same_names(start.variables, again.variables)
    assert_same_bits(start._replace(variables=again.variables), again)


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_the_state_after_a_warmup_is_read_back(
    tmp_path: Path, make_state: Callable[..., ChainState], dtype: type[np.floating[Any]]
) -> None:
    state, stats = make_state(2, 0, dtype), {"lp": np.arange(3.0), "energy": -np.arange(3.0)}
    contents.write_warmup(tmp_path / "out.nc", stats, state, {})
    assert_same_bits(state, contents.read_state(tmp_path / "out.nc"))
    written = read_groups(tmp_path / "out.nc", "warmup")["warmup_sample_stats"]
    assert (written["chain"].values, written["draw"].values.tolist()) == ([2], [0, 1, 2])
    assert_same_bits({name: written[name].values[0] for name in stats}, stats)


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_a_segment_is_read_back(
    tmp_path: Path, make_segment: Callable[..., Segment], dtype: type[np.floating[Any]]
) -> None:
    segment = make_segment(2, 8, draws=8, keep_every=4, dtype=dtype)
    contents.write_segment(tmp_path / "out.nc", segment, {})
    assert_same_bits(segment.end, contents.read_state(tmp_path / "out.nc"))
    groups = read_groups(tmp_path / "out.nc", "segment")
    assert_same_bits(segment.function, groups["predictions"]["f"].values[0])
    assert_same_bits(
        segment.stats, {name: groups["sample_stats"][name].values[0] for name in segment.stats}
    )
    again = contents.read_variables(groups["posterior"])
    assert again.dims == segment.variables.dims
    assert_same_bits({n: v[0] for n, v in again.values.items()}, segment.variables.values)
    assert groups["posterior"]["chain"].values.tolist() == [2]
    assert groups["posterior"]["draw"].values.tolist() == [11, 15]
    assert groups["sample_stats"]["draw"].values.tolist() == [*range(8, 16)]


def test_equal_values_give_equal_bytes(
    tmp_path: Path, make_chain: MakeChain, dataset: Dataset, attrs: dict[str, Any]
) -> None:
    for name in ("one", "two"):
        contents.write_dataset(tmp_path / name / "dataset.nc", dataset, attrs)
        make_chain(tmp_path / name, 0)
    written = sorted(path.relative_to(tmp_path / "one") for path in tmp_path.glob("one/**/*.nc"))
    assert len(written) == 5
    for path in written:
        one, two = (tmp_path / name / path for name in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()


def join(
    make_chain: MakeChain, folder: Path, chains: Sequence[int], segments: int
) -> dict[str, Any]:
    return contents.assemble([make_chain(folder, chain, segments) for chain in chains])


def test_chains_and_segments_join_in_order(
    tmp_path: Path, make_chain: MakeChain, make_segment: Callable[..., Segment]
) -> None:
    groups = join(make_chain, tmp_path, chains=(2, 0, 1), segments=3)
    for place, chain in enumerate((2, 0, 1)):
        parts = [make_segment(chain, first) for first in (0, 8, 16)]
        assert_same_bits(
            groups["predictions"]["f"].values[place],
            np.concatenate([part.function for part in parts]),
        )
        for name in parts[0].stats:
            assert_same_bits(
                groups["sample_stats"][name].values[place],
                np.concatenate([part.stats[name] for part in parts]),
            )
        for name in parts[0].variables.values:
            assert_same_bits(
                groups["posterior"][name].values[place],
                np.concatenate([part.variables.values[name] for part in parts]),
            )
    assert groups["posterior"]["chain"].values.tolist() == [2, 0, 1]
    assert groups["posterior"]["draw"].values.tolist() == [3, 7, 11, 15, 19, 23]
    assert groups["sample_stats"]["draw"].values.tolist() == [*range(24)]
    assert groups["warmup_sample_stats"].sizes == {"chain": 3, "draw": 5}


def test_one_long_segment_equals_its_pieces(
    tmp_path: Path, make_chain: MakeChain, make_segment: Callable[..., Segment]
) -> None:
    """The numbers of draws go on from segment to segment."""
    warmup, pieces = make_chain(tmp_path, 0, 2)
    joined = contents.assemble([(warmup, pieces)])
    parts = [make_segment(0, first) for first in (0, 8)]
    long = parts[0]._replace(
        variables=parts[0].variables._replace(
            values={
                name: np.concatenate([part.variables.values[name] for part in parts])
                for name in parts[0].variables.values
            }
        ),
        stats={
            name: np.concatenate([part.stats[name] for part in parts]) for name in parts[0].stats
        },
        function=np.concatenate([part.function for part in parts]),
    )
    contents.write_segment(tmp_path / "long.nc", long, {})
    whole = contents.assemble([(warmup, [tmp_path / "long.nc"])])
    for name, group in whole.items():
        assert group.identical(joined[name]), name


def swapped_segments(a: list[Path], b: list[Path]) -> tuple[list[Path], list[Path]]:
    return a[::-1], b


def swapped_chains(a: list[Path], b: list[Path]) -> tuple[list[Path], list[Path]]:
    return b, a


def repeated_segment(a: list[Path], b: list[Path]) -> tuple[list[Path], list[Path]]:
    return [a[0], a[0]], b


def missing_segment(a: list[Path], b: list[Path]) -> tuple[list[Path], list[Path]]:
    return a[1:], b


def mixed_chains(a: list[Path], b: list[Path]) -> tuple[list[Path], list[Path]]:
    return [a[0], b[1]], b


@pytest.mark.parametrize(
    ("turn", "said"),
    [
        (swapped_segments, "starts at draw 8 of chain 0 where draw 0 of chain 0 is next"),
        (swapped_chains, "starts at draw 0 of chain 1 where draw 0 of chain 0 is next"),
        (repeated_segment, "starts at draw 0 of chain 0 where draw 8 of chain 0 is next"),
        (missing_segment, "starts at draw 8 of chain 0 where draw 0 of chain 0 is next"),
        (mixed_chains, "starts at draw 8 of chain 1 where draw 8 of chain 0 is next"),
    ],
)
def test_segments_out_of_order_are_refused(
    tmp_path: Path, make_chain: MakeChain, turn: Callable[..., Any], said: str
) -> None:
    (warm_a, a), (warm_b, b) = (make_chain(tmp_path, chain) for chain in (0, 1))
    first, second = turn(a, b)
    with pytest.raises(InputError, match=f"{said}; give the segments chain by chain, in order"):
        contents.assemble([(warm_a, first), (warm_b, second)])


def test_a_chain_that_is_given_twice_is_refused(tmp_path: Path, make_chain: MakeChain) -> None:
    """Two copies of one chain would pass for two chains that agree."""
    chain = make_chain(tmp_path, 0)
    with pytest.raises(InputError, match=r"got chains \[0, 0\]; give every chain once"):
        contents.assemble([chain, chain])


def test_chains_of_unequal_length_are_refused(tmp_path: Path, make_chain: MakeChain) -> None:
    chains = [make_chain(tmp_path, 0, 2), make_chain(tmp_path, 1, 3)]
    with pytest.raises(InputError, match=r"do not fit together along chain .* as many draws"):
        contents.assemble(chains)


def test_segments_of_other_reference_points_are_refused(
    tmp_path: Path, make_chain: MakeChain, make_segment: Callable[..., Segment]
) -> None:
    warmup, (first, second) = make_chain(tmp_path, 0)
    other = make_segment(0, 8)
    contents.write_segment(second, other._replace(function=other.function[:, :-1]), {})
    with pytest.raises(InputError, match="do not fit together along draw"):
        contents.assemble([(warmup, [first, second])])


def test_segments_of_other_samplers_are_refused(
    tmp_path: Path, make_chain: MakeChain, make_segment: Callable[..., Segment]
) -> None:
    warmup, (first, second) = make_chain(tmp_path, 0)
    other = make_segment(0, 8)
    fewer = {name: value for name, value in other.stats.items() if name != "tree_depth"}
    contents.write_segment(second, other._replace(stats=fewer), {})
    with pytest.raises(InputError, match="they hold different variables"):
        contents.assemble([(warmup, [first, second])])


@pytest.mark.parametrize("place", ["warmup", "segment"])
def test_parts_of_another_kind_are_refused(
    tmp_path: Path, make_chain: MakeChain, place: str
) -> None:
    warmup, segments = make_chain(tmp_path, 0)
    chain = (segments[0], segments) if place == "warmup" else (warmup, [warmup])
    with pytest.raises(InputError, match=f"not '{place}'; check the path"):
        contents.assemble([chain])


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_truncated_parts_are_refused(tmp_path: Path, make_chain: MakeChain, share: float) -> None:
    warmup, segments = make_chain(tmp_path, 0)
    content = segments[1].read_bytes()
    segments[1].unlink()
    segments[1].write_bytes(content[: int(share * len(content))])
    with pytest.raises(InputError, match="delete it and run the workflow again"):
        contents.assemble([(warmup, segments)])
    with pytest.raises(InputError, match="check the path"):
        contents.read_state(segments[1])


@pytest.mark.parametrize("kind", ["dataset", "start"])
def test_a_chain_cannot_continue_from_another_kind(
    tmp_path: Path, make_start: Callable[..., Start], dataset: Dataset, kind: str
) -> None:
    path = tmp_path / "in.nc"
    if kind == "dataset":
        contents.write_dataset(path, dataset, {})
    else:
        contents.write_start(path, make_start(0), {})
    with pytest.raises(InputError, match=f"kind '{kind}', not 'warmup'; check the path"):
        contents.read_state(path)


def test_the_data_of_a_posterior_are_its_rows(dataset: Dataset) -> None:
    train = dataset.split == 0
    groups = contents.observed_groups(dataset, train)
    assert_same_bits(groups["observed_data"]["target"].values, dataset.target[train])
    assert_same_bits(groups["constant_data"]["features"].values, dataset.features[train])
    assert_same_bits(
        groups["predictions_constant_data"]["features"].values, dataset.features[dataset.reference]
    )


def test_predictions_are_labelled_and_read_back(
    tmp_path: Path, make_chain: MakeChain, dataset: Dataset
) -> None:
    draws = join(make_chain, tmp_path, chains=(0, 1), segments=1)["posterior"]
    rng = np.random.default_rng(0)
    functions, members = rng.normal(size=(2, 2, 60)), rng.normal(size=(3, 60))
    groups = contents.predictions_groups(functions, members, dataset, draws)
    write_groups(tmp_path / "out.nc", "predictions", groups, {"exact": True})
    again = read_groups(tmp_path / "out.nc", "predictions")
    assert_same_bits(again["predictions"]["f"].values, functions)
    assert_same_bits(again["baseline"]["f"].values, members)
    assert_same_bits(again["points"]["observed"].values, dataset.observed)
    assert again["predictions"]["draw"].values.tolist() == [3, 7]
    assert read_attrs(tmp_path / "out.nc") == {"kind": "predictions", "exact": True}


def test_a_copy_of_a_file_is_the_file(tmp_path: Path, make_chain: MakeChain) -> None:
    """Nothing in a file depends on its name."""
    warmup, _ = make_chain(tmp_path, 0)
    moved = Path(shutil.copy(warmup, tmp_path / "moved.nc"))
    assert_same_bits(contents.read_state(warmup), contents.read_state(moved))
