"""Join all chains into one posterior, as ArviZ InferenceData."""

from pathlib import Path
from typing import Annotated, Any

import typer

from nlobayes import provenance
from nlobayes.artifacts import chains, contents
from nlobayes.artifacts.netcdf import Artifact, explain, open_artifact, write_groups
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
    source = open_artifact(dataset, "dataset")
    drawn = [open_artifact(path, "segment", only=("predictions",)) for path in segment]
    made = _one_specification(drawn)
    every = _stride(drawn) if made["spec"].get("thin", 1) is None else 1
    warmed = (open_artifact(path, "warmup") for path in warmup)
    groups = chains.assemble(warmed, (open_artifact(path, "segment") for path in segment), every)
    data = contents.dataset_of(source)
    groups |= contents.observed_groups(data, data.split == 0)
    groups["predictions"] = groups["predictions"].assign_coords(reference_point=data.reference)
    groups = {name: explain(group) for name, group in groups.items()}
    facts = {name: made[name] for name in ("device", "precision", "exact")}
    facts |= contents.statement_of(source.attrs)
    inputs = digests([source, *warmup, *drawn])
    record = provenance.record("assemble", made["spec"], inputs, **facts)
    write_groups(out, "posterior", groups, record)


def _stride(segments: list[Artifact]) -> int:
    function = chains.functions_of(segments)
    outputs = function.reshape(*function.shape[:2], -1)
    return storage_stride(outputs, most=MOST_STORED)


def _one_specification(segments: list[Artifact]) -> dict[str, Any]:
    first, *others = segments
    for other in others:
        if other.attrs["spec"] != first.attrs["spec"]:
            raise InputError("commands.segments_of_other_runs", path=other.path, first=first.path)
    return first.attrs
