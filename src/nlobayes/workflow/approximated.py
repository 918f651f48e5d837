"""Comparisons of the approximate runs of a grid with an exact run of the same model and seed."""

from __future__ import annotations

from collections.abc import Iterable

from nlobayes.study.jobs_of_runs import FidelityJob, TimedMethod
from nlobayes.study.run import RunSpec


def fidelity_jobs(runs: Iterable[RunSpec]) -> dict[str, FidelityJob]:
    """Make the jobs of `fidelity`, by the path of the model that the compared runs share.

    Approximations are compared with the run of the first exact method. A model without an exact run
    or without an approximation has no job. Chains that are not exact are in no comparison.
    """
    by_model: dict[str, list[RunSpec]] = {}
    for run in runs:
        by_model.setdefault(run.model_id, []).append(run)
    found = {model: _job(alike) for model, alike in by_model.items()}
    return {model: job for model, job in found.items() if job is not None}


def _job(runs: Iterable[RunSpec]) -> FidelityJob | None:
    held = list(runs)
    exact = [_timed(run) for run in held if run.method.exact]
    others = tuple(_timed(run) for run in held if run.method.approximate)
    if not (exact and others):
        return None
    return FidelityJob(exact=exact[0], approximations=others)


def _timed(run: RunSpec) -> TimedMethod:
    """Return a run with the timings of its jobs from MAPs to draws, as paths below `timings/`."""
    starts, stage = {*run.starts} if run.method.starts_at_maps else (), run.method.stage
    maps = [f"pretrain/{run.model_id}/{start}.tsv" for start in sorted(starts)]
    jobs = [f"{stage}/{run.run_id}.tsv"] if run.mcmc is None else _jobs_of_chains(run)
    return TimedMethod(run=run.run_id, timings=(*maps, *jobs))


def _jobs_of_chains(run: RunSpec) -> list[str]:
    assert run.mcmc is not None
    counts = {"warmup": run.mcmc.warmup.segments, "draw": run.mcmc.segments}
    return [
        f"{verb}/{run.run_id}/{chain_group}/{segment}.tsv"
        for verb, segments in counts.items()
        for chain_group in range(len(run.chain_groups))
        for segment in range(segments)
    ]
