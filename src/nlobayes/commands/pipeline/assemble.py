"""Join all chains into one posterior, as ArviZ InferenceData."""

from pathlib import Path
from typing import Annotated, Any

import typer

from nlobayes import provenance
from nlobayes.artifacts import chains, contents
from nlobayes.artifacts.meanings import explain
from nlobayes.artifacts.netcdf import read_attrs, write_groups
from nlobayes.artifacts.seals import digests
from nlobayes.diagnostics.thinning import storage_stride
from nlobayes.errors import InputError
from nlobayes.stages.sizes import MOST_STORED


def assemble(
    dataset: Annotated[Path, typer.Option(help="Dataset of the posterior.")],
    warmup: Annotated[list[Path], typer.Option(help="Warm-up, group by group in order.")],
    segment: Annotated[list[Path], typer.Option(help="Segment, group by group in order.")],
    out: Annotated[Path, typer.Option(help="Posterior to write.")],
) -> None:
    """Join segments along draws and chains, with the data they are conditioned on.

    Where the specification does not state every how many draws weights are stored, the
    autocorrelation of f decides.
    """
    made = _one_specification(segment)
    every = _stride(segment) if made["spec"].get("thin", 1) is None else 1
    groups = chains.assemble(warmup, segment, every)
    data = contents.read_dataset(dataset)
    groups |= contents.observed_groups(data, data.split == 0)
    groups["predictions"] = groups["predictions"].assign_coords(reference_point=data.reference)
    groups = {name: explain(group) for name, group in groups.items()}
    facts = {name: made[name] for name in ("device", "precision", "exact")}
    facts |= contents.read_statement(dataset)
    inputs = digests([dataset, *warmup, *segment])
    record = provenance.record("assemble", made["spec"], inputs, **facts)
    write_groups(out, "posterior", groups, record)


def _stride(segments: list[Path]) -> int:
    function = chains.read_draws(segments)["predictions"]["f"].values
    outputs = function.reshape(*function.shape[:2], -1)
    return storage_stride(outputs, most=MOST_STORED)


def _one_specification(segments: list[Path]) -> dict[str, Any]:
    first, *others = [read_attrs(path) for path in segments]
    for path, attrs in zip(segments[1:], others, strict=True):
        if attrs["spec"] != first["spec"]:
            raise InputError("commands.segments_of_other_runs", path=path, first=segments[0])
    return first
