"""Segments of warm-ups and of chains, and the state from which the next one continues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import xarray as xr

from nlobayes.artifacts.contents import named_group, read_variables
from nlobayes.artifacts.netcdf import Artifact, Groups, write_groups
from nlobayes.errors import InputError
from nlobayes.stage_files import File
from nlobayes.types import NamedArrays
from nlobayes.untyped import Facts

Attrs = Facts
Arrays = Mapping[str, np.ndarray]
CHECKPOINT = ("state", "tuned", "adaptation")


class Checkpoint(NamedTuple):
    """State of a group of chains, from which it continues bit for bit.

    The keys follow from the run's seed, `chains` and `next_step`.
    """

    chains: tuple[int, ...]
    """Numbers of the chains of the chain group."""
    next_step: int
    """Number of the next step of the warm-up, or of the next draw."""
    state: dict[str, np.ndarray]
    """Arrays of the kernel's state by name, each with leading axis (chain,)."""
    tuned: dict[str, np.ndarray]
    """Arrays of the tuned values by name, each with leading axis (chain,)."""
    adaptation: dict[str, np.ndarray]
    """Arrays of the carry of an unfinished warm-up, by name; empty in sampling."""


class WarmupSegment(NamedTuple):
    """Consecutive steps of the warm-up of a group of chains, and its state after the last.

    `stats` has axes (chain, step, ...).
    """

    first_step: int
    stats: dict[str, np.ndarray]
    end: Checkpoint


class Segment(NamedTuple):
    """Consecutive draws of a group of chains, and its state after the last.

    `variables` holds every `thin`-th draw (chain, kept, ...). Every draw is in `stats`
    (chain, draw, ...) and in `function` (chain, draw, reference_point), the network at the
    reference points in its own units, with a last axis (output) where it has several. A segment of
    no draws means that the chain group had converged before.
    """

    first_draw: int
    thin: int
    variables: NamedArrays
    stats: dict[str, np.ndarray]
    function: np.ndarray
    end: Checkpoint


def write_warmup(path: Path, warmed: WarmupSegment, attrs: Attrs) -> None:
    """Write a segment of a warm-up."""
    first_step, stats, end = warmed
    groups = {
        "warmup_sample_stats": label_stats(stats, end.chains, first_step),
        **_checkpoint(end),
        "adaptation": _arrays(end.adaptation, ()),
    }
    write_groups(path, "warmup", groups, {**attrs, "chains": end.chains})


def write_segment(path: Path, segment: Segment, attrs: Attrs) -> None:
    """Write one segment of a chain group."""
    end, function = segment.end, segment.function
    chains = {"chain": list(end.chains)}
    draws = segment.first_draw + np.arange(function.shape[1])
    kept = {**chains, "draw": draws[segment.thin - 1 :: segment.thin]}
    dims = ("chain", "draw", "reference_point", "output")[: function.ndim]
    predictions = {"f": (dims, function)}
    groups = {
        "posterior": named_group(segment.variables, ("chain", "draw"), kept),
        "sample_stats": label_stats(segment.stats, end.chains, segment.first_draw),
        "predictions": xr.Dataset(predictions, {**chains, "draw": draws}),
        **_checkpoint(end),
    }
    write_groups(path, "segment", groups, {**attrs, "chains": end.chains})


def empty_segment(previous: Artifact) -> Segment:
    """Return a segment without draws that continues a segment, in its end state."""
    function, stats = previous.groups["predictions"]["f"].values, previous.groups["sample_stats"]
    variables, end = read_variables(previous.groups["posterior"]), checkpoint_of(previous)
    nothing = {name: values[:, :0] for name, values in variables.values.items()}
    of_draws = {str(name): values.values[:, :0] for name, values in stats.items()}
    kept = variables._replace(values=nothing)
    return Segment(end.next_step, 1, kept, of_draws, function[:, :0], end)


def checkpoint_of(artifact: Artifact) -> Checkpoint:
    """Return the end state of a warm-up or of a segment."""
    path, groups, attrs, _ = artifact
    if attrs.get("kind") not in ("segment", "warmup"):
        raise InputError("artifacts.other_kind", path=path, found=attrs.get("kind"), kind="warmup")
    return Checkpoint(
        chains=tuple(attrs["chains"]),
        next_step=int(groups["state"].attrs["next_step"]),
        **{
            name: {str(key): array.values for key, array in groups[name].data_vars.items()}
            if name in groups
            else {}
            for name in CHECKPOINT
        },
    )


WarmupFile = Annotated[WarmupSegment, File(write=write_warmup)]
DrawnFile = Annotated[Segment, File(write=write_segment)]
CheckpointFile = Annotated[Checkpoint, File(checkpoint_of, kind="warmup")]


def label_stats(stats: Arrays, chains: Sequence[int], first: int) -> xr.Dataset:
    """Label statistics (chain, draw, ...), whose first draw has the number `first`."""
    leading = ("chain", "draw")
    draws = first + np.arange(next(iter(stats.values())).shape[1])
    return _arrays(stats, leading).assign_coords(chain=list(chains), draw=draws)


def _checkpoint(end: Checkpoint) -> Groups:
    parameters = next(a.shape[-1] for n, a in end.state.items() if n.startswith("position"))
    state, tuned = (_arrays(arrays, ("chain",), parameters) for arrays in (end.state, end.tuned))
    return {"state": state.assign_attrs(next_step=end.next_step), "tuned": tuned}


def _arrays(arrays: Arrays, leading: tuple[str, ...], parameters: int = -1) -> xr.Dataset:
    """Label arrays of any shape: first `leading`, then `parameter` or numbered dims.

    An array has the dim `parameter` if its only other axis has length `parameters`.
    """

    def dims(name: str, shape: tuple[int, ...]) -> tuple[str, ...]:
        rest = shape[len(leading) :]
        if rest == (parameters,):
            return (*leading, "parameter")
        return (*leading, *(f"{name}_dim_{axis}" for axis in range(len(rest))))

    return xr.Dataset({name: (dims(name, array.shape), array) for name, array in arrays.items()})
