"""Adapt the kernel of a chain group, segment by segment; it is frozen before the first draw."""

from typing import Any

import typer

from nlobayes.artifacts.contents import DatasetFile, StartFile
from nlobayes.artifacts.segments import Checkpoint, CheckpointFile, WarmupFile, WarmupSegment
from nlobayes.commands.stage import stage
from nlobayes.errors import InputError
from nlobayes.stage_files import Stated
from nlobayes.study.jobs import WarmupJob
from nlobayes.types import EarlierData, MAPEstimate
from nlobayes.watching.progress import pieces


@stage()
def warmup(
    job: WarmupJob,
    dataset: DatasetFile,
    earlier: EarlierData | None,
    start: list[StartFile] = [],  # noqa: B006
    previous: CheckpointFile | None = None,
    chain_group: int = 0,
    chain: list[int] = [],  # noqa: B006
) -> Stated[WarmupFile]:
    """Warm up from the MAPs, or continue from the segment before, and write the state.

    Parameters
    ----------
    dataset
        Dataset of the posterior.
    start
        MAP of a chain; once per chain.
    previous
        Warm-up to continue from.
    chain_group
        Number of the group of chains.
    chain
        Number of a chain, if not its MAP's.

    Returns
    -------
    out
        Warm-up to write.
    """
    if bool(start) == bool(previous):
        raise InputError("commands.start_or_previous", where="warmup")
    import jax

    from nlobayes import builder
    from nlobayes.inference import chain_arrays, chain_checks
    from nlobayes.inference.replicas import describe_ladder
    from nlobayes.inference.warmup import adapt

    sampler = builder.build_sampler(job, dataset, earlier)
    chains, carry = _begin(job, sampler, start, chain, previous)
    adaptation, first_step = sampler.adaptation, previous.next_step if previous else 0
    keys, label = builder.chain_keys(job.seed, "warmup", chains), f"warm-up of chains {[*chains]}"

    def adapt_segment(keys: Any, carry: Any, first: int, steps: int) -> Any:
        return adapt(keys, adaptation, carry, first=first, steps=steps)

    step, drawn = jax.jit(adapt_segment, static_argnames="steps"), []
    steps = job.warmup.steps_per_segment
    for first, count in pieces(steps, 1, label):
        carry, info, logdensity = step(keys, carry, first_step + first, steps=count)
        drawn.append(chain_arrays.sample_stats(info, logdensity))
    stats, (state, tuned) = chain_arrays.join(drawn), adaptation.finish(carry)
    arrays = [chain_arrays.to_arrays(tree) for tree in (state, tuned, carry)]
    end = Checkpoint(chains, first_step + steps, *arrays)
    chain_checks.check_alive(stats, chains, label)
    chain_checks.check_tuned(end.tuned, chains, label, begin=job.warmup.initial_step_size)
    typer.echo(chain_checks.describe_tuned(end.tuned, chains), err=True)
    if "swap_acceptance" in stats:
        typer.echo(describe_ladder(stats["swap_acceptance"]), err=True)
    return Stated(WarmupSegment(first_step, stats, end), {"exact": sampler.kernel.exact})


def _begin(
    job: WarmupJob,
    sampler: Any,
    starts: list[MAPEstimate],
    numbers: list[int],
    before: Checkpoint | None,
) -> tuple[tuple[int, ...], Any]:
    """Return the numbers of the chains, and the carry: that of the segment before, or at MAPs."""
    from nlobayes import builder
    from nlobayes.inference import chain_arrays

    model, adaptation = sampler.model, sampler.adaptation
    if before is not None:
        template = builder.warmup_template(model, adaptation, len(before.chains))
        carry = chain_arrays.from_arrays(template, before.adaptation, "previous")
        made, steps = before.next_step, job.warmup.steps
        if made + job.warmup.steps_per_segment > steps:
            raise InputError("commands.no_segment_left", where="previous", made=made, steps=steps)
        return before.chains, carry
    for place, one in enumerate(starts):
        where = f"start[{place}]: the MAP of chain {one.chain}"
        builder.check_finite(model, one.position, where)
    chains = tuple(numbers or (one.chain for one in starts))
    if len(set(chains)) < len(starts) or len(chains) > len(starts):
        raise InputError("commands.chains_without_maps", maps=len(starts), chains=[*chains])
    positions = builder.begin_chains(model, [one.position for one in starts])
    return chains, adaptation.start(positions)
