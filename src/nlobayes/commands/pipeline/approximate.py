"""Make a posterior by an approximate method, in one job."""

from pathlib import Path
from typing import Annotated

import typer

from nlobayes import provenance
from nlobayes.artifacts.contents import observed_groups, read_dataset, read_map, read_statement
from nlobayes.artifacts.draws import LINEARISED, draw_groups
from nlobayes.artifacts.meanings import explain
from nlobayes.artifacts.netcdf import write_groups
from nlobayes.artifacts.seals import digests
from nlobayes.commands.shared import runtime
from nlobayes.commands.shared.earlier import earlier_files, earlier_of
from nlobayes.commands.shared.resampling import choose
from nlobayes.study.jobs import ApproximateJob, read_job


def approximate(
    spec: Annotated[str, typer.Option(help="Job specification: JSON text or a file.")],
    dataset: Annotated[Path, typer.Option(help="Dataset of the posterior.")],
    start: Annotated[list[Path], typer.Option(help="MAP that the method starts from; repeat.")],
    out: Annotated[Path, typer.Option(help="Posterior to write.")],
) -> None:
    """Write the draws of the method, marked as not exact, with the data they are conditioned on."""
    job = read_job(ApproximateJob, spec)
    runtime.configure(job.model.precision, job.model.device, job.model.shards)
    runtime.choose_device(job.model.device, 0, job.model.shards)
    from nlobayes import builder

    data = read_dataset(dataset)
    stated = builder.model_for(job.method, job.model)
    model = builder.build_model(stated, data, earlier_of(job.model))
    maps = [read_map(path).position for path in start]
    for path, position in zip(start, maps, strict=True):
        builder.check_finite(model, position, str(path))
    begin = builder.approach(model, data, maps)
    key = builder.chain_key(job.seed, "approximate", 0)
    drawn = builder.build_method(job.method).sample(key, begin)
    named = builder.name_draws(model, data, drawn)
    weighed: dict[str, float | None] = {}
    if drawn.resample is not None:
        named, weighed = choose(named, drawn.resample, job.seed)
    linearised = {} if named.centres is None else {"predictive": LINEARISED}
    groups = draw_groups(named)
    groups |= observed_groups(data, data.split == 0)
    groups["predictions"] = groups["predictions"].assign_coords(reference_point=data.reference)
    made = provenance.record(
        "approximate",
        job.model_dump(),
        digests([dataset, *start, *earlier_files(job.model)]),
        device=runtime.device(),
        precision=job.model.precision,
        exact=False,
        **drawn.of_starts,
        **weighed,
        **linearised,
        **read_statement(dataset),
    )
    explained = {name: explain(group) for name, group in groups.items()}
    write_groups(out, "posterior", explained, {**made, "form": "approximation"})
