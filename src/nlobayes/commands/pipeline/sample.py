"""Sample a posterior by PyMC's NUTS, all chains in one job, as a reference for our kernels."""

from pathlib import Path
from typing import Annotated

import typer

from nlobayes import provenance
from nlobayes.artifacts.chains import sampled_groups
from nlobayes.artifacts.contents import observed_groups, read_dataset, read_statement
from nlobayes.artifacts.meanings import explain
from nlobayes.artifacts.netcdf import write_groups
from nlobayes.artifacts.seals import digests
from nlobayes.commands.shared import runtime
from nlobayes.commands.shared.earlier import earlier_files, earlier_of
from nlobayes.study.jobs import SampleJob, read_job


def sample(
    spec: Annotated[str, typer.Option(help="Job specification: JSON text or a file.")],
    dataset: Annotated[Path, typer.Option(help="Dataset of the posterior.")],
    out: Annotated[Path, typer.Option(help="Posterior to write.")],
) -> None:
    """Write the chains and the data they are conditioned on, in the format of `assemble`."""
    job = read_job(SampleJob, spec)
    runtime.configure(job.model.precision)
    from nlobayes import builder

    data = read_dataset(dataset)
    made = builder.sample_chains(job, data, earlier_of(job.model))
    groups = sampled_groups(made.draws, made.stats, made.warmup)
    groups |= observed_groups(data, data.split == 0)
    groups["predictions"] = groups["predictions"].assign_coords(reference_point=data.reference)
    record = provenance.record(
        "sample",
        job.model_dump(),
        digests([dataset, *earlier_files(job.model)]),
        device=runtime.device(),
        precision=job.model.precision,
        exact=True,
        **read_statement(dataset),
    )
    explained = {name: explain(group) for name, group in groups.items()}
    write_groups(out, "posterior", explained, record)
