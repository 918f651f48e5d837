"""Draw one segment of a group of chains."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from nlobayes import provenance, runtime
from nlobayes.artifacts.chains import read_checkpoint, write_empty_segment, write_segment
from nlobayes.artifacts.contents import read_dataset
from nlobayes.artifacts.files import read_json
from nlobayes.artifacts.netcdf import open_artifact
from nlobayes.artifacts.seals import digests
from nlobayes.commands.shared.earlier import earlier_files, earlier_of
from nlobayes.errors import InputError
from nlobayes.study.jobs import DrawJob, read_job
from nlobayes.types import Checkpoint, Segment
from nlobayes.watching.progress import pieces

INHERITED = ("device", "precision", "exact")


def draw(
    spec: Annotated[str, typer.Option(help="Job specification: JSON text or a file.")],
    dataset: Annotated[Path, typer.Option(help="Dataset of the posterior.")],
    previous: Annotated[Path, typer.Option(help="Warm-up or segment to continue from.")],
    out: Annotated[Path, typer.Option(help="Segment to write.")],
    verdict: Annotated[
        Path | None, typer.Option(help="Verdict on the segments before; none is drawn once met.")
    ] = None,
    chain_group: Annotated[int, typer.Option(help="Number of the group of chains.", min=0)] = 0,
) -> None:
    """Continue a chain group from its stored state, and write the draws with the new state."""
    job = read_job(DrawJob, spec)
    if verdict is not None and read_json(verdict, "met")["met"]:
        typer.echo(f"{verdict}: converged, nothing to draw", err=True)
        _write_nothing(job, dataset, previous, verdict, out)
        return
    runtime.configure(job.model.precision, job.model.device, job.model.shards)
    runtime.choose_device(job.model.device, chain_group, job.model.shards)
    import jax

    from nlobayes import builder
    from nlobayes.inference import checks, records, sampling

    data, begin = read_dataset(dataset), read_checkpoint(previous)
    if begin.adaptation and begin.next_step < job.warmup.steps:
        made, steps = begin.next_step, job.warmup.steps
        raise InputError("commands.unfinished_warmup", where=previous, made=made, steps=steps)
    model, kernel, adaptation = builder.build_sampler(job, data, earlier_of(job.model))
    template = builder.sampling_template(model, adaptation, len(begin.chains))
    states, tuned = (
        records.from_arrays(like, arrays, str(previous))
        for like, arrays in zip(template, (begin.state, begin.tuned), strict=True)
    )
    observe = builder.observer(model, data)
    keys = builder.chain_keys(job.seed, "draw", begin.chains)
    completion = builder.complete_chains(model, job.seed, begin.chains)
    first_draw = 0 if begin.adaptation else begin.next_step
    unit, label = job.thin or 1, f"draws of chains {list(begin.chains)}"

    draw_on = partial(
        sampling.draw, keys, kernel, thin=unit, observe=observe, completion=completion
    )

    def draw_piece(states: Any, first: int, kept: int) -> Any:
        return draw_on(states, tuned, first=first, kept=kept)

    step = jax.jit(draw_piece, static_argnames="kept")
    drawn = []
    for first, kept in pieces(job.draws // unit, unit, label):
        states, piece = step(states, first_draw + first * unit, kept=kept)
        drawn.append(jax.device_get(piece))
    draws = records.join(drawn)
    noise = {name: value for name, value in draws.observed.items() if name != "f"}
    stats = {**records.sample_stats(draws.info, draws.logdensity), **noise}
    checks.check_alive(stats, begin.chains, label, moved_before=not begin.adaptation)
    end = Checkpoint(
        begin.chains, first_draw + job.draws, records.to_arrays(states), begin.tuned, {}
    )
    variables = builder.name_variables(model, draws.kept)
    segment = Segment(first_draw, unit, variables, stats, draws.observed["f"], end)
    record = provenance.record(
        "draw",
        job.model_dump(),
        digests(filter(None, (dataset, previous, verdict, *earlier_files(job.model)))),
        device=runtime.device(),
        precision=job.model.precision,
        exact=kernel.exact,
    )
    write_segment(out, segment, record)


def _write_nothing(job: DrawJob, dataset: Path, previous: Path, verdict: Path, out: Path) -> None:
    """Write a segment without draws, because the chains have converged before."""
    before = open_artifact(previous, "segment")
    facts = {name: before.attrs[name] for name in INHERITED}
    inputs = digests([dataset, before, verdict])
    write_empty_segment(out, before, provenance.record("draw", job.model_dump(), inputs, **facts))
