"""Adapt step size and mass matrix of one chain, then freeze them."""

from pathlib import Path
from typing import Annotated, Any

import typer

from nlobayes import provenance
from nlobayes.artifacts.contents import read_dataset, read_start, write_warmup
from nlobayes.study.jobs import WarmupJob, read_job
from nlobayes.verbs import runtime
from nlobayes.verbs.progress import pieces


def warmup(
    spec: Annotated[str, typer.Option(help="Job specification: JSON text or a file.")],
    dataset: Annotated[Path, typer.Option(help="Dataset of the posterior.")],
    start: Annotated[Path, typer.Option(help="MAP of the chain.")],
    out: Annotated[Path, typer.Option(help="Warm-up to write.")],
) -> None:
    """Warm up from the MAP and write the tuned state."""
    job = read_job(WarmupJob, spec)
    runtime.configure(job.model.precision)
    import jax
    import jax.numpy as jnp

    from nlobayes import build
    from nlobayes.inference import records
    from nlobayes.inference import warmup as adaptation

    begin = read_start(start)
    model = build.build_model(job.model, read_dataset(dataset))
    position = jnp.asarray(begin.position)
    build.check_finite(model, position, f"{start}: the start of chain {begin.chain}")
    kernel = build.build_kernel(job.kernel, model.logdensity_fn)
    key = build.chain_key(job.seed, "warmup", begin.chain)
    settings = job.warmup
    schedule = adaptation.plan(
        settings.steps,
        adaptation_share=settings.adaptation_share,
        mass_matrix=settings.mass_matrix,
    )

    @jax.jit
    def adapt(carry: Any, first: int, schedule: Any) -> Any:
        return adaptation.adapt(
            key,
            kernel,
            carry,
            first=first,
            schedule=schedule,
            target_acceptance=settings.target_acceptance,
        )

    carry = adaptation.start(kernel, position, initial_step_size=settings.initial_step_size)
    stats = []
    for first, count in pieces(settings.steps, 1, f"warm-up of chain {begin.chain}"):
        part = adaptation.Schedule(*(stage[first : first + count] for stage in schedule))
        carry, info, logdensity = adapt(carry, first, part)
        stats.append(records.sample_stats(info, logdensity))
    end = records.chain_state(begin.chain, 0, carry.state, adaptation.finish(carry))
    typer.echo(f"chain {begin.chain}: step size {float(end.step_size):.4g}, frozen", err=True)
    facts = {"device": runtime.device(), "exact": kernel.exact}
    record = provenance.record("warmup", job.model_dump(), **facts)
    write_warmup(out, records.join(stats), end, record)
