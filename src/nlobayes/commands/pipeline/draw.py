"""Draw one segment of a group of chains."""

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any

import typer

from nlobayes.artifacts.contents import DatasetFile
from nlobayes.artifacts.files import json_file
from nlobayes.artifacts.netcdf import OpenerFile
from nlobayes.artifacts.segments import (
    CHECKPOINT,
    Checkpoint,
    DrawnFile,
    Segment,
    checkpoint_of,
    empty_segment,
)
from nlobayes.commands.stage import stage
from nlobayes.errors import InputError
from nlobayes.stage_files import Stated
from nlobayes.study.jobs import DrawJob
from nlobayes.types import Dataset, EarlierData
from nlobayes.watching.progress import pieces

INHERITED = ("device", "precision", "exact")


def _is_met(verdict: Mapping[str, Any] | None, **_: Any) -> bool:
    return verdict is not None and verdict["met"]


@stage(idle=_is_met)
def draw(
    job: DrawJob,
    dataset: DatasetFile,
    previous: OpenerFile,
    earlier: EarlierData | None,
    verdict: Annotated[dict[str, Any], json_file("met")] | None = None,
    chain_group: int = 0,
) -> Stated[DrawnFile]:
    """Continue a chain group from its stored state, and write the draws with the new state.

    Parameters
    ----------
    dataset
        Dataset of the posterior.
    previous
        Warm-up or segment to continue from.
    verdict
        Verdict on the segments before; none is drawn once met.
    chain_group
        Number of the group of chains.

    Returns
    -------
    out
        Segment to write.
    """
    if _is_met(verdict):
        typer.echo("converged, nothing to draw", err=True)
        before = previous("segment")
        return Stated(empty_segment(before), {name: before.attrs[name] for name in INHERITED})
    begin = checkpoint_of(previous(only=CHECKPOINT))
    if begin.adaptation and begin.next_step < job.warmup.steps:
        made, steps = begin.next_step, job.warmup.steps
        raise InputError("commands.unfinished_warmup", where="previous", made=made, steps=steps)
    return _draw_on(job, dataset, begin, earlier)


def _draw_on(
    job: DrawJob, dataset: Dataset, begin: Checkpoint, earlier: EarlierData | None
) -> Stated[Segment]:
    """Draw in pieces, which show the progress, from the end of a warm-up or of a segment."""
    import jax

    from nlobayes import builder
    from nlobayes.inference import chain_arrays, chain_checks, sampling

    model, kernel, adaptation = builder.build_sampler(job, dataset, earlier)
    template = builder.sampling_template(model, adaptation, len(begin.chains))
    states, tuned = (
        chain_arrays.from_arrays(like, arrays, "previous")
        for like, arrays in zip(template, (begin.state, begin.tuned), strict=True)
    )
    first_draw = 0 if begin.adaptation else begin.next_step
    unit, label = job.thin or 1, f"draws of chains {list(begin.chains)}"
    draw_on = partial(
        sampling.draw,
        builder.chain_keys(job.seed, "draw", begin.chains),
        kernel,
        thin=unit,
        observe=builder.observer(model, dataset),
        completion=builder.complete_chains(model, job.seed, begin.chains),
    )

    def draw_piece(states: Any, first: int, kept: int) -> Any:
        return draw_on(states, tuned, first=first, kept=kept)

    step = jax.jit(draw_piece, static_argnames="kept")
    drawn = []
    for first, kept in pieces(job.draws // unit, unit, label):
        states, piece = step(states, first_draw + first * unit, kept=kept)
        drawn.append(jax.device_get(piece))
    draws = chain_arrays.join(drawn)
    noise = {name: value for name, value in draws.observed.items() if name != "f"}
    stats = {**chain_arrays.sample_stats(draws.info, draws.logdensity), **noise}
    chain_checks.check_alive(stats, begin.chains, label, moved_before=not begin.adaptation)
    end = Checkpoint(
        begin.chains, first_draw + job.draws, chain_arrays.to_arrays(states), begin.tuned, {}
    )
    variables = builder.name_variables(model, draws.kept)
    segment = Segment(first_draw, unit, variables, stats, draws.observed["f"], end)
    return Stated(segment, {"exact": kernel.exact})
