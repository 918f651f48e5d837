"""Adapt the kernel of a chain group, segment by segment; it is frozen before the first draw."""

from pathlib import Path
from typing import Annotated, Any

import typer

from nlobayes import provenance, runtime
from nlobayes.artifacts.chains import read_checkpoint, write_warmup
from nlobayes.artifacts.contents import read_dataset, read_map
from nlobayes.artifacts.seals import digests
from nlobayes.commands.shared.earlier import earlier_files, earlier_of
from nlobayes.errors import InputError
from nlobayes.study.jobs import WarmupJob, read_job
from nlobayes.types import Checkpoint
from nlobayes.watching.progress import pieces


def warmup(
    spec: Annotated[str, typer.Option(help="Job specification: JSON text or a file.")],
    dataset: Annotated[Path, typer.Option(help="Dataset of the posterior.")],
    out: Annotated[Path, typer.Option(help="Warm-up to write.")],
    start: Annotated[list[Path], typer.Option(help="MAP of a chain; once per chain.")] = [],  # noqa: B006
    previous: Annotated[Path | None, typer.Option(help="Warm-up to continue from.")] = None,
    chain_group: Annotated[int, typer.Option(help="Number of the group of chains.", min=0)] = 0,
    chain: Annotated[list[int], typer.Option(help="Number of a chain, if not its MAP's.")] = [],  # noqa: B006
) -> None:
    """Warm up from the MAPs, or continue from the segment before, and write the state."""
    if bool(start) == bool(previous):
        raise InputError("commands.start_or_previous", where="warmup")
    job = read_job(WarmupJob, spec)
    runtime.configure(job.model.precision, job.model.device, job.model.shards)
    runtime.choose_device(job.model.device, chain_group, job.model.shards)
    import jax

    from nlobayes import builder
    from nlobayes.inference import checks, records
    from nlobayes.inference.replicas import describe_ladder
    from nlobayes.inference.warmup import adapt

    data = read_dataset(dataset)
    model, kernel, adaptation = builder.build_sampler(job, data, earlier_of(job.model))
    if previous is None:
        starts = [read_map(path) for path in start]
        for path, one in zip(start, starts, strict=True):
            builder.check_finite(model, one.position, f"{path}: the MAP of chain {one.chain}")
        chains, first_step = tuple(chain or (one.chain for one in starts)), 0
        if len(set(chains)) < len(starts) or len(chains) > len(starts):
            raise InputError("commands.chains_without_maps", maps=len(starts), chains=[*chains])
        carry = adaptation.start(builder.begin_chains(model, [one.position for one in starts]))
    else:
        before = read_checkpoint(previous)
        chains, first_step = before.chains, before.next_step
        template = builder.warmup_template(model, adaptation, len(chains))
        carry = records.from_arrays(template, before.adaptation, str(previous))
        if first_step + job.warmup.steps_per_segment > job.warmup.steps:
            raise InputError(
                "commands.no_segment_left", where=previous, made=first_step, steps=job.warmup.steps
            )
    keys, label = builder.chain_keys(job.seed, "warmup", chains), f"warm-up of chains {[*chains]}"

    def adapt_segment(carry: Any, first: int, steps: int) -> Any:
        return adapt(keys, adaptation, carry, first=first, steps=steps)

    step, drawn = jax.jit(adapt_segment, static_argnames="steps"), []
    steps = job.warmup.steps_per_segment
    for first, count in pieces(steps, 1, label):
        carry, info, logdensity = step(carry, first_step + first, steps=count)
        drawn.append(records.sample_stats(info, logdensity))
    stats, (state, tuned) = records.join(drawn), adaptation.finish(carry)
    arrays = [records.to_arrays(tree) for tree in (state, tuned, carry)]
    end = Checkpoint(chains, first_step + steps, *arrays)
    checks.check_alive(stats, chains, label)
    checks.check_tuned(end.tuned, chains, label, begin=job.warmup.initial_step_size)
    typer.echo(checks.describe_tuned(end.tuned, chains), err=True)
    if "swap_acceptance" in stats:
        typer.echo(describe_ladder(stats["swap_acceptance"]), err=True)
    made = provenance.record(
        "warmup",
        job.model_dump(),
        digests([dataset, *([previous] if previous else start), *earlier_files(job.model)]),
        device=runtime.device(),
        precision=job.model.precision,
        exact=kernel.exact,
    )
    write_warmup(out, first_step, stats, end, made)
